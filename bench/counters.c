/*
 * counters [SECONDS]: what the monitor pays to read a thread's hardware counters at the end of an
 * epoch: the provider's own functions, read and apply, of a thread whose core it takes for that (as
 * monitors do), of one that runs on another core meanwhile, and of one that sleeps; and what all
 * that an epoch's end brings about costs a thread that computes (epochs.h). Hardware events where
 * this machine has them, else software events, which take the same way through the kernel but for
 * the counters' registers. One JSON object on stdout.
 */
#include <pthread.h>
#include <sched.h>
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
#include "epochs.h"

enum { BATCH = 50, BATCHES_MAX = 20000, WAKE_US = 1000 };

enum where { NEAR, APART, SLEEPING };

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

/* The calling thread, and those that it makes from now on; -1: anywhere that all allows. */
static void stay_on(int cpu, const cpu_set_t *all)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	if (cpu >= 0)
		CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), cpu >= 0 ? &one : all);
}

static int first_cpu(const cpu_set_t *all)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, all))
			return cpu;
	return -1;
}

/* CPU time of so many reads, ns. */
static uint64_t time_reads(struct nve_pmu *pmu, int reads)
{
	uint64_t start_ns = nve_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < reads; i++)
		settle(pmu);
	return nve_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
}

/* Median over batches of the reading thread's CPU time for a read, ns; 0: no events. Near, each
 * read is one on its own, after the reader has come in the place of the thread. */
static double measure(enum where where, double seconds, const cpu_set_t *all)
{
	static uint64_t took_ns[BATCHES_MAX];
	struct nve_pmu pmu = {.in_own_table = true};
	uint64_t end_ns = nve_clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	int reads = where == NEAR ? 1 : BATCH;
	pthread_t thread;
	size_t n = 0;

	atomic_store(&target_tid, 0);
	atomic_store(&stop, false);
	stay_on(where == NEAR ? first_cpu(all) : -1, all);
	if (pthread_create(&thread, NULL, target, where == SLEEPING ? &stop : NULL))
		return 0;
	while (!atomic_load(&target_tid))
		usleep(100);
	if (!nve_pmu_open(&pmu, atomic_load(&target_tid), true)) {
		while (n < BATCHES_MAX && nve_clock_ns(CLOCK_MONOTONIC) < end_ns) {
			took_ns[n++] = time_reads(&pmu, reads);
			if (where == NEAR)
				usleep(WAKE_US);
		}
	}
	nve_pmu_close(&pmu);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	if (!n || !pmu.sums.reads.reads)
		return 0;
	qsort(took_ns, n, sizeof(*took_ns), by_size);
	return (double)took_ns[n / 2] / reads;
}

static struct nve_pmu reader;

static int open_reader(int tid)
{
	return nve_pmu_open(&reader, tid, true);
}

static void settle_reader(void)
{
	settle(&reader);
}

static void close_reader(void)
{
	nve_pmu_close(&reader);
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
	const struct epochs_reader epochs = {open_reader, settle_reader, close_reader};
	double seconds = argc > 1 ? atof(argv[1]) : 1, near, apart, sleeping, whole, switches, read;
	const char *kind;
	cpu_set_t all;

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
	if (sched_getaffinity(0, sizeof(all), &all))
		return 1;
	near = measure(NEAR, seconds / 4, &all);
	apart = measure(APART, seconds / 4, &all);
	sleeping = measure(SLEEPING, seconds / 4, &all);
	if (epochs_measure(&epochs, first_cpu(&all), seconds / 4, &whole, &switches, &read))
		return 1;
	printf("{\"kind\": \"%s\", \"events\": %u, \"near_ns\": %.1f, \"apart_ns\": %.1f, "
	       "\"sleeping_ns\": %.1f, \"whole_ns\": %.1f, \"switch_ns\": %.1f, "
	       "\"read_ns\": %.1f}\n",
	       kind, plan.set[0].count, near, apart, sleeping, whole, switches, read);
	return near > 0 && apart > 0 && sleeping > 0 ? 0 : 1;
}
