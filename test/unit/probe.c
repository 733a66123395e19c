/* The probe of DRAM's latency: nothing before it is set up, readings afterwards. */
#include "unit.h"

#include <stdint.h>

#include "count/ahead/probe.h"

enum { LINES = 32, THEN_TICKS = 300 };

static void goes_without_until_set_up(void **state)
{
	uint64_t ticks = 0;

	(void)state;
	nve_probe_start_mean(THEN_TICKS);
	assert_false(nve_probe_is_set_up());
	assert_int_equal(nve_probe_read(LINES, UINT64_MAX, &ticks), 0);
	nve_probe_go_on(UINT64_MAX);
	assert_int_equal(ticks, 0);
	assert_true(nve_probe_mean() == THEN_TICKS);
	/* A child whose parent had not begun can begin. */
	nve_probe_after_fork();
}

static void reads_once_set_up(void **state)
{
	uint64_t ticks = 0;

	(void)state;
	assert_int_equal(nve_probe_setup(), 0);
	assert_true(nve_probe_is_set_up());
	assert_int_equal(nve_probe_setup(), 0);
	nve_probe_after_fork();
	assert_true(nve_probe_is_set_up());
	assert_int_equal(nve_probe_read(LINES, UINT64_MAX, &ticks), LINES);
	assert_true(ticks > 0);
	ticks = 0;
	/* Nothing is as fast as that. */
	assert_int_equal(nve_probe_read(LINES, 0, &ticks), 0);
	assert_int_equal(ticks, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_without_until_set_up),
		cmocka_unit_test(reads_once_set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
