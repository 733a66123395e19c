/* The Kaplan-Meier estimate of the dirty fraction: by hand, and on simulated censored lines. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "count/ahead/dirty.h"

static bool near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance;
}

static void add(struct nve_dirty *d, int count, uint32_t followed, int64_t delay)
{
	for (int i = 0; i < count; i++)
		nve_dirty_add(d, 1, followed, delay >= 0, delay >= 0 ? (uint32_t)delay : 12345);
}

static void nothing_known(void **state)
{
	struct nve_dirty d = {0};
	double se = 0;

	(void)state;
	assert_true(nve_dirty_fraction(&d, &se) == 0 && se == 1);
	add(&d, 100, 15, 3); /* followed too shortly to say anything */
	assert_true(nve_dirty_fraction(&d, &se) == 0 && se == 1);
}

/* 10 lines in the first 16 instructions, 2 of them written; 4 followed on to 32, 1 of them written
 * there: 1 - 8/10 * 3/4. */
static void by_hand(void **state)
{
	struct nve_dirty d = {0};
	double se;

	(void)state;
	add(&d, 4, 16, -1);
	add(&d, 2, 32, 5);
	add(&d, 1, 32, 20);
	add(&d, 3, 32, -1);
	assert_true(near(nve_dirty_fraction(&d, &se), 0.4, 1e-12));
	/* A write in an interval that was not followed to its end does not count. */
	add(&d, 4, 63, 40);
	assert_true(near(nve_dirty_fraction(&d, &se), 1 - 12.0 / 14 * 7 / 8, 1e-12));
}

static void all_and_none(void **state)
{
	struct nve_dirty all = {0}, none = {0}, late = {0};
	double se;

	(void)state;
	add(&all, 50, 1000, 0);
	assert_true(nve_dirty_fraction(&all, &se) == 1);
	add(&none, 50, 65536, -1);
	assert_true(nve_dirty_fraction(&none, &se) == 0);
	/* the edges of an interval, and of the last one */
	add(&late, 50, 65536, 65535);
	assert_true(nve_dirty_fraction(&late, &se) == 1);
	add(&none, 50, 100000, 65536);
	assert_true(nve_dirty_fraction(&none, &se) == 0);
}

static void weights(void **state)
{
	struct nve_dirty d = {0};
	double se;

	(void)state;
	nve_dirty_add(&d, 0.75, 16, true, 1);
	nve_dirty_add(&d, 0.25, 16, false, 0);
	assert_true(near(nve_dirty_fraction(&d, &se), 0.75, 1e-12));
}

/* Two windows of fractions 0 and 1, a hundred of each: variance 1/4 over 199. */
static void error_of_the_mean(void **state)
{
	struct nve_dirty d = {0};
	double se;

	(void)state;
	nve_dirty_end_window(&d, 1);
	nve_dirty_fraction(&d, &se);
	assert_true(se == 1); /* one window knows nothing of its error */
	nve_dirty_end_window(&d, 0);
	for (int i = 0; i < 198; i++)
		nve_dirty_end_window(&d, i % 2);
	nve_dirty_fraction(&d, &se);
	assert_true(near(se, sqrt(0.25 / 199), 1e-9));
}

/*
 * 60 % of the lines are written, after an exponential delay of 700 instructions in the mean, and
 * windows end at any time up to 12,000: the share of lines that were seen to be written is far too
 * low, the estimate is not.
 */
static void simulated(void **state)
{
	enum { LINES = 200000 };
	struct nve_dirty d = {0};
	uint64_t x = 88172645463325252;
	double seen = 0, se, u[3];

	(void)state;
	for (int i = 0; i < LINES; i++) {
		uint32_t followed, delay;
		bool written;

		for (int j = 0; j < 3; j++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			u[j] = (double)(x >> 11) / 9007199254740992.0;
		}
		followed = (uint32_t)(u[0] * u[0] * 12000);
		delay = (uint32_t)(-700 * log(1 - u[1]));
		written = u[2] < 0.6 && delay < followed;
		seen += written;
		nve_dirty_add(&d, 1, followed, written, delay);
	}
	assert_true(seen / LINES < 0.5);
	assert_true(near(nve_dirty_fraction(&d, &se), 0.6, 0.01));
}

/* What was true long ago fades. */
static void fading(void **state)
{
	struct nve_dirty d = {0};
	double se;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		add(&d, 1, 100, 1);
		nve_dirty_end_window(&d, 1);
	}
	for (int i = 0; i < 2000; i++) {
		add(&d, 1, 100, -1);
		nve_dirty_end_window(&d, 0);
	}
	assert_true(nve_dirty_fraction(&d, &se) < 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_known),
		cmocka_unit_test(by_hand),
		cmocka_unit_test(all_and_none),
		cmocka_unit_test(weights),
		cmocka_unit_test(error_of_the_mean),
		cmocka_unit_test(simulated),
		cmocka_unit_test(fading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
