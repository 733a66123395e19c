/* Calibration where there is look-ahead. */
#include "count/calibrate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/arch.h"
#include "base/base.h"
#include "base/clock.h"
#include "count/ahead/probe.h"
#include "count/ahead/touch.h"
#include "count/chase_list.h"
#include "count/run_ahead.h"

enum {
	CHASE_STEPS = 192, /* of one turn */
	TIMED_STEPS = 64,  /* of them half as they are, half translated before */
	PROBE_STEPS = 16,
	WARM_PARTS = 64,
	TURNS_MAX = 32768,
	LLC_TURNS = 256,
	FENCE_READS = 4000,
};

/* Mean readings of one turn, TSC ticks. */
struct turn {
	float chase, timed, translated, probe;
};

struct bench {
	struct nve_chase_list *list;
	struct nve_chase_node *at; /* where the chase stands */
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

struct sums {
	/* sums of means over turns */
	double chase_ticks, timed_ticks, translated_ticks, probe_ticks;
	uint64_t turns;
	uint32_t timed_low; /* a low quantile of the timed reads, for the threshold */
};

/* Mean of the turn's timed reads; 0 when all were interrupted. The histogram is of those as they
 * are. translated: NULL, or where the mean of the others goes. */
static struct nve_chase_node *timed_turn(struct bench *b, struct nve_chase_node *node, float *mean,
					 float *translated)
{
	double sum[2] = {0};
	int n[2] = {0};

	/* In two blocks: a processor that guesses wrong would translate ahead of the plain ones. */
	for (int i = 0; i < TIMED_STEPS; i++) {
		int kind = translated && i >= TIMED_STEPS / 2;
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

static struct nve_chase_node *take_turn(struct bench *b, struct nve_chase_node *node,
					struct turn *turn)
{
	uint64_t ticks, probe_ticks = 0;
	uint32_t probes;

	node = nve_chase_list_walk(node, CHASE_STEPS, &ticks);
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
		b->at = nve_chase_list_walk(b->at, CHASE_STEPS, &ticks);
		best = NVE_MIN(best, ticks);
	}
	return best / CHASE_STEPS * NVE_OUTLIER_LATENCIES;
}

/* Where there is time, one walk around before: the tables of a page walk, too, are then where a
 * program that goes on for long has them. */
static void warm_up(struct bench *b)
{
	uint64_t start_ns = now_ns(), ticks;
	size_t part = b->list->nodes / WARM_PARTS;

	b->at = nve_chase_list_walk(b->at, part, &ticks);
	if (b->deadline_ns < start_ns + 2 * WARM_PARTS * (now_ns() - start_ns))
		return;
	b->at = nve_chase_list_walk(b->at, b->list->nodes - part, &ticks);
}

/* Chase, timed reads and probe in turns, until the time is over. */
static void measure_dram(struct bench *b, struct sums *s)
{
	size_t turns = 0;

	b->outlier_ticks = outlier_ticks(b);
	warm_up(b);
	while (turns < TURNS_MAX && now_ns() < b->deadline_ns)
		b->at = take_turn(b, b->at, &b->turn[turns++]);
	s->timed_low = quantile(b, 5, UINT32_MAX);
	sum_turns(b, turns, s);
}

/* The median of what did not come from memory: a shared cache's neighbours push lines out, which is
 * not its latency. */
static void measure_llc(struct bench *b, struct nve_calibration *c, uint32_t dram_low_ticks)
{
	struct nve_chase_node *node;
	uint64_t ticks;
	float unused;

	nve_chase_list_link(b->list, nve_chase_list_llc_footprint(b->list, c->llc_bytes));
	node = nve_chase_list_walk(b->list->node[0], 2 * b->list->nodes, &ticks);
	memset(b->histogram, 0, sizeof(b->histogram));
	for (int turn = 0; turn < LLC_TURNS; turn++)
		node = timed_turn(b, node, &unused, NULL);
	c->timed_llc_cycles_milli = quantile(b, 50, dram_low_ticks / 4 * 3) * 1000;
}

enum { GAP_LINES = 2048, GAP_ROUNDS = 4, CYCLE_ADDS = 20000 };

static uint64_t independent_reads(struct nve_chase_node **node)
{
	uint64_t start, sum = 0;

	nve_arch_fence();
	start = nve_tsc();
	for (int i = 0; i < GAP_LINES; i++)
		sum += *(volatile uint64_t *)&node[i]->pad[0];
	nve_arch_fence_loads();
	(void)sum;
	return nve_tsc() - start;
}

static uint64_t independent_stores(struct nve_chase_node **node)
{
	uint64_t start;

	nve_arch_fence();
	start = nve_tsc();
	for (int i = 0; i < GAP_LINES; i++)
		*(volatile uint64_t *)&node[i]->pad[0] = 1;
	nve_arch_fence();
	return nve_tsc() - start;
}

static uint32_t best_gap(struct bench *b, uint64_t (*go)(struct nve_chase_node **node))
{
	uint64_t best = UINT64_MAX;

	for (int round = 0; round < GAP_ROUNDS; round++) {
		size_t first = (size_t)round * GAP_LINES % (NVE_CHASE_LIST_NODES - GAP_LINES);
		struct nve_chase_node **node = b->list->node + first;

		for (int i = 0; i < GAP_LINES; i++)
			nve_arch_flush(node[i]);
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
		uint64_t t = nve_touch_timed((uintptr_t)b->list->node[0]);

		if (i < 100 || t > 2000)
			continue;
		sum += (double)t;
		n++;
	}
	return n ? (uint32_t)(sum / n * 1000 + 0.5) : 0;
}

/* Between the last-level cache's reading and the fastest of memory, nearer to this: a hit may cost
 * a page walk on top. */
static uint32_t threshold(const struct nve_calibration *c, uint32_t dram_low_ticks)
{
	return (c->timed_llc_cycles_milli / 1000 + 2 * dram_low_ticks) / 3;
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

static int make(struct bench *b, uint64_t start_ns, uint64_t limit_ns)
{
	b->turn = mmap(NULL, TURNS_MAX * sizeof(*b->turn), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->turn == MAP_FAILED)
		return -errno;
	b->list = nve_chase_list_new(start_ns, limit_ns);
	if (!b->list) {
		munmap(b->turn, TURNS_MAX * sizeof(*b->turn));
		return -ENOMEM;
	}
	b->deadline_ns = start_ns + limit_ns * 90 / 100;
	return 0;
}

static void unmake(struct bench *b)
{
	nve_chase_list_delete(b->list);
	munmap(b->turn, TURNS_MAX * sizeof(*b->turn));
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
	c->timed_reads = true;
	c->llc_bytes = nve_chase_list_llc_bytes();
	c->footprint_bytes = nve_chase_list_round(b.list->bytes);
	c->huge_pages = nve_chase_list_huge_pages(b.list);
	nve_chase_list_link(b.list, b.list->bytes);
	b.at = b.list->node[NVE_CHASE_LIST_NODES - 1];
	nve_run_ahead_measure((void **)b.list->node, NVE_CHASE_LIST_NODES,
			      &c->run_ahead_instructions, &c->run_ahead_writers);
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
