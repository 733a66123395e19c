#include "unit.h"

#include "base/clock.h"

static void conversions_are_exact(void **state)
{
	const uint64_t khz = 2445404, day_ns = UINT64_C(86400000000000);

	(void)state;
	assert_int_equal(nve_tsc_to_ns(2445404, khz), 1000000);
	assert_int_equal(nve_ns_to_tsc(1000000, khz), 2445404);
	assert_int_equal(nve_tsc_to_ns(0, khz), 0);
	for (uint64_t ns = 1; ns < 200 * day_ns; ns = ns * 3 + 1) {
		uint64_t back = nve_tsc_to_ns(nve_ns_to_tsc(ns, khz), khz);

		assert_true(back == ns || back + 1 == ns);
	}
}

static void rate_agrees_with_itself(void **state)
{
	uint64_t first = nve_clock_tsc_khz(20000000), second = nve_clock_tsc_khz(20000000);
	uint64_t apart = first > second ? first - second : second - first;

	(void)state;
	assert_in_range(first, NVE_ARCH_TICKS_KHZ_MIN, 10000000);
	assert_true(apart < first / 500);
	assert_in_range(nve_clock_tsc_khz(0), first - first / 20, first + first / 20);
}

static void rate_waits_as_long_as_told(void **state)
{
	uint64_t start = nve_clock_ns(CLOCK_MONOTONIC_RAW);

	(void)state;
	nve_clock_tsc_khz(5000000);
	assert_true(nve_clock_ns(CLOCK_MONOTONIC_RAW) - start >= 5000000);
}

static void spin_reaches_its_deadline(void **state)
{
	uint64_t deadline = nve_tsc() + 1000000;

	(void)state;
	nve_spin_until(deadline);
	assert_true(nve_tsc() >= deadline);
	nve_spin_until(deadline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conversions_are_exact),
		cmocka_unit_test(rate_agrees_with_itself),
		cmocka_unit_test(rate_waits_as_long_as_told),
		cmocka_unit_test(spin_reaches_its_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
