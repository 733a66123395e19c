/* Each event of a row is tried, as the kernel wants it asked, and nothing is left open. */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "count/pmu/trial.h"
#include "small_sysfs.h"

enum { OPENS_MAX = 64, FIRST_FD = 100 };

static struct {
	struct call {
		struct perf_event_attr attr;
		int tid, cpu, leader;
	} calls[OPENS_MAX];
	int count, open;
	int error;          /* of each call */
	uint64_t forbidden; /* config that is refused; 0: none */
} kernel;

static int open_event(void *world, const struct perf_event_attr *attr, int tid, int cpu, int leader)
{
	assert_ptr_equal(world, &kernel);
	assert_true(kernel.count < OPENS_MAX);
	kernel.calls[kernel.count++] = (struct call){*attr, tid, cpu, leader};
	if (kernel.error)
		return kernel.error;
	if (kernel.forbidden && attr->config == kernel.forbidden)
		return -EINVAL;
	kernel.open++;
	return FIRST_FD + kernel.count;
}

static void close_event(void *world, int fd)
{
	assert_ptr_equal(world, &kernel);
	assert_true(fd > FIRST_FD);
	kernel.open--;
}

static const struct nve_perf perf = {.open = open_event, .close = close_event, .world = &kernel};
static struct nve_pmu_trial trials[NVE_PMU_TRIALS];

static size_t try_model(enum nve_cpu_vendor vendor, unsigned family, unsigned model)
{
	const struct nve_cpu_id id = {.vendor = vendor, .family = family, .model = model};
	struct nve_pmu_kind kinds[NVE_PMU_KINDS];
	size_t count = nve_pmu_kinds_find(&id, small_sysfs, kinds);

	kernel.count = 0;
	count = nve_pmu_try(&perf, kinds, count, small_sysfs, trials);
	assert_true(count <= NVE_PMU_TRIALS);
	assert_int_equal(kernel.open, 0);
	return count;
}

static const struct call *call_of(uint64_t config)
{
	for (int i = 0; i < kernel.count; i++)
		if (kernel.calls[i].attr.config == config)
			return &kernel.calls[i];
	fail_msg("%#llx was not tried", (unsigned long long)config);
	return NULL;
}

static const struct nve_pmu_trial *trial_of(size_t count, const char *what)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(trials[i].what, what))
			return &trials[i];
	fail_msg("no trial of %s", what);
	return NULL;
}

static int begin(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	small_sysfs_make("software");
	return 0;
}

static int end(void **state)
{
	(void)state;
	small_sysfs_remove();
	return 0;
}

static void test_server(void **state)
{
	const struct call *call;
	size_t count;

	(void)state;
	small_sysfs_add("cpu/type", "4\n");
	small_sysfs_add("uncore_imc_1/type", "20\n");
	small_sysfs_add("uncore_imc_1/cpumask", "3,40\n");
	small_sysfs_add("uncore_imc_1/format/event", "config:0-7\n");
	small_sysfs_add("uncore_imc_1/format/umask", "config:8-15\n");
	small_sysfs_add("uncore_imc_1/events/cas_count_write", "event=0x05,umask=0xf1\n");
	count = try_model(NVE_CPU_INTEL, 6, 143);
	assert_int_equal(kernel.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(trials[i].error, 0);

	call = call_of(0x9000947);
	assert_int_equal(call->attr.type, 4);
	assert_true(call->tid == 0 && call->cpu == -1 && call->leader == -1);
	assert_true(call->attr.exclude_kernel && !call->attr.sample_period);
	/* the sampled loads */
	call = call_of(0x20d1);
	assert_true(call->attr.sample_period && call->attr.precise_ip == 2);
	assert_true(call->attr.sample_type & PERF_SAMPLE_ADDR);
	/* published where it is, the row's own where it is not */
	call = call_of(0xf105);
	assert_true(call->attr.type == 20 && call->tid == -1 && call->cpu == 3);
	assert_false(call->attr.exclude_kernel);
	assert_int_equal(call_of(0xcf05)->attr.type, 20);
	assert_string_equal(trial_of(count, "lines written")->event, "cas_count_write");
	assert_string_equal(trial_of(count, "lines read")->event, "event=0x5,umask=0xcf");
	assert_string_equal(trial_of(count, "lines read")->pmu, "uncore_imc");
}

static void test_refused(void **state)
{
	size_t count, refused = 0;

	(void)state;
	small_sysfs_add("cpu/type", "4\n");
	kernel.error = -EACCES;
	count = try_model(NVE_CPU_INTEL, 6, 63);
	assert_true(count > 5);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(trials[i].error, -EACCES);
	kernel.error = 0;
	kernel.forbidden = 0x8d2;
	count = try_model(NVE_CPU_INTEL, 6, 63);
	for (size_t i = 0; i < count; i++)
		refused += trials[i].error == -EINVAL;
	assert_int_equal(refused, 1);
	assert_int_equal(trial_of(count, "last-level cache hits")->error, -EINVAL);
}

/* Without a PMU in sysfs the raw type is tried all the same; IBS has no type without. */
static void test_no_pmu(void **state)
{
	size_t count;

	(void)state;
	kernel.error = -ENOENT;
	count = try_model(NVE_CPU_AMD, 0x1a, 2);
	assert_string_equal(trial_of(count, "stall cycles")->pmu, "raw");
	assert_int_equal(trial_of(count, "stall cycles")->error, -ENOENT);
	assert_int_equal(call_of(0xa2d6)->attr.type, PERF_TYPE_RAW);
	assert_string_equal(trial_of(count, "sampled loads")->pmu, "ibs_op");
	assert_int_equal(trial_of(count, "sampled loads")->error, -ENODEV);
	assert_int_equal(kernel.count, count - 2);
}

static void test_ibs(void **state)
{
	const struct call *call;

	(void)state;
	small_sysfs_add("cpu/type", "4\n");
	small_sysfs_add("ibs_op/type", "11\n");
	try_model(NVE_CPU_AMD, 0x1a, 2);
	call = call_of(0x90000);
	assert_int_equal(call->attr.type, 11);
	assert_false(call->attr.exclude_kernel || call->attr.exclude_hv);
	assert_int_equal(call->attr.sample_period % 16, 0);
}

static void test_hybrid(void **state)
{
	(void)state;
	small_sysfs_add("cpu_core/type", "4\n");
	small_sysfs_add("cpu_atom/type", "10\n");
	try_model(NVE_CPU_INTEL, 6, 151);
	assert_int_equal(call_of(0x9000947)->attr.type, 4);
	assert_int_equal(call_of(0x434)->attr.type, 10);
}

static void test_unknown(void **state)
{
	(void)state;
	assert_int_equal(try_model(NVE_CPU_OTHER, 6, 143), 0);
	assert_int_equal(kernel.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_server, begin, end),
		cmocka_unit_test_setup_teardown(test_refused, begin, end),
		cmocka_unit_test_setup_teardown(test_no_pmu, begin, end),
		cmocka_unit_test_setup_teardown(test_ibs, begin, end),
		cmocka_unit_test_setup_teardown(test_hybrid, begin, end),
		cmocka_unit_test_setup_teardown(test_unknown, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
