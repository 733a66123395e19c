/* The dirty fraction: by hand, and on simulated lines that windows follow only for a while. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "count/ahead/dirty.h"

enum { IP = 0x401000 };

static struct nve_dirty_table *table;

static int set_up(void **state)
{
	(void)state;
	table = calloc(1, nve_dirty_table_bytes());
	return !table;
}

static int tear_down(void **state)
{
	(void)state;
	free(table);
	return 0;
}

static bool near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance;
}

static void learn(uint64_t ip, int count, uint32_t followed, int64_t delay)
{
	for (int i = 0; i < count; i++)
		nve_dirty_learn(table, ip, followed, delay >= 0,
				delay >= 0 ? (uint32_t)delay : 12345);
}

static double probability(uint64_t ip)
{
	double p;

	assert_true(nve_dirty_probability(table, ip, &p));
	return p;
}

static void nothing_known(void **state)
{
	double p = 7;

	(void)state;
	assert_false(nve_dirty_probability(table, IP, &p));
	learn(IP, 100, 15, 3); /* followed too shortly to say anything */
	learn(IP + 1, 1, 100, 3);
	assert_false(nve_dirty_probability(table, IP, &p));
	assert_false(nve_dirty_probability(table, IP + 1, &p));
	assert_true(p == 7);
}

/* 20 lines in the first 16 instructions, 4 of them written; 8 followed on to 32, 2 of them written
 * there: 1 - 16/20 * 6/8. */
static void by_hand(void **state)
{
	(void)state;
	learn(IP, 8, 16, -1);
	learn(IP, 4, 32, 5);
	learn(IP, 2, 32, 20);
	learn(IP, 6, 32, -1);
	assert_true(near(probability(IP), 0.4, 1e-12));
	/* A write in an interval that was not followed to its end does not count. */
	learn(IP, 8, 63, 40);
	assert_true(near(probability(IP), 1 - 24.0 / 28 * 14 / 16, 1e-12));
	/* Other instructions have nothing to do with it. */
	learn(IP + 4, 50, 1000, 0);
	assert_true(near(probability(IP), 1 - 24.0 / 28 * 14 / 16, 1e-12));
	assert_true(probability(IP + 4) == 1);
}

/* The edges of an interval, and of the last one. */
static void all_and_none(void **state)
{
	(void)state;
	learn(1, 50, 1000, 0);
	assert_true(probability(1) == 1);
	learn(2, 50, 65536, -1);
	assert_true(probability(2) == 0);
	learn(3, 50, 65536, 65535);
	assert_true(probability(3) == 1);
	learn(4, 50, 100000, 65536);
	assert_true(probability(4) == 0);
	learn(5, 50, 16, 15);
	assert_true(probability(5) == 1);
	learn(6, 50, 31, 16);
	assert_true(probability(6) == 0);
}

/*
 * 60 % of the lines are written, after an exponential delay of 700 instructions in the mean, and
 * windows end at any time up to 12,000: the share of lines that were seen to be written is far too
 * low, the estimate is not.
 */
static void simulated(void **state)
{
	enum { LINES = 200000, INSTRUCTIONS = 64 };
	uint64_t x = 88172645463325252;
	double seen = 0, sum = 0, u[3];

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
		nve_dirty_learn(table, IP + i % INSTRUCTIONS, followed, written, delay);
	}
	for (int i = 0; i < INSTRUCTIONS; i++)
		sum += probability(IP + (uint64_t)i);
	assert_true(seen / LINES < 0.5);
	assert_true(near(sum / INSTRUCTIONS, 0.6, 0.01));
}

/* What was true long ago fades, of an instruction and of a thread. */
static void fading(void **state)
{
	struct nve_dirty d = {0};

	(void)state;
	learn(IP, 20000, 100, 1);
	assert_true(probability(IP) == 1);
	learn(IP, 100000, 100, -1);
	assert_true(probability(IP) < 0.01);
	for (int i = 0; i < 1000; i++)
		nve_dirty_end_window(&d, 1, 1, 10);
	assert_true(near(nve_dirty_fraction(&d), 1, 1e-9));
	for (int i = 0; i < 1000; i++)
		nve_dirty_end_window(&d, 1, 0, 10);
	assert_true(nve_dirty_fraction(&d) < 0.01);
}

/* A table that is full forgets nothing and invents nothing. */
static void crowded(void **state)
{
	double p;
	int known = 0;

	(void)state;
	for (uint64_t ip = 1; ip <= 20000; ip++)
		learn(ip * 16, 8, 100, ip % 2 ? 1 : -1);
	for (uint64_t ip = 1; ip <= 20000; ip++) {
		if (!nve_dirty_probability(table, ip * 16, &p))
			continue;
		known++;
		assert_true(p == (double)(ip % 2));
	}
	assert_true(known > 1000);
}

/* Windows weigh by their share of stall time: 3/4 of it at 1, 1/4 at 0. */
static void weights(void **state)
{
	struct nve_dirty d = {0};

	(void)state;
	assert_true(nve_dirty_fraction(&d) == 0 && nve_dirty_se(&d) == 1);
	nve_dirty_end_window(&d, 0, 0.3, 10); /* no stall time: no say */
	assert_true(nve_dirty_fraction(&d) == 0 && nve_dirty_se(&d) == 1);
	nve_dirty_end_window(&d, 0.75, 1, 10);
	assert_true(nve_dirty_se(&d) == 1); /* one window knows nothing of its error */
	nve_dirty_end_window(&d, 0.25, 0, 10);
	assert_true(near(nve_dirty_fraction(&d), 0.75, 1e-12));
}

/* 200 windows, half of them of fraction 1: variance 1/4 over 199, whatever their common weight. */
static void error_of_the_mean(void **state)
{
	struct nve_dirty d = {0};

	(void)state;
	for (int i = 0; i < 200; i++)
		nve_dirty_end_window(&d, 0.5, i % 2, 10);
	assert_true(near(nve_dirty_se(&d), hypot(sqrt(0.25 / 199), 1.0 / 2002), 1e-9));
}

/* Windows that agree are not sure: of 98 lines that are clean, one in a hundred may be dirty. */
static void error_of_agreement(void **state)
{
	struct nve_dirty d = {0};

	(void)state;
	for (int i = 0; i < 49; i++)
		nve_dirty_end_window(&d, 0.5, 0, 2);
	assert_true(near(nve_dirty_se(&d), 0.01, 1e-9));
}

/* Until lines have been followed to the end of the longest delay those that were not written may be
 * written yet. */
static void unresolved(void **state)
{
	(void)state;
	assert_true(nve_dirty_unresolved(table, IP) == 1);
	learn(IP, 30, 1024, 100);
	learn(IP, 10, 1024, -1);
	assert_true(near(nve_dirty_unresolved(table, IP), 0.25, 1e-6));
	learn(IP, 4, 65536, -1);
	assert_true(nve_dirty_unresolved(table, IP) == 0);
}

/* What was before another phase counts little. */
static void phases(void **state)
{
	struct nve_dirty d = {0};

	(void)state;
	for (int i = 0; i < 100; i++)
		nve_dirty_end_window(&d, 1, 1, 50);
	nve_dirty_another_phase(&d);
	nve_dirty_end_window(&d, 1, 0, 50);
	assert_true(nve_dirty_fraction(&d) < 0.25);
}

/* Pairs of lines of which the second, written, is always found beside the first, and alone where
 * it is hot: it has come with the first, or not. */
static void pairs(void **state)
{
	static struct nve_lines lines;
	bool fresh;

	(void)state;
	for (int hot = 0; hot < 2; hot++) {
		struct nve_dirty d = {0};

		memset(table, 0, nve_dirty_table_bytes());
		for (int window = 0; window < 20; window++) {
			nve_lines_clear(&lines, 1024);
			for (uint64_t i = 0; i < 100; i++) {
				struct nve_line *first = nve_lines_touch(&lines, 4 * i, &fresh);
				struct nve_line *second =
					nve_lines_touch(&lines, 4 * i + 1, &fresh);

				first->first_ip = IP;
				first->missed = true;
				second->first_ip = IP + 8;
				second->beside = !hot || i % 20 == 0;
				second->alone = !second->beside;
				second->written = true;
			}
			nve_dirty_window(&d, table, &lines, 1000, 1);
		}
		assert_true(near(nve_dirty_brought(table, IP + 8), hot ? 0.05 : 1, 1e-6));
		assert_true(near(nve_dirty_fraction(&d), hot ? 0 : 0.5, 0.01));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_known),
		TEST(by_hand),
		TEST(all_and_none),
		TEST(simulated),
		TEST(fading),
		TEST(crowded),
		TEST(weights),
		TEST(error_of_the_mean),
		TEST(error_of_agreement),
		TEST(unresolved),
		TEST(phases),
		TEST(pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
