/*
 * What programs really do: a chained hash table and a search tree whose nodes come from malloc.
 *
 * Resident means here: the same structure, but only a few of its keys are looked up, so that a
 * look-up takes as many instructions as ever and finds everything in the first-level cache.
 */
#include "workload.h"

#include <errno.h>
#include <stdlib.h>

enum { RESIDENT_KEYS = 16, RESIDENT_ENTRIES = 256 };

/* malloc(48) takes 64 bytes; started at the right place, each node lies in one line. */
struct entry {
	struct entry *next;
	uint64_t key, value, flag;
	uint64_t pad[2];
};

struct branch {
	struct branch *child[2];
	uint64_t key, value, flag;
	uint64_t pad;
};

struct lookups {
	uint64_t random, dummy;
	uint64_t keys;          /* a power of two */
	uint64_t drawn, stride; /* keys that are looked up: drawn of them, stride apart */
	uint64_t flagged;       /* nodes whose look-up writes them */
	struct bench_shuffle choice;
	/* hash table */
	struct entry **buckets;
	uint64_t bucket_mask;
	/* tree */
	struct branch *root;
	unsigned levels;
};

static struct lookups *make_lookups(const struct bench_run *run, uint64_t keys,
				    uint64_t resident_keys)
{
	struct lookups *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->random = 1;
	l->keys = keys;
	l->drawn = keys;
	if (run->keys)
		l->drawn = bench_pow2_below(run->keys);
	else if (run->resident)
		l->drawn = resident_keys;
	if (l->drawn > keys)
		l->drawn = keys;
	l->stride = keys / l->drawn;
	l->flagged = (keys * run->kernel->percent + 50) / 100;
	bench_shuffle_init(&l->choice, keys, 3);
	return l;
}

/* Leaves the heap so that chunks of 64 bytes, header included, lie in one line each. */
static void align_heap(void)
{
	for (int i = 0; i < 8; i++) {
		void *volatile p = malloc(40);

		if (((uintptr_t)p & 63) ==
		    32) /* the next one, 48 bytes on, begins 16 into a line */
			return;
	}
}

static bool is_flagged(const struct lookups *l, uint64_t i)
{
	return bench_shuffle(&l->choice, i) < l->flagged;
}

BENCH_INLINE uint64_t hash(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15u;
	return key ^ key >> 32;
}

BENCH_INLINE uint64_t draw(const struct lookups *l, uint64_t x)
{
	return (x >> 24 & (l->drawn - 1)) * l->stride;
}

static int setup_hash(struct bench_run *run)
{
	/* a key costs 64 bytes of node and four buckets */
	struct lookups *l =
		make_lookups(run, bench_pow2_below(run->bytes / 96 | 16), RESIDENT_ENTRIES);
	struct entry *e = NULL;

	if (!l)
		return -ENOMEM;
	run->state = l;
	run->bytes = l->keys * 96;
	l->bucket_mask = l->keys * 4 - 1;
	l->buckets = bench_calloc(l->keys * 4, sizeof(*l->buckets), run->huge);
	if (!l->buckets || bench_grow_heap(l->keys * 64, run->huge))
		return -ENOMEM;
	align_heap();
	for (uint64_t key = 0; key < l->keys; key++) {
		struct entry **bucket = &l->buckets[hash(key) & l->bucket_mask];

		e = malloc(sizeof(*e));
		if (!e)
			return -ENOMEM;
		*e = (struct entry){.next = *bucket, .key = key, .flag = is_flagged(l, key)};
		*bucket = e;
	}
	run->huge_got = run->huge && bench_is_huge(e);
	return 0;
}

BENCH_INLINE void look_up(struct bench_run *run, uint64_t steps, bool write)
{
	struct lookups *l = run->state;
	uint64_t x = l->random, found = 0;

	for (; steps > 0; steps--, x = BENCH_LCG(x)) {
		uint64_t key = draw(l, x);
		struct entry *e = l->buckets[hash(key) & l->bucket_mask];

		while (e && e->key != key)
			e = e->next;
		if (!e)
			continue;
		found += e->flag;
		if (write && e->flag)
			e->value++;
	}
	l->random = x;
	run->checksum += found;
}

static BENCH_NOINLINE void run_hash_read(struct bench_run *run, uint64_t steps)
{
	look_up(run, steps, false);
}

static BENCH_NOINLINE void run_hash_write(struct bench_run *run, uint64_t steps)
{
	look_up(run, steps, true);
}

static int check_hash(struct bench_run *run)
{
	struct lookups *l = run->state;
	uint64_t x = 1, expected = 0, sum = 0, entries = 0;

	for (uint64_t i = 0; i < run->steps; i++, x = BENCH_LCG(x))
		expected += is_flagged(l, draw(l, x));
	for (uint64_t i = 0; i <= l->bucket_mask; i++) {
		for (const struct entry *e = l->buckets[i]; e; e = e->next, entries++)
			sum += e->value;
	}
	if (entries != l->keys || run->checksum != expected)
		return -EBADMSG;
	return sum == (run->kernel->run == run_hash_write ? expected : 0) ? 0 : -EBADMSG;
}

/*
 * A perfect tree of 2^levels - 1 nodes with odd keys; even keys are looked for, so that each search
 * goes down all levels. Nodes are numbered as in a heap: 1 the root, 2 i and 2 i + 1 the children.
 */
static uint64_t tree_key(unsigned levels, uint64_t i)
{
	unsigned level = 63 - (unsigned)__builtin_clzll(i);
	uint64_t rank = (2 * (i - (1ull << level)) + 1) << (levels - 1 - level);

	return 2 * rank - 1;
}

static int link_tree(struct lookups *l, struct branch **nodes)
{
	struct bench_shuffle place;

	bench_shuffle_init(&place, l->keys, 4);
	for (uint64_t i = 0; i < l->keys; i++) {
		nodes[i] = malloc(sizeof(**nodes));
		if (!nodes[i])
			return -ENOMEM;
	}
	/* in the order of addresses: nodes are not waited for */
	for (uint64_t at = 0; at < l->keys; at++) {
		uint64_t i = bench_unshuffle(&place, at);
		bool leaf = 2 * i >= l->keys;

		if (i == 0)
			continue;
		*nodes[at] = (struct branch){
			.child[0] = leaf ? NULL : nodes[bench_shuffle(&place, 2 * i)],
			.child[1] = leaf ? NULL : nodes[bench_shuffle(&place, 2 * i + 1)],
			.key = tree_key(l->levels, i),
			.flag = is_flagged(l, i),
		};
	}
	l->root = nodes[bench_shuffle(&place, 1)];
	return 0;
}

static int setup_tree(struct bench_run *run)
{
	struct lookups *l =
		make_lookups(run, bench_pow2_below(run->bytes / 64 | 16), RESIDENT_KEYS);
	struct branch **nodes;
	int err;

	if (!l)
		return -ENOMEM;
	run->state = l;
	run->bytes = l->keys * 64;
	l->levels = (unsigned)__builtin_ctzll(l->keys);
	nodes = malloc(l->keys * sizeof(*nodes));
	if (!nodes || bench_grow_heap(l->keys * 64, run->huge))
		return -ENOMEM;
	align_heap();
	err = link_tree(l, nodes);
	free(nodes);
	run->huge_got = run->huge && bench_is_huge(l->root);
	return err;
}

enum tree_write { TREE_NONE, TREE_PATH, TREE_LEAF };

BENCH_INLINE void search(struct bench_run *run, uint64_t steps, enum tree_write write)
{
	struct lookups *l = run->state;
	uint64_t x = l->random, leaves = 0;

	for (; steps > 0; steps--, x = BENCH_LCG(x)) {
		uint64_t key = draw(l, x) * 2;
		struct branch *n = l->root, *last;

		do {
			last = n;
			n = n->child[key > n->key];
			if (write == TREE_PATH) {
				uint64_t *word = &last->value;

				__asm__("testq %2, %2\n\tcmovzq %1, %0"
					: "+r"(word)
					: "r"(&l->dummy), "r"(last->flag)
					: "cc");
				++*word;
			}
		} while (n);
		if (write == TREE_LEAF)
			last->value++;
		leaves += last->key;
	}
	l->random = x;
	run->checksum += leaves;
}

static BENCH_NOINLINE void run_tree_read(struct bench_run *run, uint64_t steps)
{
	search(run, steps, TREE_NONE);
}

static BENCH_NOINLINE void run_tree_path(struct bench_run *run, uint64_t steps)
{
	search(run, steps, TREE_PATH);
}

static BENCH_NOINLINE void run_tree_leaf(struct bench_run *run, uint64_t steps)
{
	search(run, steps, TREE_LEAF);
}

static void sum_tree(const struct branch *n, uint64_t *values, uint64_t *nodes)
{
	if (!n)
		return;
	*values += n->value;
	++*nodes;
	sum_tree(n->child[0], values, nodes);
	sum_tree(n->child[1], values, nodes);
}

/* Finds by number, not by key: the leaf's number are the gap's bits but the last. */
static int check_tree(struct bench_run *run)
{
	struct lookups *l = run->state;
	uint64_t x = 1, leaves = 0, on_path = 0, values = 0, nodes = 0, expected = 0;

	for (uint64_t i = 0; i < run->steps; i++, x = BENCH_LCG(x)) {
		uint64_t leaf = (draw(l, x) | l->keys) >> 1;

		leaves += tree_key(l->levels, leaf);
		for (uint64_t n = leaf; n > 0; n >>= 1)
			on_path += is_flagged(l, n);
	}
	sum_tree(l->root, &values, &nodes);
	if (run->kernel->run == run_tree_path)
		expected = on_path;
	if (run->kernel->run == run_tree_leaf)
		expected = run->steps;
	return nodes == l->keys - 1 && run->checksum == leaves && values == expected ? 0 : -EBADMSG;
}

enum { MALLOC_SLOTS = 1024 };

struct slots {
	uint64_t random;
	unsigned char *block[MALLOC_SLOTS];
};

static int setup_malloc(struct bench_run *run)
{
	struct slots *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->random = 1;
	run->bytes = MALLOC_SLOTS * 512;
	run->state = s;
	return 0;
}

static BENCH_NOINLINE void run_malloc(struct bench_run *run, uint64_t steps)
{
	struct slots *s = run->state;

	for (; steps > 0; steps--) {
		unsigned slot;

		s->random = BENCH_LCG(s->random);
		slot = s->random >> 50 & (MALLOC_SLOTS - 1);
		free(s->block[slot]);
		s->block[slot] = malloc((s->random >> 40 & 511) + 1);
		if (s->block[slot])
			s->block[slot][0] = (unsigned char)slot;
	}
}

static int check_malloc(struct bench_run *run)
{
	struct slots *s = run->state;

	for (unsigned i = 0; i < MALLOC_SLOTS; i++)
		if (s->block[i] && s->block[i][0] != (unsigned char)i)
			return -EBADMSG;
	return 0;
}

#define HASH(name_, percent_, run_, what_)                                                         \
	{                                                                                          \
		.name = name_, .what = what_, .stall_origin = BENCH_RESIDENT,                      \
		.dirty_origin = BENCH_CALLGRIND, .fit = BENCH_FIT_8_LLC, .percent = percent_,      \
		.setup = setup_hash, .run = run_, .check = check_hash, .keeps_size = true          \
	}
#define TREE(name_, percent_, run_, what_)                                                         \
	{                                                                                          \
		.name = name_, .what = what_, .stall_origin = BENCH_RESIDENT,                      \
		.dirty_origin = BENCH_CALLGRIND, .fit = BENCH_FIT_4_LLC, .percent = percent_,      \
		.setup = setup_tree, .run = run_, .check = check_tree, .keeps_size = true          \
	}

const struct bench_kernel bench_table_kernels[] = {
	HASH("hash-read", 0, run_hash_read, "hash table with malloc'ed nodes, looked up"),
	HASH("hash-update", 100, run_hash_write, "hash table, the entry found is updated"),
	HASH("hash-w30", 30, run_hash_write, "hash table, 30 % of the entries are updated"),
	TREE("tree-read", 0, run_tree_read, "binary tree with malloc'ed nodes, looked up"),
	TREE("tree-path", 100, run_tree_path, "binary tree, every node on the way is updated"),
	TREE("tree-w30", 30, run_tree_path,
	     "binary tree, 30 % of the nodes are updated on the way"),
	TREE("tree-leaf", 0, run_tree_leaf, "binary tree, the node found is updated"),
	{.name = "malloc",
	 .what = "malloc and free of 1 to 512 bytes, in the second-level cache",
	 .dirty_origin = BENCH_NONE,
	 .fit = BENCH_FIT_L2,
	 .setup = setup_malloc,
	 .run = run_malloc,
	 .check = check_malloc},
	{.name = NULL},
};
