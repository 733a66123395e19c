/* The budget of windows, over made-up samples. */
#include "unit.h"

#include <stdbool.h>

#include "count/ahead/budget.h"

enum { RUN_AHEAD = 448, SAMPLE_NS = 4000000, PERCENT = 10000, WINDOW_NS = 200000 };

static struct nve_budget b;

static int choose(uint64_t cpu_ns, uint64_t budget_ppm, bool known, bool disturbed)
{
	const struct nve_budget_sample sample = {
		.cpu_ns = cpu_ns, .known = known, .disturbed = disturbed};

	return nve_budget_choose(&b, &sample, budget_ppm);
}

static void took(int octave, uint32_t misses, uint32_t written, double share)
{
	const struct nve_budget_window window = {.octave = octave,
						 .steps = nve_budget_steps(&b, octave),
						 .misses = misses,
						 .written = written,
						 .share = share};

	nve_budget_took(&b, &window);
}

/* Samples of a program that windows have passed everywhere. Returns what windows cost in all. */
static int64_t run(int samples, bool missed, bool expected, int windows[4])
{
	int64_t spent = 0;

	for (int i = 0; i < samples; i++) {
		int octave = choose(SAMPLE_NS, PERCENT, true, false);
		int64_t cost = octave < 0 ? 0 : (int64_t)WINDOW_NS << 2 * octave;

		if (octave >= 0) {
			took(octave, missed ? 100 : 0, 0, expected ? 0.5 : i % 2);
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

/* Samples without a window may cost so much that they need a part of what windows have. */
static void dear_samples_leave_less_for_windows(void **state)
{
	const int64_t cost[] = {0, 5000, 20000};
	int64_t windows[3] = {0}, spent, total = 20000ll * SAMPLE_NS;

	(void)state;
	for (int i = 0; i < 3; i++) {
		nve_budget_start(&b, RUN_AHEAD);
		spent = 0;
		for (int64_t sample = 0; sample < 20000; sample++) {
			int octave = choose(SAMPLE_NS, PERCENT, true, false);
			int64_t paid = octave < 0 ? cost[i] : (int64_t)WINDOW_NS << 2 * octave;

			if (octave >= 0)
				took(octave, 100, 0, (double)(windows[i] % 2));
			nve_budget_charge(&b, paid);
			windows[i] += octave >= 0;
			spent += paid;
		}
		/* but for what there is at birth, and what later samples must pay back */
		assert_true(spent + b.tokens_ns + b.long_tokens_ns <= total / 100 + 1000000);
		assert_true(windows[i] > 500);
	}
	/* what is little enough costs none */
	assert_int_equal(windows[0], windows[1]);
	assert_true(windows[2] < windows[1]);
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

static void take(void)
{
	took(0, 100, 0, 0.5);
	nve_budget_charge(&b, WINDOW_NS);
}

static void no_budget_no_window(void **state)
{
	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	while (choose(SAMPLE_NS, 0, true, false) >= 0)
		take();
	for (int i = 0; i < 1000; i++)
		assert_int_equal(choose(SAMPLE_NS, 0, true, false), -1);
}

/* What nothing is known of may be looked at on credit, but not without end. */
static void credit(void **state)
{
	int windows = 0;

	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	while (choose(SAMPLE_NS, 0, true, false) >= 0)
		take();
	while (choose(SAMPLE_NS, 0, false, false) >= 0) {
		take();
		windows++;
		assert_true(windows < 100);
	}
	assert_true(windows > 0);
}

/* A thread that has hardly run since the last window would meet that one's lines. */
static void too_early(void **state)
{
	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	assert_int_equal(choose(1000, PERCENT, false, false), -1);
	assert_int_equal(choose(SAMPLE_NS, PERCENT, false, false), 0);
}

/* Windows are left to samples of an undisturbed thread, as long as there are any. */
static void disturbed(void **state)
{
	int taken = 0, taken_between = 0;

	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	for (int i = 0; i < 80; i++)
		taken += choose(SAMPLE_NS, PERCENT, true, true) >= 0;
	assert_int_equal(taken, 10);
	for (int i = 0; i < 80; i++)
		taken_between += choose(SAMPLE_NS, PERCENT, true, i % 2) >= 0;
	assert_int_equal(taken_between, 40);
}

/* Windows that meet no miss are rare, but not where misses are believed in. */
static void doubt(void **state)
{
	int taken[2] = {0};

	(void)state;
	for (int believed = 0; believed < 2; believed++) {
		const struct nve_budget_sample sample = {
			.cpu_ns = SAMPLE_NS, .known = true, .label = believed};

		nve_budget_start(&b, RUN_AHEAD);
		for (int i = 0; i < 20000; i++) {
			int octave = nve_budget_choose(&b, &sample, PERCENT);

			if (octave < 0)
				continue;
			took(octave, 0, 0, 0);
			nve_budget_charge(&b, (int64_t)WINDOW_NS << 2 * octave);
			taken[believed]++;
		}
	}
	assert_true(taken[1] > 3 * taken[0]);
}

/* Where few windows meet a miss, those that do not are followed as soon by the next as those that
 * do: neither kind's word is believed for longer. */
static void rare_misses(void **state)
{
	int gap = 0, since_miss = 0, windows[2] = {0}, samples[2] = {0};

	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	for (int i = 0; i < 20000; i++) {
		int octave = choose(SAMPLE_NS, PERCENT, true, false);

		gap++;
		if (octave < 0)
			continue;
		windows[since_miss > 4]++;
		samples[since_miss > 4] += gap;
		since_miss = since_miss == 15 ? 0 : since_miss + 1;
		took(octave, !since_miss, 0, since_miss % 2 * 0.2);
		nve_budget_charge(&b, (int64_t)WINDOW_NS << 2 * octave);
		gap = 0;
	}
	assert_true(windows[0] > 100 && windows[1] > 100);
	assert_in_range(samples[1] * 100 / windows[1], 70 * samples[0] / windows[0],
			140 * samples[0] / windows[0]);
}

/* Where the program is delayed by more than twice what windows cost, they are at each sample, of
 * all lengths that its delay pays for, and no tokens are spent. */
static void delay_pays(void **state)
{
	struct nve_budget_sample sample = {.cpu_ns = SAMPLE_NS, .known = true, .label = 1};
	int windows[4] = {0};

	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	sample.delay_ns = 5 * 4 * WINDOW_NS;
	for (int i = 0; i < 20000; i++) {
		int octave = nve_budget_choose(&b, &sample, 0);

		assert_true(octave >= 0);
		took(octave, 100, 0, 0.5);
		nve_budget_charge(&b, (int64_t)WINDOW_NS << 2 * octave);
		windows[octave]++;
	}
	assert_true(windows[1] > 0 && windows[0] > windows[1]);
	assert_true(windows[1] > windows[2]);
	assert_int_equal(windows[3], 0); /* 64 windows' worth */
	assert_true(b.tokens_ns >= 0);
	sample.delay_ns = WINDOW_NS;
	while (nve_budget_choose(&b, &sample, 0) >= 0)
		take();
	for (int i = 0; i < 1000; i++)
		assert_int_equal(nve_budget_choose(&b, &sample, 0), -1);
}

/* A window that contradicts those before brings more, on credit. */
static void surprise(void **state)
{
	int more = 0;

	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	while (choose(SAMPLE_NS, 0, true, false) >= 0)
		take();
	for (int i = 0; i < 40; i++)
		took(0, 100, 0, 0.5);
	b.tokens_ns = 0;
	assert_int_equal(choose(SAMPLE_NS, 0, true, false), -1);
	took(0, 100, 0, 0.9);
	while (choose(SAMPLE_NS, 0, true, false) >= 0 && more < 100) {
		took(0, 100, 0, 0.9);
		nve_budget_charge(&b, WINDOW_NS);
		more++;
	}
	assert_in_range(more, 2, 20);
}

/* Another phase is told by few windows, but not by what few misses happen to be. */
static void another_phase(void **state)
{
	struct nve_budget_window w = {.steps = 1024, .misses = 100, .written = 100, .share = 0.9};

	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	nve_budget_took(&b, &w);
	assert_false(nve_budget_took(&b, &w));
	w.written = 0;
	assert_true(nve_budget_took(&b, &w));
	assert_false(nve_budget_took(&b, &w));
	w = (struct nve_budget_window){.steps = 1024, .misses = 3, .written = 2, .share = 0.9};
	assert_false(nve_budget_took(&b, &w));
}

/* Lines that may get written late bring long windows on credit, the longest that can be paid back
 * soon, and not without end. */
static void late_writes(void **state)
{
	struct nve_budget_window w = {.steps = 1024, .misses = 100, .share = 0.9, .unresolved = 1};
	int longest = 0, more = 0;

	(void)state;
	nve_budget_start(&b, RUN_AHEAD);
	for (int i = 0; i < 4; i++)
		nve_budget_took(&b, &w);
	for (int i = 0; i < 20; i++) {
		w.octave = choose(SAMPLE_NS, PERCENT, true, false);
		if (w.octave < 0)
			continue;
		w.steps = nve_budget_steps(&b, w.octave);
		nve_budget_took(&b, &w);
		nve_budget_charge(&b, (int64_t)w.steps * 80);
		more += w.octave > 0;
		longest = w.octave > longest ? w.octave : longest;
	}
	assert_int_equal(longest, 3);
	assert_int_equal(more, 2);
	w = (struct nve_budget_window){.steps = 1024, .misses = 100, .share = 0.9};
	nve_budget_start(&b, RUN_AHEAD);
	for (int i = 0; i < 4; i++)
		nve_budget_took(&b, &w);
	assert_int_equal(choose(SAMPLE_NS, PERCENT, true, false), 0);
}

/* A run of the handler in which the host did something else does not keep windows away for long. */
static void outliers(void **state)
{
	int windows[2] = {0};

	(void)state;
	for (int outlier = 0; outlier < 2; outlier++) {
		nve_budget_start(&b, RUN_AHEAD);
		took(0, 100, 0, 0.5);
		nve_budget_charge(&b, outlier ? 1000000000 : WINDOW_NS);
		nve_budget_charge(&b, outlier ? 1000000000 : 0);
		for (int i = 0; i < 250; i++) {
			if (choose(SAMPLE_NS, PERCENT, true, false) < 0)
				continue;
			took(0, 100, 0, 0.5);
			nve_budget_charge(&b, WINDOW_NS);
			windows[outlier]++;
		}
	}
	assert_true(windows[1] > windows[0] / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),
		cmocka_unit_test(dear_samples_leave_less_for_windows),
		cmocka_unit_test(stays_within),
		cmocka_unit_test(nothing_new_costs_less),
		cmocka_unit_test(no_budget_no_window),
		cmocka_unit_test(credit),
		cmocka_unit_test(doubt),
		cmocka_unit_test(rare_misses),
		cmocka_unit_test(disturbed),
		cmocka_unit_test(too_early),
		cmocka_unit_test(delay_pays),
		cmocka_unit_test(surprise),
		cmocka_unit_test(another_phase),
		cmocka_unit_test(late_writes),
		cmocka_unit_test(outliers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
