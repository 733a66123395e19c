/* The provider on a kernel by script: what becomes of epochs. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/log.h"
#include "count/pmu/pmu.h"
#include "scripted_perf.h"

enum { EPOCH_NS = 20000000, MS = 1000000 };

static struct {
	struct script script;
	struct nve_perf perf;
	struct nve_pmu_plan plan;
	struct nve_pmu pmu;
} f;

static void set_up(struct nve_pmu_config config)
{
	f.perf = script_perf(&f.script);
	config.perf = &f.perf;
	config.plan = &f.plan;
	config.weights = (struct nve_pmu_weights){4000, 12000, 120000};
	config.epoch_ns = EPOCH_NS;
	nve_pmu_setup(&config);
}

/* Stall counts at 2 a nanosecond, hits and misses: equation 3. */
static int begin(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	f.plan.sets = 1;
	f.plan.set[0] = (struct nve_pmu_set){
		.formula = NVE_PMU_FORMULA_L2_RATIO,
		.count = 3,
		.role = {NVE_PMU_STALL, NVE_PMU_LLC_HIT, NVE_PMU_MISS_LOCAL},
		.code = {{.type = 4, .config = {1}},
			 {.type = 4, .config = {2}},
			 {.type = 4, .config = {3}}},
	};
	set_up((struct nve_pmu_config){.counts_per_ms = {2 * MS}});
	return 0;
}

static void plan_read(uint64_t ms, uint64_t stall, uint64_t hits, uint64_t misses)
{
	const uint64_t value[] = {stall, hits, misses};

	script_read(&f.script, ms * MS, ms * MS, 3, value);
}

static struct nve_epoch epoch_of(uint64_t cpu_ns)
{
	return (struct nve_epoch){.cpu_ns = cpu_ns,
				  .stall_ns = 77,
				  .stall_wb_ns = 7,
				  .latency_ps = 150000,
				  .dram_lat_ps = 120000,
				  .dirty_ppm = 250000};
}

static struct nve_epoch settle_one(uint64_t cpu_ns, uint64_t looked_ns)
{
	struct nve_pmu_pending pending = {cpu_ns, looked_ns};
	struct nve_epoch e = epoch_of(cpu_ns);

	assert_int_equal(nve_pmu_read(&f.pmu, pending, false), 0);
	nve_pmu_apply(&f.pmu, &pending, &e);
	assert_int_equal(pending.cpu_ns, 0);
	return e;
}

/* 26 M counts, 10/13 of them misses', at 2 a nanosecond: 10 ms; a quarter of them dirty. */
static void counters_replace_look_ahead(void **state)
{
	struct nve_epoch e;

	(void)state;
	assert_int_equal(nve_pmu_open(&f.pmu, 4711, true), 0);
	assert_true(nve_pmu_is_open(&f.pmu));
	plan_read(20, 26 * MS, 3000, 1000);
	plan_read(40, 26 * MS, 3000, 1000);
	e = settle_one(20 * MS, 0);
	assert_int_equal(e.cpu_ns, 20 * MS);
	assert_int_equal(e.stall_ns, 10 * MS);
	assert_int_equal(e.stall_wb_ns, 2500000);
	/* the rate was measured with misses of DRAM's latency */
	assert_int_equal(e.latency_ps, 120000);
	assert_int_equal(e.dram_lat_ps, 120000);
	/* nothing counted since: no stall */
	e = settle_one(20 * MS, 0);
	assert_int_equal(e.stall_ns + e.stall_wb_ns, 0);
	assert_int_equal(f.pmu.sums.epochs, 2);
	assert_int_equal(f.pmu.sums.ahead_stall_ns, 154);
	assert_int_equal(f.pmu.sums.ahead_stall_wb_ns, 14);
	assert_int_equal(f.pmu.sums.clamps, 0);
	nve_pmu_close(&f.pmu);
	assert_false(nve_pmu_is_open(&f.pmu));
	assert_int_equal(f.script.closes, 3);
}

/* One read for three epochs that wait: each gets its part by its time, and nothing is lost. */
static void several_epochs(void **state)
{
	struct nve_pmu_pending pending = {30 * MS, 0};
	uint64_t cpu[] = {5 * MS, 10 * MS, 15 * MS}, sum = 0;

	(void)state;
	nve_pmu_open(&f.pmu, 4711, true);
	plan_read(30, 26 * MS + 2, 0, 1000);
	assert_int_equal(nve_pmu_read(&f.pmu, pending, false), 0);
	for (int i = 0; i < 3; i++) {
		struct nve_epoch e = epoch_of(cpu[i]);

		nve_pmu_apply(&f.pmu, &pending, &e);
		assert_true(e.stall_ns - (cpu[i] * 13 / 30) <= 1);
		sum += e.stall_ns;
	}
	assert_int_equal(sum, 13 * MS + 1);
	assert_int_equal(f.pmu.sums.reads.reads, 1);
}

/* Read a little late, an epoch of nothing but misses has more stall than time: the next one's. */
static void late_reads(void **state)
{
	(void)state;
	nve_pmu_open(&f.pmu, 4711, true);
	plan_read(21, 42 * MS, 0, 1000);
	plan_read(40, 80 * MS, 0, 2000);
	plan_read(60, 200 * MS, 0, 3000);
	plan_read(80, 200 * MS, 0, 3000);
	plan_read(100, 200 * MS, 0, 3000);
	assert_int_equal(settle_one(20 * MS, 0).stall_ns, 20 * MS);
	assert_int_equal(settle_one(20 * MS, 0).stall_ns, 20 * MS);
	assert_int_equal(f.pmu.sums.clamps, 0);
	/* 60 ms of stall in 20: one epoch of it is carried, the rest is an error, and told */
	assert_int_equal(settle_one(20 * MS, 0).stall_ns, 20 * MS);
	assert_int_equal(f.pmu.sums.clamps, 1);
	assert_int_equal(settle_one(20 * MS, 0).stall_ns, 20 * MS);
	assert_int_equal(settle_one(20 * MS, 0).stall_ns, 0);
}

/* What the handler waited for its own touches is not the program's. */
static void own_touches(void **state)
{
	(void)state;
	nve_pmu_open(&f.pmu, 4711, true);
	plan_read(20, 20 * MS, 0, 1000);
	plan_read(40, 20 * MS + 100, 0, 1001);
	assert_int_equal(settle_one(20 * MS, 200000).stall_ns, 10 * MS - 200000);
	assert_int_equal(f.pmu.sums.looked_ns, 200000);
	/* never below nothing */
	assert_int_equal(settle_one(20 * MS, 200000).stall_ns, 0);
	assert_int_equal(f.pmu.sums.looked_ns, 200050);
}

/* Without figures epochs wait; a read that comes back stands for all of them. */
static void unread_epochs_wait(void **state)
{
	const struct nve_pmu_pending pending = {20 * MS, 0};
	const uint64_t none[3] = {0};

	(void)state;
	nve_pmu_open(&f.pmu, 4711, true);
	script_read(&f.script, 20 * MS, 0, 3, none);
	plan_read(40, 20 * MS, 0, 1000);
	assert_int_equal(nve_pmu_read(&f.pmu, pending, false), -EAGAIN);
	assert_true(nve_pmu_is_open(&f.pmu));
	assert_int_equal(settle_one(40 * MS, 0).stall_ns, 10 * MS);
	assert_int_equal(f.pmu.sums.reads.unread, 1);
}

/* Counters that never run are given up, in the end, and told as uncounted. */
static void counters_given_up(void **state)
{
	const struct nve_pmu_pending pending = {20 * MS, 0};
	const uint64_t none[3] = {0};
	int rc = -EAGAIN, reads = 0;

	(void)state;
	nve_pmu_open(&f.pmu, 4711, true);
	for (int i = 0; i < 20; i++)
		script_read(&f.script, 20 * MS, 0, 3, none);
	for (; rc == -EAGAIN; reads++)
		rc = nve_pmu_read(&f.pmu, pending, false);
	assert_int_equal(rc, -ENODATA);
	assert_true(reads > 1 && reads < 20);
	assert_false(nve_pmu_is_open(&f.pmu));
	assert_int_equal(f.pmu.sums.uncounted, 1);
	assert_int_equal(f.script.closes, 3);
	/* at the end of a thread nothing waits */
	begin(state);
	nve_pmu_open(&f.pmu, 4711, true);
	script_read(&f.script, 20 * MS, 0, 3, none);
	assert_int_equal(nve_pmu_read(&f.pmu, pending, true), -ENODATA);
	assert_false(nve_pmu_is_open(&f.pmu));
}

static void refused_threads(void **state)
{
	static const int errors[] = {EPERM, EACCES, ENOENT, ENODEV, EMFILE, EBUSY, ESRCH};

	for (size_t i = 0; i < NVE_ARRAY_SIZE(errors); i++) {
		begin(state);
		f.script.always = -errors[i];
		assert_int_equal(nve_pmu_open(&f.pmu, 4711, true), -errors[i]);
		assert_false(nve_pmu_is_open(&f.pmu));
		assert_int_equal(f.pmu.sums.uncounted, 1);
		assert_int_equal(f.script.closes, 0);
	}
}

static int open_refused(int error)
{
	f.script.always = -error;
	return nve_pmu_open(&f.pmu, 4711, true);
}

/* What is told of threads that are refused: one line for all of them, and none of those that have
 * ended. */
static void one_line_for_all(void **state)
{
	char said[1024];
	ssize_t length;
	int ends[2], status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		dup2(ends[1], STDERR_FILENO);
		nve_log_setup(NVE_LOG_WARN, NULL);
		open_refused(ESRCH);
		dprintf(ends[1], "|");
		open_refused(EMFILE);
		open_refused(EPERM);
		_exit(0);
	}
	assert_true(child > 0);
	close(ends[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	length = read(ends[0], said, sizeof(said) - 1);
	close(ends[0]);
	assert_true(length > 0);
	said[length] = '\0';
	assert_int_equal(said[0], '|');
	assert_non_null(strstr(said, "could not be opened for some threads"));
	assert_non_null(strstr(said, "no file descriptors left; raise RLIMIT_NOFILE"));
	assert_ptr_equal(strchr(said, '\n'), said + length - 1);
}

/* It is born, its monitor opens, it dies, its monitor reads. */
static void thread_dies_between(void **state)
{
	const struct nve_pmu_pending pending = {20 * MS, 0};

	(void)state;
	nve_pmu_open(&f.pmu, 4711, true);
	script_read_error(&f.script, -ESRCH);
	assert_int_equal(nve_pmu_read(&f.pmu, pending, false), -ESRCH);
	assert_false(nve_pmu_is_open(&f.pmu));
	assert_int_equal(f.script.closes, 3);
}

/* Two groups, one of them off for good: each kind of core adds its part, unscaled. */
static void hybrid(void **state)
{
	const uint64_t first[2][1] = {{30 * MS}, {30 * MS}}, second[2][1] = {{0}, {12 * MS}};
	struct nve_epoch e;

	(void)state;
	f.plan.sets = 2;
	for (int i = 0; i < 2; i++)
		f.plan.set[i] = (struct nve_pmu_set){.formula = NVE_PMU_FORMULA_MEMORY_STALL,
						     .count = 1,
						     .role = {NVE_PMU_STALL},
						     .code = {{.type = 4 + (uint32_t)i}}};
	set_up((struct nve_pmu_config){.counts_per_ms = {3 * MS, 2 * MS}});
	assert_int_equal(nve_pmu_open(&f.pmu, 4711, true), 0);
	assert_int_equal(f.script.open[1].leader, -1);
	for (int i = 0; i < 2; i++) {
		script_read(&f.script, (20 + 20 * (uint64_t)i) * MS, 10 * MS, 1, first[i]);
		script_read(&f.script, (20 + 20 * (uint64_t)i) * MS, 10 * MS, 1, second[i]);
	}
	assert_int_equal(settle_one(20 * MS, 0).stall_ns, 10 * MS);
	e = settle_one(20 * MS, 0);
	assert_int_equal(e.stall_ns, 6 * MS);
	assert_int_equal(f.pmu.sums.reads.unread, 0);
}

/* No events for stalls: they stay look-ahead's, the dirty fraction is the socket's all the same. */
static void dirty_fraction_alone(void **state)
{
	static const uint64_t counts[][1] = {{100}, {1000}, {150}, {1100}};
	struct nve_epoch e;

	(void)state;
	f.plan.sets = 0;
	f.plan.boxes = 2;
	f.plan.box[0] = (struct nve_pmu_box_event){.code = {.type = 20}, .written = true};
	f.plan.box[1] = (struct nve_pmu_box_event){.code = {.type = 20}};
	set_up((struct nve_pmu_config){.uncore = true});
	assert_int_equal(nve_pmu_open(&f.pmu, 4711, true), 0);
	assert_true(nve_pmu_is_open(&f.pmu));
	assert_int_equal(f.script.opens, 0);
	for (int i = 0; i < 4; i++)
		script_read(&f.script, 20 * MS, 20 * MS, 1, counts[i]);
	/* nothing is known yet */
	e = settle_one(20 * MS, 5);
	assert_int_equal(e.stall_ns, 77);
	assert_int_equal(e.stall_wb_ns, 77 / 4);
	usleep(EPOCH_NS / 1000);
	e = settle_one(20 * MS, 5);
	assert_int_equal(e.stall_ns, 77);
	assert_int_equal(e.stall_wb_ns, 77 / 2);
	assert_int_equal(e.latency_ps, 150000);
	assert_int_equal(f.pmu.sums.epochs + f.pmu.sums.looked_ns + f.pmu.sums.clamps, 0);
	assert_int_equal(atomic_load(&f.pmu.loads.counted_ns), 154);
	nve_pmu_close(&f.pmu);
	assert_int_equal(f.script.opens, f.script.closes);
}

/* Nor for the dirty fraction: both stay what they are, and sampled loads share out what they are.
 */
static void addresses_alone(void **state)
{
	struct nve_epoch e;

	(void)state;
	f.plan.sets = 0;
	set_up((struct nve_pmu_config){.loads = true});
	assert_int_equal(nve_pmu_open(&f.pmu, 4711, true), 0);
	e = settle_one(20 * MS, 5);
	assert_true(e.stall_ns == 77 && e.stall_wb_ns == 7 && e.latency_ps == 150000);
	assert_int_equal(atomic_load(&f.pmu.loads.counted_ns), 77);
	assert_int_equal(atomic_load(&f.pmu.loads.counted_wb_ns), 7);
}

/* A load event that waits for walks, too, keeps the latency that the program sees. */
static void latency_of_loads(void **state)
{
	(void)state;
	f.plan.set[0].formula = NVE_PMU_FORMULA_LOAD_RATIO;
	nve_pmu_open(&f.pmu, 4711, true);
	plan_read(20, 0, 0, 0);
	assert_int_equal(settle_one(20 * MS, 0).latency_ps, 150000);
}

/* The socket's fraction, once it is known, instead of look-ahead's. */
static void socket_wide(void **state)
{
	const uint64_t all[] = {1000, 3000}, written[] = {100, 1100}, none = 0;

	(void)state;
	f.plan.boxes = 2;
	f.plan.box[0].cpu = 3;
	f.plan.box[1] = (struct nve_pmu_box_event){.cpu = 3, .written = true};
	set_up((struct nve_pmu_config){.counts_per_ms = {2 * MS}, .uncore = true});
	nve_pmu_open(&f.pmu, 4711, true);
	plan_read(20, 40 * MS, 0, 1000);
	script_read(&f.script, MS, MS, 1, &all[0]);
	script_read(&f.script, MS, MS, 1, &written[0]);
	/* opened just now, it tells nothing yet */
	assert_int_equal(settle_one(20 * MS, 0).stall_wb_ns, 5 * MS);
	assert_int_equal(f.script.open[3].cpu, 3);
	assert_int_equal(f.script.open[3].tid, -1);
	assert_int_equal(f.script.open[3].attr.exclude_kernel, 0);
	/* too soon for another read of the sockets */
	plan_read(40, 80 * MS, 0, 2000);
	assert_int_equal(settle_one(20 * MS, 0).stall_wb_ns, 5 * MS);
	(void)none;
	nve_pmu_close(&f.pmu);
	assert_int_equal(f.script.closes, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* before anybody else is refused */
		cmocka_unit_test_setup(one_line_for_all, begin),
		cmocka_unit_test_setup(counters_replace_look_ahead, begin),
		cmocka_unit_test_setup(several_epochs, begin),
		cmocka_unit_test_setup(late_reads, begin),
		cmocka_unit_test_setup(own_touches, begin),
		cmocka_unit_test_setup(unread_epochs_wait, begin),
		cmocka_unit_test_setup(counters_given_up, begin),
		cmocka_unit_test_setup(refused_threads, begin),
		cmocka_unit_test_setup(thread_dies_between, begin),
		cmocka_unit_test_setup(hybrid, begin),
		cmocka_unit_test_setup(dirty_fraction_alone, begin),
		cmocka_unit_test_setup(addresses_alone, begin),
		cmocka_unit_test_setup(latency_of_loads, begin),
		cmocka_unit_test_setup(socket_wide, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
