/*
 * counters [SECONDS]: what the monitor pays to read a thread's hardware counters at the end of an
 * epoch: the provider's own functions, read and apply, on a thread that runs and on one that
 * sleeps. Hardware events where this machine has them, else software events, which take the same
 * way through the kernel but for the counters' registers. One JSON object on stdout.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "count/pmu/pmu.h"

enum { BATCH = 50, BATCHES_MAX = 20000 };

static const struct {
	const char *kind, *events;
} candidates[] = {
	/* cycles, instructions, references to and misses of the last-level cache */
	{"hardware", "stall=0/0,l2-hit=0/1,llc-hit=0/2,miss=0/3"},
	/* task clock, page faults, context switches, migrations */
	{"software", "stall=1/1,l2-hit=1/2,llc-hit=1/3,miss=1/4"},
};

static _Atomic int target_tid;
static _Atomic bool stop;

static void *target(void *sleeps)
{
	volatile unsigned work = 0;

	atomic_store(&target_tid, (int)syscall(SYS_gettid));
	while (!atomic_load(&stop)) {
		if (sleeps)
			usleep(1000);
		else
			work = work + 1;
	}
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void settle(struct nve_pmu *pmu)
{
	struct nve_epoch epoch = {.cpu_ns = 20000000, .latency_ps = 100000, .dram_lat_ps = 100000};
	struct nve_pmu_pending pending = {.cpu_ns = epoch.cpu_ns};

	if (!nve_pmu_read(pmu, pending, false))
		nve_pmu_apply(pmu, &pending, &epoch);
}

/* Median over batches of the reading thread's CPU time for a read, ns; 0: no events. */
static double measure(bool sleeps, double seconds)
{
	static uint64_t took_ns[BATCHES_MAX];
	struct nve_pmu pmu = {.in_own_table = true};
	uint64_t end_ns = nve_clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	pthread_t thread;
	size_t n = 0;

	atomic_store(&target_tid, 0);
	atomic_store(&stop, false);
	if (pthread_create(&thread, NULL, target, sleeps ? &stop : NULL))
		return 0;
	while (!atomic_load(&target_tid))
		usleep(100);
	if (!nve_pmu_open(&pmu, atomic_load(&target_tid), true)) {
		while (n < BATCHES_MAX && nve_clock_ns(CLOCK_MONOTONIC) < end_ns) {
			uint64_t start_ns = nve_clock_ns(CLOCK_THREAD_CPUTIME_ID);

			for (int i = 0; i < BATCH; i++)
				settle(&pmu);
			took_ns[n++] = nve_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
		}
	}
	nve_pmu_close(&pmu);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	if (!n || !pmu.sums.reads.reads)
		return 0;
	qsort(took_ns, n, sizeof(*took_ns), by_size);
	return (double)took_ns[n / 2] / BATCH;
}

static bool choose(struct nve_pmu_plan *plan, const char **kind)
{
	const char *bad;
	enum nve_pmu_role refused;

	for (size_t i = 0; i < NVE_ARRAY_SIZE(candidates); i++) {
		*kind = candidates[i].kind;
		if (!nve_pmu_plan_parse(candidates[i].events, NULL, plan, &bad) &&
		    !nve_pmu_probe(&nve_perf_kernel, plan, &refused))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	static struct nve_pmu_plan plan;
	double seconds = argc > 1 ? atof(argv[1]) : 1, running, sleeping;
	const char *kind;

	if (!choose(&plan, &kind)) {
		fprintf(stderr,
			"counters: this machine lets nobody count, not even software events\n");
		return 1;
	}
	nve_pmu_setup(&(struct nve_pmu_config){.perf = &nve_perf_kernel,
					       .plan = &plan,
					       .counts_per_ms = {1000000, 1000000},
					       .weights = {4000, 20000, 100000},
					       .epoch_ns = 20000000});
	running = measure(false, seconds / 2);
	sleeping = measure(true, seconds / 2);
	printf("{\"kind\": \"%s\", \"events\": %u, \"running_ns\": %.1f, \"sleeping_ns\": %.1f}\n",
	       kind, plan.set[0].count, running, sleeping);
	return running > 0 && sleeping > 0 ? 0 : 1;
}
