/*
 * nvmemu-regions cost: what a region's begin and end take together, ns, the least of many rounds.
 * nvmemu-regions times: what a step of each phase takes, with its data in memory and in a cache.
 * To be run natively: the same instructions would teach look-ahead both.
 * nvmemu-regions phases LENGTH_US SECONDS [outside]: the phases, each about so long, in turns until
 * they have used so much CPU time; `outside`: without markers around the last of them.
 * All print JSON.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chase.h"
#include "nvmemu.h"

enum {
	ROUNDS = 20000,
	PAIRS = 20, /* few enough for rounds in which no delay is served */
	TIMED_NS = 60000000,
	SMALL_NODES = 256, /* fit into the first level */
	WORK = 60, /* multiplications in a row after each step of the mixed phase: half of a miss */
};

static struct bench_chase large, small;
static struct bench_node *node;
static volatile double sink = 1;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void run_read(uint64_t steps)
{
	node = bench_chase_read(node, steps);
}

static void run_write(uint64_t steps)
{
	node = bench_chase_write(node, steps);
}

/* The next step depends on the work, and the work on the step. */
static void run_mixed(uint64_t steps)
{
	struct bench_node *n = node;

	for (uint64_t i = 0; i < steps; i++) {
		uint64_t x = n->value | 1;

		for (int k = 0; k < WORK; k++) {
			x *= 0x9e3779b97f4a7c15u;
			__asm__ volatile("" : "+r"(x));
		}
		n = (struct bench_node *)((char *)n->next + (x == 0));
	}
	node = n;
}

static void run_compute(uint64_t steps)
{
	double x = sink;

	for (uint64_t i = 0; i < 40 * steps; i++)
		x = x * 0.9999999 + 1e-7;
	sink = x;
}

static struct phase {
	const char *name;
	void (*run)(uint64_t steps);
	double step_ns, resident_ns;
	uint64_t steps, cpu_ns;
} phases[] = {
	{.name = "read", .run = run_read},
	{.name = "write", .run = run_write},
	{.name = "mixed", .run = run_mixed},
	{.name = "compute", .run = run_compute},
};

enum { PHASES = sizeof(phases) / sizeof(*phases) };

static double time_step(const struct phase *p, const struct bench_chase *chase)
{
	uint64_t steps = 0, start, took;

	node = chase->nodes;
	p->run(1000);
	start = now_ns(CLOCK_THREAD_CPUTIME_ID);
	do {
		p->run(1000);
		steps += 1000;
		took = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	} while (took < TIMED_NS);
	return (double)took / (double)steps;
}

static void time_phases(bool resident)
{
	for (int i = 0; i < PHASES; i++) {
		phases[i].step_ns = time_step(&phases[i], &large);
		if (resident)
			phases[i].resident_ns = time_step(&phases[i], &small);
	}
}

static void take_turns(uint64_t length_ns, uint64_t total_ns, int outside)
{
	uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID);

	node = large.nodes;
	while (now_ns(CLOCK_THREAD_CPUTIME_ID) - start < total_ns) {
		for (int i = 0; i < PHASES; i++) {
			struct phase *p = &phases[i];
			uint64_t steps = (uint64_t)((double)length_ns / p->step_ns) + 1, before;

			before = now_ns(CLOCK_THREAD_CPUTIME_ID);
			if (i != outside)
				nvmemu_region_begin(p->name);
			p->run(steps);
			if (i != outside)
				nvmemu_region_end();
			p->cpu_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - before;
			p->steps += steps;
		}
	}
}

static void print_phases(void)
{
	printf("{");
	for (int i = 0; i < PHASES; i++) {
		const struct phase *p = &phases[i];

		printf("%s\"%s\": {\"step_ns\": %.3f, \"resident_ns\": %.3f, \"steps\": %llu, "
		       "\"cpu_ns\": %llu}",
		       i ? ", " : "", p->name, p->step_ns, p->resident_ns,
		       (unsigned long long)p->steps, (unsigned long long)p->cpu_ns);
	}
	printf("}\n");
}

static double pair_ns(void)
{
	uint64_t best = UINT64_MAX, took;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = now_ns(CLOCK_MONOTONIC);

		for (int k = 0; k < PAIRS; k++) {
			nvmemu_region_begin("a region");
			nvmemu_region_end();
		}
		took = now_ns(CLOCK_MONOTONIC) - start;
		best = took < best ? took : best;
	}
	return (double)best / PAIRS;
}

/* In a thread that owes nothing, and in one that does, as it always waits for memory. */
static int cost(void)
{
	double idle = pair_ns(), owing;
	int rc = bench_chase_make(&large, 4 * bench_llc_bytes(), true, 1);

	if (rc)
		return rc;
	node = large.nodes;
	for (uint64_t start = now_ns(CLOCK_MONOTONIC);
	     now_ns(CLOCK_MONOTONIC) - start < 400000000u;) {
		nvmemu_region_begin("walk");
		run_write(1000);
		nvmemu_region_end();
	}
	owing = pair_ns();
	printf("{\"idle_ns\": %.2f, \"owing_ns\": %.2f}\n", idle, owing);
	return 0;
}

static int make_lists(void)
{
	size_t llc = bench_llc_bytes();
	int rc = bench_chase_make(&large, 4 * (llc ? llc : (size_t)32 << 20), true, 1);

	return rc ? rc : bench_chase_make(&small, SMALL_NODES * sizeof(*node), false, 1);
}

static int times(void)
{
	int rc = make_lists();

	if (rc)
		return rc;
	time_phases(true);
	print_phases();
	return 0;
}

static int take_phases(uint64_t length_ns, double seconds, bool outside)
{
	int rc = make_lists();

	if (rc)
		return rc;
	nvmemu_pause();
	time_phases(false);
	nvmemu_resume();
	take_turns(length_ns, (uint64_t)(seconds * 1e9), outside ? PHASES - 1 : -1);
	print_phases();
	return 0;
}

int main(int argc, char **argv)
{
	int rc = -EINVAL;

	if (argc == 2 && !strcmp(argv[1], "cost"))
		rc = cost();
	else if (argc == 2 && !strcmp(argv[1], "times"))
		rc = times();
	else if (argc >= 4 && !strcmp(argv[1], "phases"))
		rc = take_phases(strtoull(argv[2], NULL, 10) * 1000, strtod(argv[3], NULL),
				 argc > 4);
	if (rc)
		fprintf(stderr, "nvmemu-regions: %s\n", strerror(-rc));
	return rc ? 1 : 0;
}
