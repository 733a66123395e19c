/* Socket-wide events: who keeps the set, when it is read, and what the fraction is. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "count/pmu/uncore.h"
#include "scripted_perf.h"

enum { EPOCH_NS = 20000000 };

static struct {
	struct script script;
	struct nve_perf perf;
	struct nve_pmu_plan plan;
	struct nve_uncore uncore;
	struct nve_uncore_set set[2];
	uint64_t now_ns;
} f;

/* Two sockets with a box each, each with its pair of events. */
static int begin(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	f.perf = script_perf(&f.script);
	f.plan.boxes = 4;
	for (int i = 0; i < 4; i++)
		f.plan.box[i] = (struct nve_pmu_box_event){
			.code = {.type = 20, .config = {i % 2 ? 0xc04 : 0x304}},
			.cpu = i / 2 * 16,
			.written = i % 2};
	f.now_ns = 1000000000;
	nve_uncore_init(&f.uncore, &f.perf, &f.plan, EPOCH_NS);
	return 0;
}

static void plan_boxes(uint64_t all0, uint64_t written0, uint64_t all1, uint64_t written1)
{
	const uint64_t value[] = {all0, written0, all1, written1};

	for (int i = 0; i < 4; i++)
		script_read(&f.script, f.now_ns, f.now_ns, 1, &value[i]);
}

static int32_t ask(int who)
{
	return nve_uncore_dirty_ppm(&f.uncore, &f.set[who], f.now_ns);
}

static void wait_epochs(int halves)
{
	f.now_ns += (uint64_t)halves * EPOCH_NS / 2;
}

/* 400 + 600 fetched, 100 + 200 written back since the first look: 30 %. */
static void sums_over_sockets(void **state)
{
	(void)state;
	plan_boxes(1000, 500, 7000, 6000);
	assert_int_equal(ask(0), -1);
	assert_int_equal(f.script.opens, 4);
	assert_int_equal(f.script.open[0].cpu, 0);
	assert_int_equal(f.script.open[3].cpu, 16);
	assert_int_equal(f.script.open[3].tid, -1);
	assert_int_equal(f.script.open[3].attr.exclude_kernel, 0);
	wait_epochs(2);
	plan_boxes(1400, 600, 7600, 6200);
	assert_int_equal(ask(0), 300000);
	/* others ask at the same time: one read is enough for all */
	assert_int_equal(ask(1), 300000);
	assert_int_equal(ask(0), 300000);
	assert_int_equal(f.script.reads, 8);
	assert_int_equal(f.uncore.reads, 1);
	/* nothing has been fetched since: the old figure stands */
	wait_epochs(2);
	plan_boxes(1400, 600, 7600, 6200);
	assert_int_equal(ask(0), 300000);
	nve_uncore_leave(&f.uncore, &f.set[0]);
	assert_int_equal(f.script.closes, 4);
}

static void more_written_than_fetched(void **state)
{
	(void)state;
	plan_boxes(0, 0, 0, 0);
	ask(0);
	wait_epochs(2);
	plan_boxes(100, 150, 0, 0);
	assert_int_equal(ask(0), 1000000);
	assert_int_equal(f.uncore.clamps, 1);
	/* written back, and nothing fetched: not known */
	wait_epochs(2);
	plan_boxes(100, 250, 0, 0);
	assert_int_equal(ask(0), 1000000);
	assert_int_equal(f.uncore.clamps, 1);
	wait_epochs(2);
	plan_boxes(300, 250, 0, 0);
	assert_int_equal(ask(0), 0);
	nve_uncore_leave(&f.uncore, &f.set[0]);
}

/* Counts that step back, by a little of scaling or by others' reset, tell nothing; the next do. */
static void stepped_back(void **state)
{
	(void)state;
	plan_boxes(1000, 500, 0, 0);
	ask(0);
	wait_epochs(2);
	plan_boxes(1100, 520, 0, 0);
	assert_int_equal(ask(0), 200000);
	wait_epochs(2);
	plan_boxes(1200, 510, 0, 0);
	assert_int_equal(ask(0), 200000);
	wait_epochs(2);
	plan_boxes(1100, 520, 0, 0);
	assert_int_equal(ask(0), 200000);
	assert_int_equal(f.uncore.reads, 1);
	assert_int_equal(f.uncore.clamps, 0);
	wait_epochs(2);
	plan_boxes(1200, 550, 0, 0);
	assert_int_equal(ask(0), 300000);
	nve_uncore_leave(&f.uncore, &f.set[0]);
}

/* The keeper's thread sleeps: another opens a set of its own, and the first one closes its own. */
static void keeper_sleeps(void **state)
{
	(void)state;
	plan_boxes(0, 0, 0, 0);
	ask(0);
	wait_epochs(2);
	plan_boxes(100, 50, 0, 0);
	assert_int_equal(ask(0), 500000);
	wait_epochs(4);
	assert_int_equal(ask(1), 500000); /* not stale yet */
	assert_int_equal(f.script.opens, 4);
	wait_epochs(4);
	plan_boxes(1100, 50, 0, 0);
	assert_int_equal(ask(1), 500000);
	assert_int_equal(f.script.opens, 8);
	wait_epochs(2);
	plan_boxes(1200, 150, 0, 0);
	assert_int_equal(ask(1), 1000000);
	/* it wakes up */
	assert_int_equal(ask(0), 1000000);
	assert_int_equal(f.script.closes, 4);
	assert_int_equal(f.set[0].number, 0);
	/* the new one leaves: the next to ask is the keeper at once */
	nve_uncore_leave(&f.uncore, &f.set[1]);
	assert_int_equal(f.script.closes, 8);
	plan_boxes(1200, 150, 0, 0);
	assert_int_equal(ask(0), 1000000);
	assert_int_equal(f.script.opens, 12);
	nve_uncore_leave(&f.uncore, &f.set[0]);
	/* one that keeps nothing has nothing to leave */
	nve_uncore_leave(&f.uncore, &f.set[0]);
	assert_int_equal(f.script.closes, 12);
}

/* No descriptors, no right: nothing stays open, nothing is known, and it is not tried each time. */
static void refused(void **state)
{
	(void)state;
	f.script.open_error[2] = -EMFILE;
	assert_int_equal(ask(0), -1);
	assert_int_equal(f.script.opens, 3);
	assert_int_equal(f.script.closes, 2);
	assert_int_equal(ask(0), -1);
	assert_int_equal(f.script.opens, 3);
	assert_int_equal(f.uncore.failures, 1);
	wait_epochs(6);
	plan_boxes(0, 0, 0, 0);
	assert_int_equal(ask(1), -1);
	assert_int_equal(f.script.opens, 7);
	nve_uncore_leave(&f.uncore, &f.set[1]);
	begin(state);
	f.script.always = -EACCES;
	assert_int_equal(nve_uncore_probe(&f.perf, &f.plan), -EACCES);
	f.script.always = 0;
	assert_int_equal(nve_uncore_probe(&f.perf, &f.plan), 0);
	assert_int_equal(f.script.closes, 1);
	f.plan.boxes = 0;
	assert_int_equal(nve_uncore_probe(&f.perf, &f.plan), -ENOENT);
}

static void reads_that_fail(void **state)
{
	const uint64_t value = 5;

	(void)state;
	plan_boxes(0, 0, 0, 0);
	ask(0);
	wait_epochs(2);
	script_read_error(&f.script, -EIO);
	assert_int_equal(ask(0), -1);
	assert_int_equal(f.uncore.failures, 1);
	/* a box that never ran */
	wait_epochs(2);
	script_read(&f.script, 1000, 0, 1, &value);
	assert_int_equal(ask(0), -1);
	assert_int_equal(f.uncore.failures, 2);
	/* a box that ran half of the time, the others all of it */
	wait_epochs(2);
	{
		const uint64_t all = 50, written = 30, none = 0;

		script_read(&f.script, 1000, 500, 1, &all);
		script_read(&f.script, 1000, 1000, 1, &written);
		script_read(&f.script, 1000, 1000, 1, &none);
		script_read(&f.script, 1000, 1000, 1, &none);
	}
	assert_int_equal(ask(0), 300000);
	nve_uncore_leave(&f.uncore, &f.set[0]);
}

static void forked_child(void **state)
{
	(void)state;
	plan_boxes(0, 0, 0, 0);
	ask(0);
	nve_uncore_after_fork(&f.uncore);
	plan_boxes(0, 0, 0, 0);
	ask(1);
	assert_int_equal(f.script.opens, 8);
	nve_uncore_leave(&f.uncore, &f.set[0]);
	nve_uncore_leave(&f.uncore, &f.set[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(sums_over_sockets, begin),
		cmocka_unit_test_setup(more_written_than_fetched, begin),
		cmocka_unit_test_setup(stepped_back, begin),
		cmocka_unit_test_setup(keeper_sleeps, begin),
		cmocka_unit_test_setup(refused, begin),
		cmocka_unit_test_setup(reads_that_fail, begin),
		cmocka_unit_test_setup(forked_child, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
