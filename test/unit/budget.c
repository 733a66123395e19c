/* The budget of windows, over made-up samples. */
#include "unit.h"

#include <stdbool.h>

#include "count/ahead/budget.h"

enum { RUN_AHEAD = 448, SAMPLE_NS = 4000000, PERCENT = 10000, WINDOW_NS = 200000 };

static struct nve_budget b;

/* Samples of a program that windows have passed everywhere. Returns what windows cost in all. */
static int64_t run(int samples, bool missed, bool expected, int windows[4])
{
	int64_t spent = 0;

	for (int i = 0; i < samples; i++) {
		int octave = nve_budget_choose(&b, SAMPLE_NS, PERCENT, true);
		int64_t cost = octave < 0 ? 0 : (int64_t)WINDOW_NS << 2 * octave;

		if (octave >= 0) {
			nve_budget_took(&b, octave, nve_budget_steps(&b, octave), missed ? 100 : 0,
					0, expected ? 0.5 : i % 2);
			windows[octave]++;
		}
		nve_budget_charge(&b, cost);
		spent += cost;
	}
	return spent;
}

static void lengths(void **state)
{
	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	assert_int_equal(nve_budget_steps(&b, 0), 1024 + RUN_AHEAD);
	assert_int_equal(nve_budget_steps(&b, 3), 65536 + RUN_AHEAD);
}

static void stays_within(void **state)
{
	int windows[4] = {0};
	int samples = 20000;
	int64_t spent, total = (int64_t)samples * SAMPLE_NS;

	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	spent = run(samples, true, false, windows);
	assert_true(spent < total / 100);
	assert_true(spent > total / 100 / 2);
	/* Windows of all lengths, the short ones most often. */
	for (int octave = 1; octave < 4; octave++)
		assert_in_range(windows[octave], 1, windows[0]);
}

static void nothing_new_costs_less(void **state)
{
	int windows[4] = {0};
	int64_t with, without, known;

	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	with = run(20000, true, false, windows);
	nve_budget_start(&b, RUN_AHEAD);
	known = run(20000, true, true, windows);
	nve_budget_start(&b, RUN_AHEAD);
	without = run(20000, false, false, windows);
	assert_true(known < with / 3 * 2);
	assert_true(without < known / 3 * 2);
}

static void no_budget_no_window(void **state)
{
	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	while (nve_budget_choose(&b, SAMPLE_NS, 0, true) >= 0)
		nve_budget_charge(&b, WINDOW_NS);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(nve_budget_choose(&b, SAMPLE_NS, 0, true), -1);
}

/* What nothing is known of may be looked at on credit, but not without end. */
static void credit(void **state)
{
	int windows = 0;

	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	while (nve_budget_choose(&b, SAMPLE_NS, 0, true) >= 0)
		nve_budget_charge(&b, WINDOW_NS);
	while (nve_budget_choose(&b, SAMPLE_NS, 0, false) >= 0) {
		nve_budget_charge(&b, WINDOW_NS);
		windows++;
		assert_true(windows < 100);
	}
	assert_true(windows > 0);
}

/* Signals alone cost more than windows may: what nothing is known of still has windows, within its
 * part of the budget. */
static void dear_signals(void **state)
{
	enum { SAMPLES = 5000, SIGNAL_NS = 40000 };
	int known = 0, unknown = 0;

	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	for (int i = 0; i < SAMPLES; i++) {
		int octave = nve_budget_choose(&b, SAMPLE_NS, PERCENT, true);

		known += i > SAMPLES / 2 && octave == 0;
		if (octave >= 0)
			nve_budget_took(&b, octave, nve_budget_steps(&b, octave), 100, 0, i % 2);
		nve_budget_charge(&b,
				  SIGNAL_NS + (octave < 0 ? 0 : (int64_t)WINDOW_NS << 2 * octave));
	}
	assert_int_equal(known, 0);
	for (int i = 0; i < SAMPLES; i++) {
		int octave = nve_budget_choose(&b, SAMPLE_NS, PERCENT, false);

		unknown += octave == 0;
		if (octave >= 0)
			nve_budget_took(&b, octave, nve_budget_steps(&b, octave), 100, 0, i % 2);
		nve_budget_charge(&b,
				  SIGNAL_NS + (octave < 0 ? 0 : (int64_t)WINDOW_NS << 2 * octave));
	}
	assert_in_range(unknown, SAMPLES / 200,
			(int64_t)SAMPLES * SAMPLE_NS / 100 * 15 / 100 / WINDOW_NS + 10);
}

/* A thread that has hardly run since the last window would meet that one's lines. */
static void too_early(void **state)
{
	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	assert_int_equal(nve_budget_choose(&b, 1000, PERCENT, false), -1);
	assert_int_equal(nve_budget_choose(&b, SAMPLE_NS, PERCENT, false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),
		cmocka_unit_test(stays_within),
		cmocka_unit_test(nothing_new_costs_less),
		cmocka_unit_test(no_budget_no_window),
		cmocka_unit_test(credit),
		cmocka_unit_test(dear_signals),
		cmocka_unit_test(too_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
