/*
 * The path to a real PMU, on machines whose kernel has one: cycles and instructions, which every
 * PMU counts. Elsewhere it is skipped, and the reason printed.
 */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "count/pmu/perf.h"
#include "count/pmu/pmu.h"

enum { CYCLES, INSTRUCTIONS, EVENTS, ROUNDS = 2000000, RING_PAGES = 8, PERIOD = 100000 };

static const struct nve_pmu_code codes[EVENTS] = {
	[CYCLES] = {.type = PERF_TYPE_HARDWARE, .config = {PERF_COUNT_HW_CPU_CYCLES}},
	[INSTRUCTIONS] = {.type = PERF_TYPE_HARDWARE, .config = {PERF_COUNT_HW_INSTRUCTIONS}},
};
static const struct nve_pmu_group_plan both = {.codes = codes, .count = EVENTS};

/* The same number of instructions for each round. */
__attribute__((noinline)) static void work(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		__asm__ volatile("" : : "r"(i));
}

static int count_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void open_both(struct nve_pmu_group *g, int tid)
{
	unsigned failed;

	assert_int_equal(nve_pmu_group_open(g, &nve_perf_kernel, &both, tid, &failed), 0);
}

static uint64_t instructions(struct nve_pmu_group *g)
{
	struct nve_pmu_reads reads = {0};
	uint64_t delta[NVE_PMU_GROUP_EVENTS];

	assert_int_equal(nve_pmu_group_read(g, true, &reads, delta), 0);
	assert_int_equal(reads.backwards + reads.wraps, 0);
	return delta[INSTRUCTIONS];
}

/* Within one in fifty: the reads themselves take instructions, too. */
static void assert_about(uint64_t value, uint64_t expected)
{
	assert_in_range(value, expected - expected / 50, expected + expected / 50);
}

static void own_work_is_counted(void **state)
{
	struct nve_pmu_reads reads = {0};
	uint64_t delta[NVE_PMU_GROUP_EVENTS], once;
	struct nve_pmu_group g;
	int files = count_files();

	(void)state;
	open_both(&g, 0);
	assert_int_equal(count_files(), files + EVENTS);
	instructions(&g);
	work(ROUNDS);
	once = instructions(&g);
	assert_true(once > ROUNDS);
	work(3 * ROUNDS);
	assert_int_equal(nve_pmu_group_read(&g, true, &reads, delta), 0);
	assert_about(delta[INSTRUCTIONS], 3 * once);
	/* no core does ten instructions a cycle, nor one in ten cycles of these */
	assert_in_range(delta[CYCLES], delta[INSTRUCTIONS] / 10, delta[INSTRUCTIONS] * 10);
	assert_true(reads.enabled_ns > 0 && reads.running_ns > 0);
	nve_pmu_group_close(&g);
	assert_int_equal(count_files(), files);
}

/* A thread that works when it is told to. */
struct worker {
	sem_t go, done;
	_Atomic int tid;
	uint64_t rounds;
};

static void *work_on_demand(void *arg)
{
	struct worker *w = arg;

	w->tid = (int)syscall(SYS_gettid);
	sem_post(&w->done);
	for (;;) {
		sem_wait(&w->go);
		if (!w->rounds)
			return NULL;
		work(w->rounds);
		sem_post(&w->done);
	}
}

static void have_done(struct worker *w, uint64_t rounds)
{
	w->rounds = rounds;
	sem_post(&w->go);
	if (rounds)
		sem_wait(&w->done);
}

static void begin_worker(struct worker *w, pthread_t *thread)
{
	sem_init(&w->go, 0, 0);
	sem_init(&w->done, 0, 0);
	assert_int_equal(pthread_create(thread, NULL, work_on_demand, w), 0);
	sem_wait(&w->done);
}

/* As a monitor reads its thread: that thread's work alone, also when it has ended. */
static void another_thread_is_counted(void **state)
{
	struct worker w = {.rounds = 0};
	struct nve_pmu_group g;
	pthread_t thread;
	uint64_t once;

	(void)state;
	begin_worker(&w, &thread);
	open_both(&g, w.tid);
	instructions(&g);
	have_done(&w, ROUNDS);
	once = instructions(&g);
	assert_true(once > ROUNDS);
	work(5 * ROUNDS);
	assert_true(instructions(&g) < once / 50);
	have_done(&w, 2 * ROUNDS);
	have_done(&w, 0);
	pthread_join(thread, NULL);
	assert_about(instructions(&g), 2 * once);
	assert_int_equal(instructions(&g), 0);
	nve_pmu_group_close(&g);
}

/* While it runs on another core, or waits for this one. */
static void a_running_thread_is_counted(void **state)
{
	struct worker w = {.rounds = 0};
	uint64_t seen = 0, last = 0, deadline;
	struct nve_pmu_group g;
	pthread_t thread;
	unsigned rises = 0;

	(void)state;
	begin_worker(&w, &thread);
	open_both(&g, w.tid);
	w.rounds = 50 * ROUNDS;
	sem_post(&w.go);
	deadline = nve_clock_ns(CLOCK_MONOTONIC) + UINT64_C(60000000000);
	while (sem_trywait(&w.done) && nve_clock_ns(CLOCK_MONOTONIC) < deadline) {
		usleep(2000);
		last = instructions(&g);
		rises += last > 0;
		seen += last;
	}
	seen += instructions(&g);
	assert_true(rises >= 3);
	assert_true(seen > w.rounds);
	have_done(&w, 0);
	pthread_join(thread, NULL);
	nve_pmu_group_close(&g);
}

static void sample_attr(struct perf_event_attr *attr)
{
	nve_pmu_attr_thread(&codes[CYCLES], attr);
	attr->read_format = 0;
	attr->sample_period = PERIOD;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
}

struct sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
};

/* Samples in the ring that are where this thread works. */
static unsigned count_samples(const struct perf_event_mmap_page *page, size_t page_bytes)
{
	const char *data = (const char *)page + page_bytes;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = 0;
	unsigned inside = 0;

	assert_true(head <= RING_PAGES * page_bytes);
	while (at < head) {
		struct sample s;

		memcpy(&s, data + at, sizeof(s));
		assert_true(s.header.size >= sizeof(s.header));
		at += s.header.size;
		if (s.header.type != PERF_RECORD_SAMPLE)
			continue;
		assert_int_equal(s.tid, syscall(SYS_gettid));
		inside += s.ip - (uintptr_t)work < 256;
	}
	return inside;
}

static void samples_fill_the_ring(void **state)
{
	const struct nve_perf *perf = &nve_perf_kernel;
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr;
	void *ring;
	int fd;

	(void)state;
	sample_attr(&attr);
	fd = perf->open(perf->world, &attr, 0, -1, -1);
	/* some virtual PMUs count and cannot interrupt */
	if (fd == -EOPNOTSUPP)
		skip();
	assert_true(fd >= 0);
	assert_int_equal(perf->map(perf->world, fd, (1 + RING_PAGES) * page_bytes, 0, &ring), 0);
	assert_int_equal(perf->enable(perf->world, fd), 0);
	work(2 * ROUNDS);
	assert_true(count_samples(ring, page_bytes) >= 3);
	perf->unmap(perf->world, ring, (1 + RING_PAGES) * page_bytes);
	perf->close(perf->world, fd);
}

/* The provider: the thread's cycles, given as stall time in nanoseconds, fill its epochs. */
static void provider_fills_epochs(void **state)
{
	static struct nve_pmu_plan plan;
	static struct nve_pmu pmu;
	struct nve_pmu_config config = {
		.perf = &nve_perf_kernel,
		.plan = &plan,
		.counts_per_ms = {1000000},
		.weights = {4000, 12000, 120000},
		.epoch_ns = 20000000,
	};
	enum nve_pmu_role refused;
	struct nve_epoch epoch;
	const char *bad;
	int files = count_files();

	(void)state;
	assert_int_equal(nve_pmu_plan_parse("stall=0/0,llc-hit=0/1,miss=0/1", NULL, &plan, &bad),
			 0);
	assert_int_equal(nve_pmu_probe(&nve_perf_kernel, &plan, &refused), 0);
	nve_pmu_setup(&config);
	assert_int_equal(nve_pmu_open(&pmu, (int)syscall(SYS_gettid), false), 0);
	for (int i = 0; i < 3; i++) {
		struct nve_pmu_pending pending = {.cpu_ns = 20000000};

		work(ROUNDS);
		epoch = (struct nve_epoch){.cpu_ns = 20000000, .latency_ps = 120000};
		assert_int_equal(nve_pmu_read(&pmu, pending, false), 0);
		nve_pmu_apply(&pmu, &pending, &epoch);
		/* hits and misses alike: equation 3 with W = 10 takes 10/11 of the cycles */
		assert_in_range(epoch.stall_ns, ROUNDS / 20, 20000000);
		assert_int_equal(epoch.stall_wb_ns, 0);
	}
	assert_int_equal(pmu.sums.epochs, 3);
	assert_int_equal(pmu.sums.reads.unread, 0);
	nve_pmu_close(&pmu);
	assert_int_equal(count_files(), files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_work_is_counted),
		cmocka_unit_test(another_thread_is_counted),
		cmocka_unit_test(a_running_thread_is_counted),
		cmocka_unit_test(samples_fill_the_ring),
		cmocka_unit_test(provider_fills_epochs),
	};
	struct nve_pmu_group g;
	unsigned failed;
	int rc = nve_pmu_group_open(&g, &nve_perf_kernel, &both, 0, &failed);

	if (rc) {
		printf("skipped: no %s to be counted here: %s\n",
		       failed == CYCLES ? "cycles" : "instructions", strerror(-rc));
		return 77;
	}
	nve_pmu_group_close(&g);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
