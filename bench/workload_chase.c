/*
 * Pointer chases: nodes of one line (or two) in one random cycle (or several), so that each step
 * waits for the step before and no prefetcher knows the next address.
 *
 * Which nodes are written is told by a flag inside the node's own line and is exact: of n nodes
 * round(n * percent / 100) have it, in random places.
 */
#include "workload.h"

#include <errno.h>
#include <stdlib.h>

struct node {
	struct node *next;
	uint64_t value, flag;
	uint64_t pad[5];
};

enum { CHAINS_MAX = 8, PENDING_MAX = 256 };

struct chase {
	_Alignas(64) struct node dummy; /* takes the stores of steps that write nothing */
	struct node *nodes;
	size_t count;   /* nodes of one chain */
	unsigned lines; /* of one node */
	unsigned chains;
	struct node *at[CHAINS_MAX];
	struct node *pending[PENDING_MAX];
	uint64_t turn, product;
	struct bench_shuffle order, choice;
};

/* How a step treats its node. */
enum write_how {
	WRITE_NEVER,
	WRITE_ALWAYS,      /* after the link was read */
	WRITE_FIRST,       /* a blind store before the link is read, as wbbench does */
	WRITE_BRANCH,      /* if the flag says so: a branch that waits for the line */
	WRITE_SELECT,      /* the same without a branch */
	WRITE_SECOND,      /* a blind store to the node's second line */
	WRITE_SECOND_READ, /* the second line is read, the next step waits for it, then written */
};

static struct node *node_at(const struct chase *c, unsigned chain, uint64_t index)
{
	return c->nodes + (chain * c->count + index) * c->lines;
}

static void fill_chain(struct chase *c, unsigned chain, uint64_t flagged)
{
	for (uint64_t i = 0; i < c->count; i++) {
		uint64_t rank = bench_unshuffle(&c->order, i);
		uint64_t next = bench_shuffle(&c->order, (rank + 1) & (c->count - 1));
		struct node *node = node_at(c, chain, i);

		node->next = node_at(c, chain, next);
		node->flag = bench_shuffle(&c->choice, i) < flagged;
	}
	c->at[chain] = node_at(c, chain, bench_shuffle(&c->order, 0));
}

static int make_chase(struct bench_run *run, unsigned chains, unsigned lines)
{
	struct chase *c = aligned_alloc(64, sizeof(*c));
	size_t node_bytes = lines * sizeof(struct node);

	if (!c)
		return -ENOMEM;
	*c = (struct chase){.lines = lines, .chains = chains, .product = 1};
	if (run->bytes < chains * node_bytes * 2)
		run->bytes = chains * node_bytes * 2;
	c->count = bench_pow2_below(run->bytes / node_bytes / chains);
	run->bytes = c->count * chains * node_bytes;
	c->nodes = bench_map(run->bytes, run->huge, &run->huge_got);
	if (!c->nodes) {
		free(c);
		return -ENOMEM;
	}
	bench_shuffle_init(&c->order, c->count, 1);
	bench_shuffle_init(&c->choice, c->count, 2);
	for (unsigned i = 0; i < chains; i++)
		fill_chain(c, i, (c->count * run->kernel->percent + 50) / 100);
	for (unsigned i = 0; i < PENDING_MAX; i++)
		c->pending[i] = &c->dummy;
	run->state = c;
	return 0;
}

int bench_chase_setup(struct bench_run *run)
{
	return make_chase(run, 1, 1);
}
static int setup_two_lines(struct bench_run *run)
{
	return make_chase(run, 1, 2);
}
static int setup_chains(struct bench_run *run)
{
	return make_chase(run, run->kernel->param, 1);
}

/* Zero that the processor cannot know before x. */
BENCH_INLINE uint64_t zero_after(uint64_t x)
{
	__asm__ volatile("andq $0, %0" : "+r"(x));
	return x;
}

BENCH_INLINE uint64_t *select_word(uint64_t flag, uint64_t *word, uint64_t *other)
{
	__asm__("testq %2, %2\n\tcmovzq %1, %0" : "+r"(word) : "r"(other), "r"(flag) : "cc");
	return word;
}

BENCH_INLINE struct node *visit(struct chase *c, struct node *p, enum write_how how, uint64_t turn)
{
	struct node *next;

	if (how == WRITE_FIRST)
		*(volatile uint64_t *)&p->value = turn;
	next = *(struct node *volatile *)&p->next;
	if (how == WRITE_ALWAYS || (how == WRITE_BRANCH && p->flag))
		p->value++;
	if (how == WRITE_SELECT)
		(*select_word(p->flag, &p->value, &c->dummy.value))++;
	if (how == WRITE_SECOND)
		p[1].value = turn;
	if (how == WRITE_SECOND_READ) {
		uint64_t seen = p[1].value;

		p[1].value = seen + 1;
		next = (struct node *)((char *)next + zero_after(seen));
	}
	return next;
}

BENCH_INLINE void walk(struct bench_run *run, uint64_t steps, enum write_how how)
{
	struct chase *c = run->state;
	struct node *p = c->at[0];
	uint64_t turn = run->steps;

	for (uint64_t end = turn + steps; turn != end;)
		p = visit(c, p, how, ++turn);
	c->at[0] = p;
}

BENCH_NOINLINE void bench_chase_run_read(struct bench_run *run, uint64_t steps)
{
	walk(run, steps, WRITE_NEVER);
}

BENCH_NOINLINE void bench_chase_run_write(struct bench_run *run, uint64_t steps)
{
	walk(run, steps, WRITE_ALWAYS);
}

#define WALK(name, how)                                                                            \
	static BENCH_NOINLINE void name(struct bench_run *run, uint64_t steps)                     \
	{                                                                                          \
		walk(run, steps, how);                                                             \
	}

WALK(run_write_first, WRITE_FIRST)
WALK(run_branch, WRITE_BRANCH)
WALK(run_select, WRITE_SELECT)
WALK(run_second, WRITE_SECOND)
WALK(run_second_read, WRITE_SECOND_READ)

/* n multiplications, each waiting for the one before; exactly as many instructions. */
#define MULTIPLY(x, n)                                                                             \
	__asm__ volatile(".rept " #n "\n\timulq %1, %0\n\t.endr"                                   \
			 : "+r"(x)                                                                 \
			 : "r"((uint64_t)5)                                                        \
			 : "cc")

/*
 * A step and n multiplications. Beside: their chain goes on from node to node and the links do not
 * wait for it, so that the longer of the two hides the other. Before: the next link waits for them.
 */
#define WALK_MULTIPLY(name, n, how, before)                                                        \
	static BENCH_NOINLINE void name(struct bench_run *run, uint64_t steps)                     \
	{                                                                                          \
		struct chase *c = run->state;                                                      \
		struct node *p = c->at[0];                                                         \
		uint64_t x = c->product;                                                           \
		for (; steps > 0; steps--) {                                                       \
			struct node *next;                                                         \
			x += p->flag;                                                              \
			next = visit(c, p, how, 0);                                                \
			MULTIPLY(x, n);                                                            \
			p = before ? (struct node *)((char *)next + zero_after(x)) : next;         \
		}                                                                                  \
		c->at[0] = p;                                                                      \
		c->product = x;                                                                    \
	}

WALK_MULTIPLY(run_mul10, 10, WRITE_NEVER, false)
WALK_MULTIPLY(run_mul100, 100, WRITE_NEVER, false)
WALK_MULTIPLY(run_mul400, 400, WRITE_NEVER, false)
WALK_MULTIPLY(run_mul10_w, 10, WRITE_ALWAYS, false)
WALK_MULTIPLY(run_mul100_w, 100, WRITE_ALWAYS, false)
WALK_MULTIPLY(run_mul400_w, 400, WRITE_ALWAYS, false)
WALK_MULTIPLY(run_serial10, 10, WRITE_NEVER, true)
WALK_MULTIPLY(run_serial100, 100, WRITE_NEVER, true)
WALK_MULTIPLY(run_serial400, 400, WRITE_NEVER, true)
WALK_MULTIPLY(run_serial100_w, 100, WRITE_ALWAYS, true)

/* The chains stand in registers: written out, as a loop over an array would go through memory. */
#define VISIT2(i, how) (p##i = visit(c, p##i, how, 0))

BENCH_INLINE void walk2(struct bench_run *run, uint64_t steps, enum write_how how)
{
	struct chase *c = run->state;
	struct node *p0 = c->at[0], *p1 = c->at[1];

	for (; steps > 0; steps--) {
		VISIT2(0, how);
		VISIT2(1, how);
	}
	c->at[0] = p0;
	c->at[1] = p1;
}

BENCH_INLINE void walk4(struct bench_run *run, uint64_t steps, enum write_how how)
{
	struct chase *c = run->state;
	struct node *p0 = c->at[0], *p1 = c->at[1], *p2 = c->at[2], *p3 = c->at[3];

	for (; steps > 0; steps--) {
		VISIT2(0, how);
		VISIT2(1, how);
		VISIT2(2, how);
		VISIT2(3, how);
	}
	c->at[0] = p0;
	c->at[1] = p1;
	c->at[2] = p2;
	c->at[3] = p3;
}

BENCH_INLINE void walk8(struct bench_run *run, uint64_t steps, enum write_how how)
{
	struct chase *c = run->state;
	struct node *p0 = c->at[0], *p1 = c->at[1], *p2 = c->at[2], *p3 = c->at[3];
	struct node *p4 = c->at[4], *p5 = c->at[5], *p6 = c->at[6], *p7 = c->at[7];

	for (; steps > 0; steps--) {
		VISIT2(0, how);
		VISIT2(1, how);
		VISIT2(2, how);
		VISIT2(3, how);
		VISIT2(4, how);
		VISIT2(5, how);
		VISIT2(6, how);
		VISIT2(7, how);
	}
	c->at[0] = p0;
	c->at[1] = p1;
	c->at[2] = p2;
	c->at[3] = p3;
	c->at[4] = p4;
	c->at[5] = p5;
	c->at[6] = p6;
	c->at[7] = p7;
}

#define WALK_CHAINS(name, walker, how)                                                             \
	static BENCH_NOINLINE void name(struct bench_run *run, uint64_t steps)                     \
	{                                                                                          \
		walker(run, steps, how);                                                           \
	}

WALK_CHAINS(run_chains2, walk2, WRITE_NEVER)
WALK_CHAINS(run_chains4, walk4, WRITE_NEVER)
WALK_CHAINS(run_chains8, walk8, WRITE_NEVER)
WALK_CHAINS(run_chains4_w, walk4, WRITE_ALWAYS)
WALK_CHAINS(run_chains4_half, walk4, WRITE_SELECT)

/* 64 additions in four chains: work that keeps the core busy for some 16 cycles. */
#define ADDITIONS(a, b, c, d)                                                                      \
	__asm__ volatile(".rept 16\n\tincq %0\n\tincq %1\n\tincq %2\n\tincq %3\n\t.endr"           \
			 : "+r"(a), "+r"(b), "+r"(c), "+r"(d)                                      \
			 :                                                                         \
			 : "cc")

/*
 * The node is read now and written `distance` steps, each of some 80 instructions, later: its line
 * waits in the first-level cache, its address in a ring.
 */
BENCH_INLINE void walk_far(struct bench_run *run, uint64_t steps, unsigned distance)
{
	struct chase *c = run->state;
	struct node *p = c->at[0];
	uint64_t turn = c->turn, x0 = 0, x1 = 1, x2 = 2, x3 = 3;

	for (; steps > 0; steps--) {
		struct node **slot = &c->pending[turn++ & (distance - 1)], *old = *slot;

		*slot = p;
		p = *(struct node *volatile *)&p->next;
		(*select_word(old->flag, &old->value, &c->dummy.value))++;
		ADDITIONS(x0, x1, x2, x3);
	}
	c->at[0] = p;
	c->turn = turn;
	c->product += x0 + x1 + x2 + x3;
}

#define WALK_FAR(name, distance)                                                                   \
	static BENCH_NOINLINE void name(struct bench_run *run, uint64_t steps)                     \
	{                                                                                          \
		walk_far(run, steps, distance);                                                    \
	}

WALK_FAR(run_far16, 16)
WALK_FAR(run_far64, 64)
WALK_FAR(run_far256, 256)

uint64_t bench_chase_sum(const struct bench_run *run)
{
	const struct chase *c = run->state;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < c->count; i++)
		sum += c->nodes[i].value;
	return sum;
}

static void flush_pending(struct chase *c)
{
	for (unsigned i = 0; i < PENDING_MAX; i++) {
		if (c->pending[i]->flag)
			c->pending[i]->value++;
		c->pending[i] = &c->dummy;
	}
}

/* Is the chain one cycle through all its nodes, with the right number of flags? */
static bool is_cycle(const struct chase *c, unsigned chain, uint64_t flagged)
{
	unsigned char *seen = calloc(c->count, 1);
	const struct node *p = node_at(c, chain, 0);
	uint64_t flags = 0, visited = 0;

	for (; seen && visited < c->count; visited++, p = p->next) {
		size_t i = (size_t)(p - node_at(c, chain, 0)) / c->lines;

		if (i >= c->count || seen[i]++)
			break;
		flags += p->flag;
	}
	free(seen);
	return visited == c->count && p == node_at(c, chain, 0) && flags == flagged;
}

/* What a node that was visited `visits` times, the last time at step `last`, should hold. */
static uint64_t expected(bool counts, bool written, uint64_t visits, uint64_t last)
{
	if (!written || visits == 0)
		return 0;
	return counts ? visits : last;
}

static int check_nodes(struct bench_run *run, unsigned word_line, bool counts)
{
	struct chase *c = run->state;
	uint64_t laps = run->steps / c->count, rest = run->steps % c->count;
	uint64_t flagged = (c->count * run->kernel->percent + 50) / 100;

	flush_pending(c);
	for (unsigned chain = 0; chain < c->chains; chain++) {
		if (!is_cycle(c, chain, flagged))
			return -EBADMSG;
		if (c->at[chain] != node_at(c, chain, bench_shuffle(&c->order, rest)))
			return -EBADMSG;
		for (uint64_t rank = 0; rank < c->count; rank++) {
			const struct node *p = node_at(c, chain, bench_shuffle(&c->order, rank));
			uint64_t visits = laps + (rank < rest);
			uint64_t last = (visits - 1) * c->count + rank + 1;

			if (p[word_line].value != expected(counts, p->flag, visits, last))
				return -EBADMSG;
		}
	}
	return 0;
}

static int check_counts(struct bench_run *run)
{
	return check_nodes(run, 0, true);
}
static int check_stores(struct bench_run *run)
{
	return check_nodes(run, 0, false);
}
static int check_second_counts(struct bench_run *run)
{
	return check_nodes(run, 1, true);
}
static int check_second_stores(struct bench_run *run)
{
	return check_nodes(run, 1, false);
}

#define CHASE(name_, percent_, run_, what_)                                                        \
	{                                                                                          \
		.name = name_, .what = what_, .stall_origin = BENCH_RESIDENT,                      \
		.dirty = (percent_) / 100.0, .fit = BENCH_FIT_4_LLC, .percent = percent_,          \
		.setup = bench_chase_setup, .run = run_, .check = check_counts                     \
	}
#define CHAINS(name_, percent_, chains_, run_, what_)                                              \
	{                                                                                          \
		.name = name_, .what = what_, .stall_origin = BENCH_RESIDENT,                      \
		.dirty = (percent_) / 100.0, .fit = BENCH_FIT_4_LLC, .percent = percent_,          \
		.param = chains_, .setup = setup_chains, .run = run_, .check = check_counts        \
	}
#define TWO_LINES(name_, run_, check_, what_)                                                      \
	{                                                                                          \
		.name = name_, .what = what_, .stall_origin = BENCH_RESIDENT, .dirty = 0.5,        \
		.fit = BENCH_FIT_4_LLC, .percent = 100, .setup = setup_two_lines, .run = run_,     \
		.check = check_                                                                    \
	}
#define IN_CACHE(name_, fit_, what_)                                                               \
	{                                                                                          \
		.name = name_, .what = what_, .stall = 0, .dirty_origin = BENCH_NONE, .fit = fit_, \
		.setup = bench_chase_setup, .run = bench_chase_run_read, .check = check_counts     \
	}

const struct bench_kernel bench_chase_kernels[] = {
	CHASE("chase-w0", 0, bench_chase_run_read, "chase, reads only"),
	CHASE("chase-w10", 10, run_branch, "chase, 10 % of the nodes written, decided by a branch"),
	CHASE("chase-w30", 30, run_branch, "chase, 30 % of the nodes written, decided by a branch"),
	CHASE("chase-w50", 50, run_branch, "chase, 50 % of the nodes written, decided by a branch"),
	CHASE("chase-w70", 70, run_branch, "chase, 70 % of the nodes written, decided by a branch"),
	CHASE("chase-w100", 100, bench_chase_run_write,
	      "chase, every node written after its link is read"),
	CHASE("chase-w30-select", 30, run_select, "chase, 30 % written, without a branch"),
	CHASE("chase-w50-select", 50, run_select, "chase, 50 % written, without a branch"),
	{.name = "chase-store-first",
	 .what = "chase, each node stored to before its link is read (wbbench)",
	 .stall_origin = BENCH_RESIDENT,
	 .dirty = 1,
	 .fit = BENCH_FIT_4_LLC,
	 .percent = 100,
	 .setup = bench_chase_setup,
	 .run = run_write_first,
	 .check = check_stores},
	TWO_LINES("lines2-store", run_second, check_second_stores,
		  "nodes of two lines: link read in the first, blind store to the second, which "
		  "stalls nothing; half of the missing lines get dirty"),
	TWO_LINES("lines2-update", run_second_read, check_second_counts,
		  "nodes of two lines: link read in the first, the second read and written; the "
		  "next step waits for both; half of the missing lines get dirty"),
	CHASE("mul10", 0, run_mul10, "chase beside 10 dependent multiplications a node"),
	CHASE("mul100", 0, run_mul100, "chase beside 100 dependent multiplications a node"),
	CHASE("mul400", 0, run_mul400, "chase beside 400 dependent multiplications a node"),
	CHASE("mul10-w", 100, run_mul10_w, "mul10, every node written"),
	CHASE("mul100-w", 100, run_mul100_w, "mul100, every node written"),
	CHASE("mul400-w", 100, run_mul400_w, "mul400, every node written"),
	CHASE("serial10", 0, run_serial10, "chase whose next link waits for 10 multiplications"),
	CHASE("serial100", 0, run_serial100, "chase whose next link waits for 100 multiplications"),
	CHASE("serial400", 0, run_serial400, "chase whose next link waits for 400 multiplications"),
	CHASE("serial100-w", 100, run_serial100_w, "serial100, every node written"),
	CHAINS("chains2", 0, 2, run_chains2, "2 chases at once"),
	CHAINS("chains4", 0, 4, run_chains4, "4 chases at once"),
	CHAINS("chains8", 0, 8, run_chains8, "8 chases at once"),
	CHAINS("chains4-w50", 50, 4, run_chains4_half, "4 chases at once, half the nodes written"),
	CHAINS("chains4-w100", 100, 4, run_chains4_w, "4 chases at once, every node written"),
	CHASE("far1k", 100, run_far16, "chase, each node written some 1,300 instructions later"),
	CHASE("far5k", 100, run_far64, "chase, each node written some 5,000 instructions later"),
	CHASE("far20k", 100, run_far256, "chase, each node written some 20,000 instructions later"),
	CHASE("far5k-w50", 50, run_far64, "far5k, half the nodes written"),
	IN_CACHE("fit-l1", BENCH_FIT_L1, "chase that fits the first-level cache"),
	IN_CACHE("fit-l2", BENCH_FIT_L2, "chase that fits the second-level cache"),
	{.name = "fit-llc",
	 .what = "chase that fits the last-level cache, if others leave it",
	 .stall_origin = BENCH_LATENCY,
	 .dirty = 0,
	 .fit = BENCH_FIT_LLC,
	 .setup = bench_chase_setup,
	 .run = bench_chase_run_read,
	 .check = check_counts},
	{.name = NULL},
};
