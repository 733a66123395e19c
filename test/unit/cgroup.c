/* The CPU time that control groups allow, of both versions. */
#include "unit.h"

#include <stdbool.h>

#include "cgroup.h"
#include "small_sysfs.h"

static int begin(void **state)
{
	(void)state;
	small_sysfs_make("x");
	return 0;
}

static int end(void **state)
{
	(void)state;
	small_sysfs_remove();
	return 0;
}

static void test_none(void **state)
{
	(void)state;
	assert_int_equal(cli_cgroup_quota_milli("", small_sysfs), 0);
	assert_int_equal(cli_cgroup_quota_milli("0::/\n", small_sysfs), 0);
	assert_int_equal(cli_cgroup_quota_milli("nonsense\n:\n0:\n::\n", small_sysfs), 0);
	assert_int_equal(cli_cgroup_quota_milli("0::/a\n", "/nonexistent"), 0);
}

static void test_unified(void **state)
{
	(void)state;
	small_sysfs_add("a/cpu.max", "150000 100000\n");
	small_sysfs_add("a/b/cpu.max", "max 100000\n");
	small_sysfs_add("a/b/c/cpu.max", "200000 100000\n");
	assert_int_equal(cli_cgroup_quota_milli("0::/a\n", small_sysfs), 1500);
	assert_int_equal(cli_cgroup_quota_milli("0::/a/b\n", small_sysfs), 1500);
	/* an upper group's limit is tighter */
	assert_int_equal(cli_cgroup_quota_milli("1:name=x:/\n0::/a/b/c", small_sysfs), 1500);
	assert_int_equal(cli_cgroup_quota_milli("0::/elsewhere\n", small_sysfs), 0);
	small_sysfs_add("cpu.max", "50000 100000\n");
	assert_int_equal(cli_cgroup_quota_milli("0::/a/b/c\n", small_sysfs), 500);
}

static void test_root_of_a_namespace(void **state)
{
	(void)state;
	small_sysfs_add("cpu.max", "50000 100000\n");
	assert_int_equal(cli_cgroup_quota_milli("0::/\n", small_sysfs), 500);
}

static void test_version_1(void **state)
{
	(void)state;
	small_sysfs_add("cpu/g/cpu.cfs_quota_us", "25000\n");
	small_sysfs_add("cpu/g/cpu.cfs_period_us", "100000\n");
	small_sysfs_add("cpu/h/cpu.cfs_quota_us", "-1\n");
	small_sysfs_add("cpu/h/cpu.cfs_period_us", "100000\n");
	assert_int_equal(cli_cgroup_quota_milli("4:cpu,cpuacct:/g\n", small_sysfs), 250);
	assert_int_equal(cli_cgroup_quota_milli("4:cpu:/h\n", small_sysfs), 0);
	assert_int_equal(cli_cgroup_quota_milli("4:cpuacct:/g\n3:cpuset:/g\n", small_sysfs), 0);
}

static void test_damaged(void **state)
{
	(void)state;
	small_sysfs_add("a/cpu.max", "150000\n");
	small_sysfs_add("b/cpu.max", "100 0\n");
	small_sysfs_add("c/cpu.max", "1 100000\n");
	assert_int_equal(cli_cgroup_quota_milli("0::/a\n", small_sysfs), 0);
	assert_int_equal(cli_cgroup_quota_milli("0::/b\n", small_sysfs), 0);
	/* less than a thousandth is a limit still */
	assert_int_equal(cli_cgroup_quota_milli("0::/c\n", small_sysfs), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_none, begin, end),
		cmocka_unit_test_setup_teardown(test_unified, begin, end),
		cmocka_unit_test_setup_teardown(test_root_of_a_namespace, begin, end),
		cmocka_unit_test_setup_teardown(test_version_1, begin, end),
		cmocka_unit_test_setup_teardown(test_damaged, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
