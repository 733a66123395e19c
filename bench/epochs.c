#include "epochs.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	WAKES = 20,   /* in a turn's part */
	WORDS = 2048, /* that the work goes through: the half of a first-level cache */
	PASSES = 40,  /* between two wakes: some tens of microseconds */
	TURNS_MAX = 20000,
};

enum part { ALONE, WOKEN, READ, PARTS };

static struct {
	const struct epochs_reader *reader;
	_Atomic uint32_t wake, done, runs; /* done: the wake that the monitor has seen last */
	_Atomic bool reads, stop;
	_Atomic int opened; /* 1, or -errno */
	int tid;
} state;

static uint64_t words[WORDS];

static void work(void)
{
	for (int pass = 0; pass < PASSES; pass++)
		for (int i = 0; i < WORDS; i++)
			words[i] = words[i] * UINT64_C(6364136223846793005) + (uint64_t)i;
	__asm__ volatile("" : : "r"(words) : "memory");
}

/* As the library's: asleep on a futex, which each wake moves on. */
static void *monitor(void *unused)
{
	uint32_t seen = atomic_load(&state.wake);
	int rc = state.reader->open(state.tid);

	(void)unused;
	atomic_store(&state.opened, rc ? rc : 1);
	while (!rc && !atomic_load(&state.stop)) {
		syscall(SYS_futex, &state.wake, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		if (seen == atomic_load(&state.wake))
			continue;
		seen = atomic_load(&state.wake);
		if (atomic_load(&state.reads))
			state.reader->settle();
		atomic_fetch_add(&state.runs, 1);
		atomic_store(&state.done, seen);
	}
	if (!rc)
		state.reader->close();
	return NULL;
}

static void wake(void)
{
	atomic_fetch_add(&state.wake, 1);
	syscall(SYS_futex, &state.wake, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* CPU time of the work and of what is woken meanwhile; *runs: how often the monitor ran. */
static uint64_t time_part(enum part part, uint32_t *runs)
{
	uint32_t before = atomic_load(&state.runs);
	uint64_t start_ns;

	atomic_store(&state.reads, part == READ);
	start_ns = nve_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < WAKES; i++) {
		work();
		if (part != ALONE)
			wake();
	}
	/* The last one has its turn before the clock stops. */
	do
		sched_yield();
	while (atomic_load(&state.done) != atomic_load(&state.wake));
	start_ns = nve_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns;
	*runs = atomic_load(&state.runs) - before;
	return start_ns;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_size);
	return n ? values[n / 2] : 0;
}

static size_t take_turns(double seconds, double *whole, double *switches, double *read)
{
	uint64_t end_ns = nve_clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	size_t n = 0;

	while (n < TURNS_MAX && nve_clock_ns(CLOCK_MONOTONIC) < end_ns) {
		uint64_t took_ns[PARTS];
		uint32_t runs[PARTS];

		/* none of them always comes behind the same */
		for (size_t i = 0; i < PARTS; i++) {
			enum part part = (enum part)((i + n) % PARTS);

			took_ns[part] = time_part(part, &runs[part]);
		}
		switches[n] = ((double)took_ns[WOKEN] - (double)took_ns[ALONE]) / runs[WOKEN];
		whole[n] = ((double)took_ns[READ] - (double)took_ns[ALONE]) / runs[READ];
		read[n] = whole[n] - switches[n];
		n++;
	}
	return n;
}

static int run(double seconds, double *whole_ns, double *switch_ns, double *read_ns)
{
	static double whole[TURNS_MAX], switches[TURNS_MAX], read[TURNS_MAX];
	pthread_t thread;
	size_t n = 0;
	int rc;

	if (pthread_create(&thread, NULL, monitor, NULL))
		return -EAGAIN;
	while (!(rc = atomic_load(&state.opened)))
		usleep(100);
	if (rc > 0)
		n = take_turns(seconds, whole, switches, read);
	atomic_store(&state.stop, true);
	wake();
	pthread_join(thread, NULL);
	*whole_ns = median(whole, n);
	*switch_ns = median(switches, n);
	*read_ns = median(read, n);
	return rc > 0 && n ? 0 : rc < 0 ? rc : -ETIME;
}

int epochs_measure(const struct epochs_reader *reader, int cpu, double seconds, double *whole_ns,
		   double *switch_ns, double *read_ns)
{
	cpu_set_t all, one;
	int rc;

	if (sched_getaffinity(0, sizeof(all), &all))
		return -errno;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return -errno;
	state.reader = reader;
	state.tid = (int)syscall(SYS_gettid);
	atomic_store(&state.done, atomic_load(&state.wake));
	atomic_store(&state.stop, false);
	atomic_store(&state.opened, 0);
	rc = run(seconds, whole_ns, switch_ns, read_ns);
	sched_setaffinity(0, sizeof(all), &all);
	return rc;
}
