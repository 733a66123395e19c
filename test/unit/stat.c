#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stat.h"

static void assert_near(double value, double right, double tolerance)
{
	if (!(fabs(value - right) <= tolerance))
		print_error("%g is not within %g of %g\n", value, tolerance, right);
	assert_true(fabs(value - right) <= tolerance);
}

static void test_quantiles(void **state)
{
	const double values[] = {1, 2, 3, 4};

	(void)state;
	assert_near(cli_quantile(values, 4, 0), 1, 0);
	assert_near(cli_quantile(values, 4, 1), 4, 0);
	assert_near(cli_quantile(values, 4, 0.5), 2.5, 1e-12);
	assert_near(cli_quantile(values, 3, 0.5), 2, 1e-12);
	assert_near(cli_quantile(values, 1, 0.75), 1, 0);
}

static void test_few_slices(void **state)
{
	const struct cli_slice slices[] = {{1000, 10}, {1200, 10}};
	struct cli_estimate e;

	(void)state;
	assert_int_equal(cli_estimate_slices(slices, 0, &e), -ENODATA);
	assert_int_equal(cli_estimate_slices(slices, 1, &e), 0);
	assert_near(e.value, 100, 1e-9);
	assert_near(e.median, 100, 1e-9);
	assert_true(isnan(e.half_width));
	assert_int_equal(cli_estimate_slices(slices, 2, &e), 0);
	assert_near(e.value, 110, 1e-9);
	/* two values 20 apart: standard error 10, times Student's 12.706 */
	assert_near(e.half_width, 127.06, 0.01);
}

static void test_weights_by_steps(void **state)
{
	const struct cli_slice slices[] = {{1000, 10}, {3300, 30}};
	struct cli_estimate e;

	(void)state;
	assert_int_equal(cli_estimate_slices(slices, 2, &e), 0);
	assert_near(e.value, 107.5, 1e-9);
}

static void test_drops_outliers(void **state)
{
	struct cli_slice slices[40];
	struct cli_estimate e;

	(void)state;
	for (size_t i = 0; i < 40; i++)
		slices[i] = (struct cli_slice){1000 + (double)(i % 5), 10};
	slices[7].time_ns = 5000;
	slices[23].time_ns = 10;
	assert_int_equal(cli_estimate_slices(slices, 40, &e), 0);
	assert_int_equal(e.kept, 38);
	assert_int_equal(e.dropped, 2);
	assert_near(e.value, 100.2, 0.05);
	assert_true(e.half_width < 1);
}

/*
 * Delay in portions: each slice holds the whole portions that fall into it. The figure must come
 * out right all the same, whatever the length of the slice in portions, and nothing may be dropped.
 */
static void expect_right_with_portions(double slice_steps)
{
	const double native_ns = 150, portion_ns = 20e6 * 350 / 150, portion_steps = 20e6 / 150;
	struct cli_slice slices[40];
	struct cli_estimate e;
	double steps = 0;

	for (size_t i = 0; i < 40; i++) {
		double length = slice_steps * (0.8 + 0.4 * drand48());
		double before = floor(steps / portion_steps);

		steps += length;
		slices[i].steps = length;
		slices[i].time_ns =
			length * native_ns + (floor(steps / portion_steps) - before) * portion_ns;
	}
	assert_int_equal(cli_estimate_slices(slices, 40, &e), 0);
	assert_int_equal(e.dropped, 0);
	/* at most one portion too much or too little in all of it */
	assert_near(e.value, 500, portion_ns / steps * 1.0001);
}

static void test_portions(void **state)
{
	(void)state;
	srand48(1);
	for (double milliseconds = 80; milliseconds <= 200; milliseconds += 7)
		expect_right_with_portions(milliseconds * 1e6 / 150);
}

static void test_student(void **state)
{
	(void)state;
	assert_true(isnan(cli_student(0)));
	assert_near(cli_student(4), 2.776, 1e-3);
	assert_near(cli_student(10), 2.228, 5e-3);
	assert_near(cli_student(30), 2.042, 2e-3);
	assert_near(cli_student(1000000), 1.960, 1e-3);
}

static void test_ratios(void **state)
{
	double one[] = {2}, equal[] = {3, 3, 3}, five[] = {1.2, 1.0, 1.1, 5.0, 1.1};
	struct cli_ratio r = cli_ratio_of(one, 0);

	(void)state;
	assert_true(isnan(r.median) && isnan(r.low) && isnan(r.high));
	r = cli_ratio_of(one, 1);
	assert_near(r.median, 2, 0);
	assert_true(isnan(r.low) && isnan(r.high));
	r = cli_ratio_of(equal, 3);
	assert_near(r.low, 3, 1e-6);
	assert_near(r.high, 3, 1e-6);
	/* one run that was disturbed moves the interval, not the figure */
	r = cli_ratio_of(five, 5);
	assert_near(r.median, 1.1, 1e-12);
	assert_true(r.low < 0.5 && r.high > 2.5);
	assert_near(r.low * r.high, 1.1 * 1.1, 1e-9);
	/* logarithms 0 and ln 2: s = ln 2 / sqrt 2, times 12.706 * 1.2533 / sqrt 2 */
	double two[] = {1, 2};
	r = cli_ratio_of(two, 2);
	assert_near(log(r.high / 1.5), 12.706 * 1.25331 * log(2) / 2, 1e-3);
}

static void test_shuffle(void **state)
{
	size_t order[10], seen[10] = {0}, firsts = 0;
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 100; i++) {
		cli_shuffle(order, 10, &random);
		firsts |= (size_t)1 << order[0];
		for (size_t j = 0; j < 10; j++)
			seen[order[j]]++;
	}
	for (size_t j = 0; j < 10; j++)
		assert_int_equal(seen[j], 100);
	assert_int_equal(firsts, 0x3ff);
	cli_shuffle(order, 1, &random);
	assert_int_equal(order[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles),        cmocka_unit_test(test_few_slices),
		cmocka_unit_test(test_weights_by_steps), cmocka_unit_test(test_drops_outliers),
		cmocka_unit_test(test_portions),         cmocka_unit_test(test_student),
		cmocka_unit_test(test_ratios),           cmocka_unit_test(test_shuffle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
