/*
 * Loops without order in their addresses or without addresses at all: independent random accesses
 * (many misses at once), arithmetic, branches that nobody can predict.
 */
#include "workload.h"

#include <errno.h>
#include <stdlib.h>

enum { LINE_WORDS = 8 };

struct lines {
	uint64_t *words;
	uint64_t mask; /* lines less one */
	uint64_t turn;
	uint64_t sum;
};

static int setup_lines(struct bench_run *run)
{
	struct lines *l = calloc(1, sizeof(*l));
	uint64_t count = bench_pow2_below(run->bytes / 64 + !(run->bytes / 64));

	if (!l)
		return -ENOMEM;
	run->bytes = count * 64;
	l->mask = count - 1;
	l->words = bench_map(run->bytes, run->huge, &run->huge_got);
	if (!l->words) {
		free(l);
		return -ENOMEM;
	}
	run->state = l;
	return 0;
}

enum access { READ, UPDATE, STORE };

/* A hash of the turn: no address waits for the one before, so that little but memory takes time. */
BENCH_INLINE uint64_t line_of(uint64_t turn, uint64_t mask)
{
	turn *= 0x9e3779b97f4a7c15u;
	turn = (turn ^ turn >> 32) * 0xd6e8feb86659fd93u;
	return turn >> 24 & mask;
}

BENCH_INLINE void touch(struct bench_run *run, uint64_t steps, enum access access)
{
	struct lines *l = run->state;
	uint64_t *words = l->words, mask = l->mask, turn = l->turn, sum = l->sum;

	for (uint64_t end = turn + steps; turn != end; turn++) {
		volatile uint64_t *word = &words[line_of(turn, mask) * LINE_WORDS];

		if (access == READ)
			sum += *word;
		else if (access == UPDATE)
			++*word;
		else
			*word = turn + 1;
	}
	l->turn = turn;
	l->sum = sum;
}

static BENCH_NOINLINE void run_reads(struct bench_run *run, uint64_t steps)
{
	touch(run, steps, READ);
}

static BENCH_NOINLINE void run_updates(struct bench_run *run, uint64_t steps)
{
	touch(run, steps, UPDATE);
}

static BENCH_NOINLINE void run_stores(struct bench_run *run, uint64_t steps)
{
	touch(run, steps, STORE);
}

static int check_reads(struct bench_run *run)
{
	const struct lines *l = run->state;

	return l->turn == run->steps && l->sum == 0 ? 0 : -EBADMSG;
}

/* Takes every update back: nothing may be left. */
static int check_updates(struct bench_run *run)
{
	struct lines *l = run->state;
	uint64_t left = 0;

	for (uint64_t turn = 0; turn < run->steps; turn++)
		l->words[line_of(turn, l->mask) * LINE_WORDS]--;
	for (uint64_t i = 0; i <= l->mask; i++)
		left |= l->words[i * LINE_WORDS];
	return left == 0 ? 0 : -EBADMSG;
}

/* Each line holds the last turn that stored to it: going back, the first that is met. */
static int check_stores(struct bench_run *run)
{
	struct lines *l = run->state;
	uint64_t left = 0;

	for (uint64_t turn = run->steps; turn-- > 0;) {
		uint64_t *word = &l->words[line_of(turn, l->mask) * LINE_WORDS];

		if (word[1] == 0 && word[0] != turn + 1)
			return -EBADMSG;
		word[0] = 0;
		word[1] = 1; /* met */
	}
	for (uint64_t i = 0; i <= l->mask; i++)
		left |= l->words[i * LINE_WORDS];
	return left == 0 ? 0 : -EBADMSG;
}

struct numbers {
	uint64_t x, taken;
	double real;
};

static int setup_numbers(struct bench_run *run)
{
	struct numbers *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->x = 1;
	n->real = 1.0;
	run->bytes = 0;
	run->state = n;
	return 0;
}

BENCH_INLINE uint64_t xorshift(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

static BENCH_NOINLINE void run_integer(struct bench_run *run, uint64_t steps)
{
	struct numbers *n = run->state;
	uint64_t x = n->x;

	for (; steps > 0; steps--)
		x = xorshift(x);
	n->x = x;
}

static BENCH_NOINLINE void run_real(struct bench_run *run, uint64_t steps)
{
	struct numbers *n = run->state;
	double x = n->real;

	for (; steps > 0; steps--)
		x = x * 0.75 + 0.5;
	n->real = x;
}

static BENCH_NOINLINE void run_branches(struct bench_run *run, uint64_t steps)
{
	struct numbers *n = run->state;
	uint64_t x = n->x, taken = n->taken;

	for (; steps > 0; steps--) {
		x = xorshift(x);
		if (x & 0x10000) {
			/* keeps the compiler from making a conditional move of it */
			__asm__ volatile("incq %0" : "+r"(taken));
		}
	}
	n->x = x;
	n->taken = taken;
}

static int check_numbers(struct bench_run *run)
{
	struct numbers *n = run->state;
	uint64_t x = 1, taken = 0;
	bool branches = run->kernel->run == run_branches;

	for (uint64_t i = 0; i < run->steps; i++) {
		x = xorshift(x);
		taken += x >> 16 & 1;
	}
	return x == n->x && (!branches || taken == n->taken) ? 0 : -EBADMSG;
}

/* x = 3/4 x + 1/2 goes from 1 to 2 and stays there. */
static int check_real(struct bench_run *run)
{
	struct numbers *n = run->state;

	return n->real > 1.0 && n->real <= 2.0 && (run->steps < 500 || n->real > 1.999) ? 0
											: -EBADMSG;
}

#define RANDOM(name_, dirty_, run_, check_, what_)                                                 \
	{                                                                                          \
		.name = name_, .what = what_, .stall_origin = BENCH_RESIDENT, .dirty = dirty_,     \
		.fit = BENCH_FIT_8_LLC, .percent = (dirty_)*100, .setup = setup_lines,             \
		.run = run_, .check = check_                                                       \
	}
#define NUMBERS(name_, run_, check_, what_)                                                        \
	{                                                                                          \
		.name = name_, .what = what_, .stall = 0, .dirty_origin = BENCH_NONE,              \
		.fit = BENCH_FIT_L1, .setup = setup_numbers, .run = run_, .check = check_          \
	}

const struct bench_kernel bench_random_kernels[] = {
	RANDOM("random-read", 0, run_reads, check_reads, "independent random reads"),
	RANDOM("random-update", 1, run_updates, check_updates, "independent random updates"),
	RANDOM("random-store", 1, run_stores, check_stores, "independent random blind stores"),
	NUMBERS("arith", run_integer, check_numbers, "integer arithmetic in registers"),
	NUMBERS("arith-fp", run_real, check_real, "floating-point arithmetic in registers"),
	NUMBERS("branches", run_branches, check_numbers, "a branch that cannot be predicted"),
	{.name = NULL},
};
