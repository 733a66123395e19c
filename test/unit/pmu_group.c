/* Groups of events on a kernel by script: opening, refusals, reading, multiplexing, wraps. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "count/pmu/group.h"
#include "scripted_perf.h"

static const struct nve_pmu_code codes[3] = {
	{.type = 4, .config = {0x50005a3}},
	{.type = 4, .config = {0x8d2}},
	{.type = 4, .config = {0x1b7, 0x3fffc003f7}},
};
static const struct nve_pmu_group_plan plan = {.codes = codes, .count = 3};

struct fixture {
	struct script script;
	struct nve_perf perf;
	struct nve_pmu_group group;
	struct nve_pmu_reads reads;
	uint64_t delta[NVE_PMU_GROUP_EVENTS];
};

static struct fixture f;

static int open_all(unsigned *failed)
{
	return nve_pmu_group_open(&f.group, &f.perf, &plan, 4711, failed);
}

static int begin(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	f.perf = script_perf(&f.script);
	return 0;
}

static void plan_read(uint64_t enabled, uint64_t running, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t value[] = {a, b, c};

	script_read(&f.script, enabled, running, 3, value);
}

static int read_next(void)
{
	return nve_pmu_group_read(&f.group, true, &f.reads, f.delta);
}

static void opens_a_group(void **state)
{
	unsigned failed;

	(void)state;
	assert_int_equal(open_all(&failed), 0);
	assert_int_equal(f.script.opens, 3);
	assert_int_equal(f.script.enables, 1);
	for (int i = 0; i < 3; i++) {
		const struct script_open *o = &f.script.open[i];

		assert_int_equal(o->tid, 4711);
		assert_int_equal(o->cpu, -1);
		assert_int_equal(o->leader, i ? 100 : -1);
		assert_int_equal(o->attr.disabled, i == 0);
		assert_int_equal(o->attr.exclude_kernel, 1);
		assert_int_equal(o->attr.inherit, 0);
		assert_true(o->attr.config == codes[i].config[0]);
		assert_true(o->attr.config1 == codes[i].config[1]);
		assert_int_equal(o->attr.read_format, PERF_FORMAT_GROUP |
							      PERF_FORMAT_TOTAL_TIME_ENABLED |
							      PERF_FORMAT_TOTAL_TIME_RUNNING);
	}
	nve_pmu_group_close(&f.group);
	assert_int_equal(f.script.closes, 3);
	nve_pmu_group_close(&f.group);
	assert_int_equal(f.script.closes, 3);
}

/* Whatever the error and wherever it comes, nothing stays open, and the event is named. */
static void refusals(void **state)
{
	static const int errors[] = {EPERM, EACCES, ENOENT, ENODEV,     EMFILE, ENFILE, EBUSY,
				     ESRCH, EINVAL, ENOSYS, EOPNOTSUPP, ENOSPC, ENOMEM};
	unsigned failed;

	for (size_t e = 0; e < NVE_ARRAY_SIZE(errors); e++) {
		for (unsigned at = 0; at < 3; at++) {
			begin(state);
			f.script.open_error[at] = -errors[e];
			assert_int_equal(open_all(&failed), -errors[e]);
			assert_int_equal(failed, at);
			assert_int_equal(f.script.closes, at);
			assert_int_equal(f.script.enables, 0);
			assert_int_equal(read_next(), -EBADF);
		}
	}
	begin(state);
	f.script.enable_error = -ESRCH;
	assert_int_equal(open_all(&failed), -ESRCH);
	assert_int_equal(f.script.closes, 3);
}

/* These descriptors cannot be moved, and are not left among the program's. */
static void no_room_up_there(void **state)
{
	const struct nve_pmu_group_plan away = {.codes = codes, .count = 3, .away_from_low = true};
	unsigned failed;

	(void)state;
	assert_int_equal(nve_pmu_group_open(&f.group, &f.perf, &away, 4711, &failed), -EMFILE);
	assert_int_equal(f.script.opens, 1);
	assert_int_equal(f.script.closes, 1);
}

static void one_call_a_read(void **state)
{
	unsigned failed;

	(void)state;
	assert_int_equal(open_all(&failed), 0);
	plan_read(1000, 1000, 10, 20, 30);
	plan_read(3000, 3000, 15, 20, 130);
	assert_int_equal(read_next(), 0);
	assert_int_equal(f.script.read_fd, 100);
	assert_int_equal(f.delta[0], 10);
	assert_int_equal(f.delta[2], 30);
	assert_int_equal(read_next(), 0);
	assert_int_equal(f.delta[0], 5);
	assert_int_equal(f.delta[1], 0);
	assert_int_equal(f.delta[2], 100);
	assert_int_equal(f.script.reads, 2);
	assert_int_equal(f.reads.reads, 2);
	assert_int_equal(f.reads.enabled_ns, 3000);
	assert_int_equal(f.reads.running_ns, 3000);
}

/* On the counters for 30 % of the time: three tenths were seen. */
static void multiplexing(void **state)
{
	unsigned failed;

	(void)state;
	assert_int_equal(open_all(&failed), 0);
	plan_read(20000000, 6000000, 300, 3000, 3);
	plan_read(40000000, 26000000, 400, 3000, 3);
	assert_int_equal(read_next(), 0);
	assert_int_equal(f.delta[0], 1000);
	assert_int_equal(f.delta[1], 10000);
	assert_int_equal(f.delta[2], 10);
	/* the second epoch is scaled by its own share, not by the sums' */
	assert_int_equal(read_next(), 0);
	assert_int_equal(f.delta[0], 100);
	assert_int_equal(f.reads.running_ns, 26000000);
	assert_int_equal(f.reads.enabled_ns, 40000000);
	assert_int_equal(f.reads.unread, 0);
}

/* Off the counters for a whole epoch: no figure, and the next read stands for that time too. */
static void never_on_the_counters(void **state)
{
	unsigned failed;

	(void)state;
	assert_int_equal(open_all(&failed), 0);
	plan_read(1000, 0, 0, 0, 0);
	plan_read(2000, 1000, 50, 0, 0);
	plan_read(3000, 1000, 50, 0, 0);
	plan_read(4000, 2000, 60, 0, 0);
	assert_int_equal(read_next(), -ENODATA);
	assert_int_equal(read_next(), 0);
	assert_int_equal(f.delta[0], 100);
	assert_int_equal(read_next(), -ENODATA);
	assert_int_equal(read_next(), 0);
	assert_int_equal(f.delta[0], 20);
	assert_int_equal(f.reads.unread, 2);
	/* on a hybrid machine the other kind of core has the rest of the time */
	plan_read(9000, 2000, 60, 0, 0);
	plan_read(10000, 2500, 70, 0, 0);
	assert_int_equal(nve_pmu_group_read(&f.group, false, &f.reads, f.delta), 0);
	assert_int_equal(f.delta[0], 0);
	assert_int_equal(nve_pmu_group_read(&f.group, false, &f.reads, f.delta), 0);
	assert_int_equal(f.delta[0], 10);
}

static void wrap_and_backwards(void **state)
{
	const uint64_t top = (UINT64_C(1) << 48) - 1000;
	unsigned failed;

	(void)state;
	assert_int_equal(open_all(&failed), 0);
	plan_read(1000, 1000, top, 5000, 7);
	plan_read(2000, 2000, 500, 4000, 8);
	plan_read(3000, 3000, 600, 4010, 9);
	assert_int_equal(read_next(), 0);
	assert_int_equal(read_next(), 0);
	assert_int_equal(f.delta[0], 1500);
	assert_int_equal(f.delta[1], 0);
	assert_int_equal(f.delta[2], 1);
	assert_int_equal(f.reads.wraps, 1);
	assert_int_equal(f.reads.backwards, 1);
	/* from there on it goes on */
	assert_int_equal(read_next(), 0);
	assert_int_equal(f.delta[0], 100);
	assert_int_equal(f.delta[1], 10);
	assert_int_equal(f.reads.wraps + f.reads.backwards, 2);
}

/* Three days of nanoseconds are more than 48 bits: times are 64 bits wide. */
static void long_times(void **state)
{
	const uint64_t year = 365ull * 24 * 3600 * 1000000000;
	unsigned failed;

	(void)state;
	assert_int_equal(open_all(&failed), 0);
	plan_read(year, year / 2, UINT64_C(1) << 62, 0, 0);
	assert_int_equal(read_next(), 0);
	assert_true(f.delta[0] == UINT64_C(1) << 63);
	assert_int_equal(f.reads.wraps + f.reads.backwards, 0);
	/* what no number holds is the largest */
	plan_read(2 * year, year / 2 + 1, UINT64_MAX, 0, 0);
	assert_int_equal(read_next(), 0);
	assert_true(f.delta[0] == UINT64_MAX);
}

/* A thread that has died, an event in error, an answer too short: no figure, and no false zero. */
static void no_answer(void **state)
{
	const uint64_t two[] = {1, 2};
	unsigned failed;

	(void)state;
	assert_int_equal(open_all(&failed), 0);
	script_read_error(&f.script, -ESRCH);
	script_read_nothing(&f.script);
	script_read(&f.script, 1000, 1000, 2, two);
	plan_read(1000, 1000, 1, 2, 3);
	assert_int_equal(read_next(), -ESRCH);
	assert_int_equal(read_next(), -ENODATA);
	assert_int_equal(read_next(), -ENODATA);
	assert_int_equal(f.reads.unread, 3);
	assert_int_equal(read_next(), 0);
	assert_int_equal(f.delta[2], 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(opens_a_group, begin),
		cmocka_unit_test_setup(refusals, begin),
		cmocka_unit_test_setup(no_room_up_there, begin),
		cmocka_unit_test_setup(one_call_a_read, begin),
		cmocka_unit_test_setup(multiplexing, begin),
		cmocka_unit_test_setup(never_on_the_counters, begin),
		cmocka_unit_test_setup(wrap_and_backwards, begin),
		cmocka_unit_test_setup(long_times, begin),
		cmocka_unit_test_setup(no_answer, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
