/*
 * Programs whose parts differ: two phases that alternate, two threads of which one waits for
 * memory and one computes.
 */
#include "workload.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

enum { PHASE_MS = 300, STEPS_BETWEEN_LOOKS = 65536 };

/* Reads for 300 ms of CPU time, then writes each node for 300 ms, and so on. */
static BENCH_NOINLINE void run_phases(struct bench_run *run, uint64_t steps)
{
	while (steps > 0) {
		uint64_t part = steps < STEPS_BETWEEN_LOOKS ? steps : STEPS_BETWEEN_LOOKS;

		if (bench_thread_cpu_ns() / (PHASE_MS * 1000000u) & 1) {
			bench_chase_run_write(run, part);
			run->writes += part;
		} else {
			bench_chase_run_read(run, part);
		}
		steps -= part;
	}
}

static int check_phases(struct bench_run *run)
{
	return bench_chase_sum(run) == run->writes ? 0 : -EBADMSG;
}

static pthread_t second;
static int second_go, second_stop;

static void *compute(void *arg)
{
	struct bench_run *run = arg;
	uint64_t x = 1, start;

	while (!__atomic_load_n(&second_go, __ATOMIC_ACQUIRE))
		sched_yield();
	start = bench_thread_cpu_ns();
	do {
		for (int i = 0; i < 1000000; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			__asm__ volatile("" : "+r"(x));
		}
		run->second_steps += 1000000;
	} while (!__atomic_load_n(&second_stop, __ATOMIC_ACQUIRE));
	run->second_cpu_ns = bench_thread_cpu_ns() - start;
	return NULL;
}

static int setup_threads(struct bench_run *run)
{
	int err = bench_chase_setup(run);

	if (err)
		return err;
	err = pthread_create(&second, NULL, compute, run);
	if (err)
		return -err;
	pthread_setname_np(second, "compute");
	pthread_setname_np(pthread_self(), "chase");
	return 0;
}

static void run_threads(struct bench_run *run, uint64_t steps)
{
	__atomic_store_n(&second_go, 1, __ATOMIC_RELEASE);
	bench_chase_run_write(run, steps);
}

static void finish_threads(struct bench_run *run)
{
	(void)run;
	__atomic_store_n(&second_stop, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&second_go, 1, __ATOMIC_RELEASE);
	pthread_join(second, NULL);
}

static int check_threads(struct bench_run *run)
{
	return bench_chase_sum(run) == run->steps && run->second_steps > 0 ? 0 : -EBADMSG;
}

const struct bench_kernel bench_mix_kernels[] = {
	{.name = "two-phases",
	 .what = "chase, 300 ms without and 300 ms with writes in turn",
	 .stall_origin = BENCH_RESIDENT,
	 .dirty_origin = BENCH_COUNTED,
	 .fit = BENCH_FIT_4_LLC,
	 .percent = 100,
	 .setup = bench_chase_setup,
	 .run = run_phases,
	 .check = check_phases},
	{.name = "two-threads",
	 .what = "one thread chases and writes, one computes",
	 .stall_origin = BENCH_NONE,
	 .dirty = 1,
	 .fit = BENCH_FIT_4_LLC,
	 .percent = 100,
	 .setup = setup_threads,
	 .run = run_threads,
	 .finish = finish_threads,
	 .check = check_threads},
	{.name = NULL},
};
