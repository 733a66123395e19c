#include "count/throughput.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"

enum {
	WORKERS = 16,
	BUFFER_MIN = 32 << 20,
	BUFFER_MAX = 128 << 20,
	TOGETHER_MAX = 1 << 30,
	LLC_TIMES = 2,
	PIECE_BYTES = 4 << 20,
	PIECES = 64, /* timed, of each kind */
	LINE_WORDS = NVE_LINE_BYTES / sizeof(uint64_t),
	WAIT_NS = 500000000,
};

/* Shared with the children. */
struct work {
	size_t bytes;
	uint32_t workers;
	_Atomic uint32_t ready;
	struct {
		double read, write; /* bytes per ns; 0: it failed */
	} worker[WORKERS];
};

static uint64_t cpu_ns(void)
{
	return nve_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void read_piece(const uint64_t *at)
{
	const uint64_t *end = at + PIECE_BYTES / sizeof(*at);
	uint64_t sum = 0;

	for (; at < end; at += 4 * LINE_WORDS)
		sum += at[0] + at[LINE_WORDS] + at[2 * LINE_WORDS] + at[3 * LINE_WORDS];
	__asm__ volatile("" : : "r"(sum));
}

static void write_piece(uint64_t *at, int value)
{
	memset(at, value, PIECE_BYTES);
	__asm__ volatile("" : : "r"(at) : "memory");
}

/* Of bytes per ns; the upper quartile, since other users of the machine only slow it down, but a
 * single reading may have met a part of the buffer in the cache. */
static double typical(double *rate, int n)
{
	for (int i = 1; i < n; i++) {
		double value = rate[i];
		int k = i;

		for (; k > 0 && rate[k - 1] > value; k--)
			rate[k] = rate[k - 1];
		rate[k] = value;
	}
	return rate[3 * n / 4];
}

/* By CPU time: without the core nobody moves anything. */
static double measure(char *buffer, size_t bytes, bool writes)
{
	double rate[PIECES];

	for (int i = 0; i < PIECES; i++) {
		uint64_t *at = (uint64_t *)(buffer + (size_t)i * PIECE_BYTES % bytes);
		uint64_t start_ns = cpu_ns();

		if (writes)
			write_piece(at, i);
		else
			read_piece(at);
		rate[i] = (double)PIECE_BYTES / (double)NVE_MAX(cpu_ns() - start_ns, UINT64_C(1));
	}
	return typical(rate, PIECES);
}

static void wait_for_all(struct work *work)
{
	uint64_t deadline_ns = nve_clock_ns(CLOCK_MONOTONIC) + WAIT_NS;

	atomic_fetch_add(&work->ready, 1);
	while (atomic_load(&work->ready) < work->workers &&
	       nve_clock_ns(CLOCK_MONOTONIC) < deadline_ns)
		syscall(SYS_sched_yield);
}

static void run_worker(struct work *work, uint32_t number)
{
	char *buffer =
		mmap(NULL, work->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buffer == MAP_FAILED)
		return;
	memset(buffer, 1, work->bytes);
	wait_for_all(work);
	work->worker[number].read = measure(buffer, work->bytes, false);
	work->worker[number].write = measure(buffer, work->bytes, true);
}

/* The child's process id, or -errno. No exit signal: nobody but us can wait for it. */
static int start_worker(struct work *work, uint32_t number)
{
	long pid = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		run_worker(work, number);
		syscall(SYS_exit_group, 0);
	}
	return (int)pid;
}

static void wait_for(int pid)
{
	while (syscall(SYS_wait4, pid, NULL, __WALL, NULL) < 0 && errno == EINTR)
		;
}

/* Bytes per second of so many at the same time. */
static int measure_workers(struct work *work, uint32_t workers, uint64_t llc_bytes, uint64_t *read,
			   uint64_t *write)
{
	int pid[WORKERS];
	double reads = 0, writes = 0;

	uint64_t most = NVE_MIN((uint64_t)BUFFER_MAX, TOGETHER_MAX / (uint64_t)workers);

	memset(work, 0, sizeof(*work));
	work->workers = workers;
	work->bytes = NVE_MAX(LLC_TIMES * llc_bytes, (uint64_t)BUFFER_MIN);
	work->bytes = NVE_MIN(work->bytes, most);
	work->bytes -= work->bytes % PIECE_BYTES;
	for (uint32_t i = 0; i < workers; i++)
		pid[i] = start_worker(work, i);
	for (uint32_t i = 0; i < workers; i++) {
		if (pid[i] > 0)
			wait_for(pid[i]);
		reads += work->worker[i].read;
		writes += work->worker[i].write;
	}
	*read = (uint64_t)(reads * 1e9);
	*write = (uint64_t)(writes * 1e9);
	return pid[0] < 0 ? pid[0] : *read && *write ? 0 : -ENOMEM;
}

static uint32_t count_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return WORKERS;
	return NVE_MIN((uint32_t)CPU_COUNT(&set), (uint32_t)WORKERS);
}

int nve_throughput_measure(uint64_t llc_bytes, struct nve_throughput *t)
{
	uint32_t processors = count_processors();
	struct work *work = mmap(NULL, sizeof(*work), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (work == MAP_FAILED)
		return -errno;
	rc = measure_workers(work, 1, llc_bytes, &t->read, &t->write);
	t->all_read = t->read;
	t->all_write = t->write;
	if (!rc && processors > 1)
		measure_workers(work, processors, llc_bytes, &t->all_read, &t->all_write);
	t->all_read = NVE_MAX(t->all_read, t->read);
	t->all_write = NVE_MAX(t->all_write, t->write);
	munmap(work, sizeof(*work));
	return rc;
}
