#include "unit.h"

#include <stdbool.h>
#include <string.h>

#include "count/ahead/ahead.h"

static void guard_is_not_needed(bool begin)
{
	(void)begin;
	fail();
}

static void says_why(void **state)
{
	(void)state;
	assert_non_null(nve_ahead_why_not());
	assert_non_null(strstr(nve_ahead_why_not(), "x86-64"));
}

/* All of the program's time is in some epoch, and none of it is stall time. */
static void keeps_time_alone(void **state)
{
	struct nve_calibration calibration = {.dram_lat_ps = 123000};
	struct nve_epoch epoch;
	struct nve_ahead *a;

	(void)state;
	assert_int_equal(nve_ahead_setup(&calibration, 0, 10000, 0, 0), 0);
	a = nve_ahead_new();
	assert_non_null(a);
	assert_int_equal(
		nve_ahead_sample(a, NULL, 4000000, (struct nve_ahead_tick){0}, guard_is_not_needed),
		0);
	assert_int_equal(nve_ahead_sample(a, NULL, 5000000,
					  (struct nve_ahead_tick){.in_kernel = true},
					  guard_is_not_needed),
			 0);
	nve_ahead_charge(a, 1000);
	nve_ahead_epoch(a, 0, &epoch);
	assert_int_equal(epoch.cpu_ns, 9000000);
	assert_int_equal(epoch.stall_ns, 0);
	assert_int_equal(epoch.stall_wb_ns, 0);
	assert_int_equal(epoch.latency_ps, 123000);
	assert_int_equal(epoch.dram_lat_ps, 123000);
	nve_ahead_epoch(a, 700, &epoch);
	assert_int_equal(epoch.cpu_ns, 700);
	assert_int_equal(nve_ahead_counts(a)->samples, 2);
	assert_int_equal(nve_ahead_counts(a)->samples_user, 1);
	assert_int_equal(nve_ahead_counts(a)->samples_kernel, 1);
	nve_ahead_delete(a);
}

static void given_latency_stands_in(void **state)
{
	struct nve_calibration calibration = {.dram_lat_ps = 123000};
	struct nve_epoch epoch;
	struct nve_ahead *a;

	(void)state;
	assert_int_equal(nve_ahead_setup(&calibration, 99000, 10000, 0, 0), 0);
	a = nve_ahead_new();
	assert_non_null(a);
	nve_ahead_epoch(a, 1, &epoch);
	assert_int_equal(epoch.dram_lat_ps, 99000);
	nve_ahead_delete(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_why),
		cmocka_unit_test(keeps_time_alone),
		cmocka_unit_test(given_latency_stands_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
