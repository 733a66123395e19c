#include "count/calibrate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/file.h"
#include "count/ahead/probe.h"
#include "count/ahead/touch.h"
#include "count/run_ahead.h"

enum {
	HUGE_BYTES = 2 << 20,
	BUFFER_BYTES = 256 << 20,
	QUICK_BYTES = 128 << 20, /* what there is time for in a tenth of a second */
	QUICK_NS = 300000000,
	LIST_NODES = 16384, /* kept as a list for measurements off the chase */
	CHASE_STEPS = 192,  /* of one turn */
	TIMED_STEPS = 64,   /* of them, in turns, one as it is and one translated before */
	PROBE_STEPS = 16,
	TURNS_MAX = 32768,
	LLC_TURNS = 256,
	FENCE_READS = 4000,
};

struct node {
	struct node *next;
	uint64_t pad[7];
};

/* Mean readings of one turn, TSC ticks. */
struct turn {
	float chase, timed, translated, probe;
};

struct bench {
	char *map, *buffer;
	size_t map_bytes, bytes;  /* bytes: populated */
	struct node **node;       /* the first LIST_NODES in order of the chase */
	size_t nodes, list_bytes; /* nodes: in all */
	struct node *at;          /* where the chase stands */
	uint64_t deadline_ns;
	uint64_t outlier_ticks; /* a longer reading was interrupted */
	struct turn *turn;      /* TURNS_MAX of them */
	bool translates;
	uint32_t histogram[512]; /* of timed reads, in steps of four ticks */
};

static uint64_t now_ns(void)
{
	return nve_clock_ns(CLOCK_MONOTONIC_RAW);
}

/* Backs as much of the buffer with memory as fits the time: fresh memory may be slow to come by in
 * a virtual machine. */
static void populate(struct bench *b, size_t most, uint64_t until_ns)
{
	while (b->bytes < most && (b->bytes < HUGE_BYTES * 4 || now_ns() < until_ns)) {
		for (size_t i = 0; i < HUGE_BYTES; i += NVE_PAGE_BYTES)
			b->buffer[b->bytes + i] = 1;
		b->bytes += HUGE_BYTES;
	}
}

static int make(struct bench *b, uint64_t start_ns, uint64_t limit_ns)
{
	b->map_bytes = BUFFER_BYTES + HUGE_BYTES;
	b->map = mmap(NULL, b->map_bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->map == MAP_FAILED)
		return -errno;
	b->list_bytes = LIST_NODES * sizeof(*b->node) + TURNS_MAX * sizeof(*b->turn);
	b->node = mmap(NULL, b->list_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->node == MAP_FAILED) {
		munmap(b->map, b->map_bytes);
		return -errno;
	}
	b->turn = (struct turn *)(b->node + LIST_NODES);
	b->buffer = b->map + (HUGE_BYTES - (uintptr_t)b->map % HUGE_BYTES) % HUGE_BYTES;
	madvise(b->buffer, BUFFER_BYTES, MADV_HUGEPAGE);
	b->deadline_ns = start_ns + limit_ns * 90 / 100;
	populate(b, limit_ns < QUICK_NS ? QUICK_BYTES : BUFFER_BYTES,
		 start_ns + limit_ns * 40 / 100);
	return 0;
}

static void unmake(struct bench *b)
{
	munmap(b->node, b->list_bytes);
	munmap(b->map, b->map_bytes);
}

/* A permutation of 0 .. 2^bits - 1 without a pattern that a prefetcher follows. */
static uint64_t scatter(uint64_t i, unsigned bits)
{
	uint64_t mask = (1ull << bits) - 1;

	for (int round = 0; round < 3; round++) {
		i = (i * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u) & mask;
		i ^= i >> (bits / 2);
	}
	return i;
}

/* One cycle over all lines of the first bytes (a power of two) of the buffer, in scattered order,
 * then out of the caches: as in a program that walks more than the cache holds. */
static void link_nodes(struct bench *b, size_t bytes)
{
	struct node *all = (struct node *)b->buffer, *last, *node;
	unsigned bits = (unsigned)__builtin_ctzll(bytes / sizeof(*all));

	b->nodes = (size_t)1 << bits;
	last = &all[scatter(b->nodes - 1, bits)];
	for (size_t i = 0; i < b->nodes; i++) {
		node = &all[scatter(i, bits)];
		last->next = node;
		last = node;
		if (i < LIST_NODES)
			b->node[i] = node;
	}
	for (size_t i = 0; i < b->nodes; i++)
		_mm_clflush(&all[i]);
	_mm_mfence();
}

/* The largest power of two up to n. */
static size_t round_down(size_t n)
{
	return (size_t)1 << (63 - __builtin_clzll(n));
}

static struct node *chase(struct node *node, uint64_t steps, uint64_t *ticks)
{
	uint64_t start;

	_mm_lfence();
	start = nve_tsc();
	_mm_lfence();
	for (uint64_t i = 0; i < steps; i++)
		node = *(struct node *volatile *)&node->next;
	/* The last load must be complete: its value is compared before the clock is read. */
	__asm__ volatile("test %0, %0" : : "r"(node) : "cc");
	_mm_lfence();
	*ticks = nve_tsc() - start;
	return node;
}

struct sums {
	/* sums of means over turns */
	double chase_ticks, timed_ticks, translated_ticks, probe_ticks;
	uint64_t turns;
	uint32_t timed_low; /* a low quantile of the timed reads, for the threshold */
};

/* Mean of the turn's timed reads; 0 when all were interrupted. The histogram is of those as they
 * are. translated: NULL, or where the mean of the others goes. */
static struct node *timed_turn(struct bench *b, struct node *node, float *mean, float *translated)
{
	double sum[2] = {0};
	int n[2] = {0};

	for (int i = 0; i < TIMED_STEPS; i++) {
		int kind = translated ? i % 2 : 0;
		uint64_t t;

		if (kind)
			nve_touch_translate((uintptr_t)node);
		t = nve_touch_timed((uintptr_t)node);
		node = node->next;
		if (t > b->outlier_ticks)
			continue;
		sum[kind] += (double)t;
		n[kind]++;
		if (!kind)
			b->histogram[t / 4 < 512 ? t / 4 : 511]++;
	}
	*mean = n[0] ? (float)(sum[0] / n[0]) : 0;
	if (translated)
		*translated = n[1] ? (float)(sum[1] / n[1]) : 0;
	return node;
}

/* Quantile of the timed reads below a bound, TSC ticks. */
static uint32_t quantile(const struct bench *b, uint32_t percent, uint32_t below_ticks)
{
	uint64_t seen = 0, total = 0;
	uint32_t end = NVE_MIN(512u, below_ticks / 4), i = 0;

	for (uint32_t j = 0; j < end; j++)
		total += b->histogram[j];
	while (i + 1 < end && (seen += b->histogram[i]) * 100 < total * percent)
		i++;
	return i * 4 + 2;
}

static struct node *take_turn(struct bench *b, struct node *node, struct turn *turn)
{
	uint64_t ticks, probe_ticks = 0;
	uint32_t probes;

	node = chase(node, CHASE_STEPS, &ticks);
	node = timed_turn(b, node, &turn->timed, b->translates ? &turn->translated : NULL);
	probes = nve_probe_read(PROBE_STEPS, b->outlier_ticks, &probe_ticks);
	turn->chase = (float)ticks / CHASE_STEPS;
	turn->probe = probes ? (float)probe_ticks / (float)probes : 0;
	return node;
}

static int by_chase(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	return (x->chase > y->chase) - (x->chase < y->chase);
}

/* Sums over the turns without interruption: those near the median chase. A core that is taken away
 * for a moment makes one of the three readings of a turn useless beside the others. */
static void sum_turns(struct bench *b, size_t turns, struct sums *s)
{
	struct turn *turn = b->turn;
	float limit;

	if (!turns)
		return;
	qsort(turn, turns, sizeof(*turn), by_chase);
	limit = turn[turns / 2].chase * 1.5f;
	for (size_t i = 0; i < turns; i++) {
		const struct turn *t = &turn[i];

		if (t->chase > limit || t->timed > 2 * limit || t->probe > 2 * limit || !t->timed ||
		    !t->probe || (b->translates && !t->translated))
			continue;
		s->chase_ticks += t->chase;
		s->timed_ticks += t->timed;
		s->translated_ticks += t->translated;
		s->probe_ticks += t->probe;
		s->turns++;
	}
}

/* What is too long for a reading of memory: some times the step of a short chase. */
static uint64_t outlier_ticks(struct bench *b)
{
	uint64_t best = UINT64_MAX, ticks;

	for (size_t turn = 0; turn < 8; turn++) {
		b->at = chase(b->at, CHASE_STEPS, &ticks);
		best = NVE_MIN(best, ticks);
	}
	return best / CHASE_STEPS * NVE_OUTLIER_LATENCIES;
}

/* Chase, timed reads and probe in turns, until the time is over or the chase has come around. */
static void measure_dram(struct bench *b, struct sums *s)
{
	size_t most = NVE_MIN((size_t)TURNS_MAX, b->nodes / (CHASE_STEPS + TIMED_STEPS)), turns = 0;

	b->outlier_ticks = outlier_ticks(b);
	while (turns < most && now_ns() < b->deadline_ns)
		b->at = take_turn(b, b->at, &b->turn[turns++]);
	s->timed_low = quantile(b, 5, UINT32_MAX);
	sum_turns(b, turns, s);
}

static uint64_t read_number(const char *path)
{
	char text[64];
	size_t length;
	uint64_t n;
	char *end;

	if (nve_file_read(path, text, sizeof(text), &length))
		return 0;
	n = strtoull(text, &end, 10);
	return *end == 'K' ? n << 10 : *end == 'M' ? n << 20 : n;
}

/* Of the largest level that this CPU can use. sysconf() tells the whole package's on some CPUs. */
static uint64_t llc_bytes(void)
{
	uint64_t bytes = read_number("/sys/devices/system/cpu/cpu0/cache/index3/size");
	long fallback = sysconf(_SC_LEVEL3_CACHE_SIZE);

	if (!bytes)
		bytes = read_number("/sys/devices/system/cpu/cpu0/cache/index2/size");
	return bytes ? bytes : fallback > 0 ? (uint64_t)fallback : 0;
}

/* A footprint that the second level cannot hold and the last one can. */
static size_t llc_footprint(const struct bench *b, uint64_t llc)
{
	uint64_t l2 = read_number("/sys/devices/system/cpu/cpu0/cache/index2/size");
	uint64_t bytes = NVE_MIN(l2 ? 4 * l2 : 4u << 20, llc ? llc / 4 : 4u << 20);

	bytes = NVE_MAX(bytes, (uint64_t)1 << 20);
	return round_down(NVE_MIN(bytes, b->bytes));
}

/* The median of what did not come from memory: a shared cache's neighbours push lines out, which is
 * not its latency. */
static void measure_llc(struct bench *b, struct nve_calibration *c, uint32_t dram_low_ticks)
{
	struct node *node;
	uint64_t ticks;
	float unused;

	link_nodes(b, llc_footprint(b, c->llc_bytes));
	node = chase(b->node[0], 2 * b->nodes, &ticks);
	memset(b->histogram, 0, sizeof(b->histogram));
	for (int turn = 0; turn < LLC_TURNS; turn++)
		node = timed_turn(b, node, &unused, NULL);
	c->timed_llc_cycles_milli = quantile(b, 50, dram_low_ticks / 4 * 3) * 1000;
}

enum { GAP_LINES = 2048, GAP_ROUNDS = 4, CYCLE_ADDS = 20000 };

static uint64_t independent_reads(struct node **node)
{
	uint64_t start, sum = 0;

	_mm_mfence();
	_mm_lfence();
	start = nve_tsc();
	for (int i = 0; i < GAP_LINES; i++)
		sum += *(volatile uint64_t *)&node[i]->pad[0];
	_mm_lfence();
	(void)sum;
	return nve_tsc() - start;
}

static uint64_t independent_stores(struct node **node)
{
	uint64_t start;

	_mm_mfence();
	_mm_lfence();
	start = nve_tsc();
	for (int i = 0; i < GAP_LINES; i++)
		*(volatile uint64_t *)&node[i]->pad[0] = 1;
	_mm_mfence();
	return nve_tsc() - start;
}

static uint32_t best_gap(struct bench *b, uint64_t (*go)(struct node **node))
{
	uint64_t best = UINT64_MAX;

	for (int round = 0; round < GAP_ROUNDS; round++) {
		struct node **node = b->node + (size_t)round * GAP_LINES % (LIST_NODES - GAP_LINES);

		for (int i = 0; i < GAP_LINES; i++)
			_mm_clflush(node[i]);
		best = NVE_MIN(best, go(node));
	}
	return (uint32_t)(best * 1000 / GAP_LINES);
}

static uint32_t cycle_ticks_milli(void)
{
	uint64_t best = UINT64_MAX;

	for (int round = 0; round < GAP_ROUNDS; round++) {
		uint64_t start = nve_tsc(), x = 0;

		for (int i = 0; i < CYCLE_ADDS / 20; i++)
			__asm__ volatile(".rept 20\n\tadd $1, %0\n\t.endr" : "+r"(x) : : "cc");
		best = NVE_MIN(best, nve_tsc() - start);
	}
	return (uint32_t)(best * 1000 / CYCLE_ADDS);
}

/* How fast independent misses follow each other, and how long a cycle is: a chain of additions
 * takes one each. The best of a few rounds, since interruptions only add. */
static void measure_core(struct bench *b, struct nve_calibration *c)
{
	c->cycle_ticks_milli = cycle_ticks_milli();
	c->read_gap_ticks_milli = best_gap(b, independent_reads);
	c->write_gap_ticks_milli = best_gap(b, independent_stores);
}

static uint32_t measure_l1(struct bench *b)
{
	double sum = 0;
	int n = 0;

	for (int i = 0; i < FENCE_READS; i++) {
		uint64_t t = nve_touch_timed((uintptr_t)b->node[0]);

		if (i < 100 || t > 2000)
			continue;
		sum += (double)t;
		n++;
	}
	return n ? (uint32_t)(sum / n * 1000 + 0.5) : 0;
}

/* Half way between the last-level cache's reading and the fastest of memory: a hit may cost a page
 * walk on top. */
static uint32_t threshold(const struct nve_calibration *c, uint32_t dram_low_ticks)
{
	return (c->timed_llc_cycles_milli / 1000 + dram_low_ticks) / 2;
}

static bool uses_huge_pages(const struct bench *b)
{
	static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
	char text[128];
	size_t length;

	return b->bytes && !nve_file_read(path, text, sizeof(text), &length) &&
	       !strstr(text, "[never]");
}

/* The chase's latency of a line whose timed reading is known: both grow alike beyond the fences. */
static uint32_t chase_ps(const struct nve_calibration *c, uint32_t timed_milli)
{
	double net = (double)timed_milli - c->timed_l1_cycles_milli;
	double dram_net = (double)c->timed_dram_cycles_milli - c->timed_l1_cycles_milli;

	return (uint32_t)(c->dram_lat_ps * net / dram_net);
}

static int fill(struct nve_calibration *c, const struct sums *s)
{
	const char *field;

	if (!s->turns)
		return -ERANGE;
	c->dram_lat_ps = (uint32_t)(s->chase_ticks / (double)s->turns * 1e9 / (double)c->tsc_khz);
	c->timed_dram_cycles_milli = (uint32_t)(s->timed_ticks / (double)s->turns * 1000);
	c->timed_translated_cycles_milli =
		(uint32_t)(s->translated_ticks / (double)s->turns * 1000);
	c->probe_cycles_milli = (uint32_t)(s->probe_ticks / (double)s->turns * 1000);
	c->llc_lat_ps = chase_ps(c, c->timed_llc_cycles_milli);
	return nve_calibration_check(c, &field);
}

int nve_calibrate(struct nve_calibration *c, uint64_t limit_ns)
{
	uint64_t start_ns = now_ns(), start_tsc = nve_tsc();
	struct bench b = {0};
	struct sums s = {0};
	int rc = make(&b, start_ns, limit_ns);

	if (rc)
		return rc;
	b.translates = nve_touch_can_translate();
	rc = nve_probe_setup();
	if (rc)
		goto out_unmake;
	memset(c, 0, sizeof(*c));
	c->llc_bytes = llc_bytes();
	c->footprint_bytes = round_down(b.bytes);
	c->huge_pages = uses_huge_pages(&b);
	link_nodes(&b, round_down(b.bytes));
	b.at = b.node[LIST_NODES - 1];
	nve_run_ahead_measure((void **)b.node, LIST_NODES, &c->run_ahead_instructions,
			      &c->run_ahead_writers);
	measure_core(&b, c);
	measure_dram(&b, &s);
	c->tsc_khz =
		(uint64_t)((double)(nve_tsc() - start_tsc) * 1e6 / (double)(now_ns() - start_ns) +
			   0.5);
	c->timed_l1_cycles_milli = measure_l1(&b);
	c->fence_cycles = (c->timed_l1_cycles_milli + 500) / 1000;
	measure_llc(&b, c, s.timed_low);
	c->threshold_cycles = threshold(c, s.timed_low);
	c->measured_at_s = (uint64_t)time(NULL);
	rc = fill(c, &s);
out_unmake:
	unmake(&b);
	return rc;
}
