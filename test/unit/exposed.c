/* What windows say of work in the shadow of misses. */
#include "unit.h"

#include "count/ahead/exposed.h"

static struct nve_window_result window(float real, float resident, float waited, float far)
{
	return (struct nve_window_result){.real_cycles = real,
					  .resident_cycles = resident,
					  .waited_cycles = waited,
					  .waited_far_cycles = far};
}

static void gains_over_waits(void **state)
{
	struct nve_window_result r = window(1000, 600, 500, 300), rare = window(1000, 100, 10, 0);
	struct nve_exposed e = {0};

	(void)state;
	assert_float_equal((float)nve_exposed(&e), 1, 0);
	nve_exposed_window(&e, &rare); /* misses hold up hardly anything: it tells nothing */
	assert_float_equal((float)nve_exposed(&e), 1, 0);
	nve_exposed_window(&e, &r);
	assert_float_equal((float)nve_exposed(&e), (float)0.5, (float)1e-6);
}

static void stays_in_range_and_fades(void **state)
{
	struct nve_window_result all = window(1e5f, 0, 5e4f, 0), none = window(1e5f, 2e5f, 1e5f, 0);
	struct nve_exposed e = {0};

	(void)state;
	nve_exposed_window(&e, &all);
	assert_float_equal((float)nve_exposed(&e), 1, 0);
	for (int i = 0; i < 100; i++)
		nve_exposed_window(&e, &none);
	assert_float_equal((float)nve_exposed(&e), 0, 0);
	all = window(1e5f, 2e4f, 8e4f, 0);
	for (int i = 0; i < 100; i++)
		nve_exposed_window(&e, &all);
	assert_float_equal((float)nve_exposed(&e), (float)1, (float)0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gains_over_waits),
		cmocka_unit_test(stays_in_range_and_fades),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
