/* The model of a branch predictor on branches whose misprediction is known by construction. */
#include "unit.h"

#include <stdlib.h>

#include "count/ahead/predictor.h"

enum { BRANCH = 0x401000, OTHER = 0x401040, LEARN = 4000, COUNT = 4000 };

static struct nve_predictor *p;
static uint64_t history;

static int setup(void **state)
{
	(void)state;
	free(p);
	p = calloc(1, nve_predictor_bytes());
	history = 0;
	return p ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(p);
	p = NULL;
	return 0;
}

/* Of COUNT branches that go as way() says, after LEARN of them, how many are mispredicted. */
static int mispredicted(bool (*way)(int i))
{
	int wrong = 0;

	for (int i = 0; i < LEARN + COUNT; i++) {
		bool missed = nve_predictor_branch(p, &history, BRANCH, way(i));

		wrong += i >= LEARN && missed;
	}
	return wrong;
}

static uint32_t random_bits(int i)
{
	uint64_t x = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
	return (uint32_t)(x >> 32);
}

static bool always(int i)
{
	(void)i;
	return true;
}

/* A loop of 20 rounds: its end comes at the same history each time. */
static bool loop(int i)
{
	return i % 20 != 19;
}

static bool in_turn(int i)
{
	return i % 2;
}

static bool by_chance(int i)
{
	return random_bits(i) & 1;
}

static bool seldom(int i)
{
	return random_bits(i) % 100 < 30;
}

static void patterns_are_learned(void **state)
{
	(void)state;
	assert_int_equal(mispredicted(always), 0);
	assert_true(mispredicted(in_turn) < COUNT / 50);
	assert_true(mispredicted(loop) < COUNT / 50);
}

/* Of what goes by chance half is mispredicted, or the part that goes the rarer way, and somewhat
 * more by what histories seem to teach. */
static void chance_is_not(void **state)
{
	int wrong = mispredicted(by_chance);

	(void)state;
	assert_in_range(wrong, COUNT * 45 / 100, COUNT * 55 / 100);
	wrong = mispredicted(seldom);
	assert_in_range(wrong, COUNT * 28 / 100, COUNT * 42 / 100);
}

/* A branch that goes as another one did before it. */
static void what_went_before_tells(void **state)
{
	int wrong = 0;

	(void)state;
	for (int i = 0; i < LEARN + COUNT; i++) {
		bool taken = by_chance(i), missed;

		nve_predictor_branch(p, &history, BRANCH, taken);
		missed = nve_predictor_branch(p, &history, OTHER, taken);
		wrong += i >= LEARN && missed;
	}
	assert_true(wrong < COUNT / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(patterns_are_learned, setup, teardown),
		cmocka_unit_test_setup_teardown(chance_is_not, setup, teardown),
		cmocka_unit_test_setup_teardown(what_went_before_tells, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
