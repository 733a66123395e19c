/* Ticks that come late. */
#include "unit.h"

#include <stdlib.h>

#include "count/ahead/lateness.h"

enum { TICK_NS = 4000000, MINUTE = 15000 };

static uint64_t tick(uint64_t i, uint64_t phase_ns, uint64_t late_ns)
{
	return i * TICK_NS + phase_ns + late_ns;
}

/* The late ones are told from the usual ones wherever the ticks lie, also across the second's edge.
 */
static void late_ones(void **state)
{
	const uint64_t phases[] = {0, 5000, TICK_NS / 2, TICK_NS - 6000};

	(void)state;
	for (int p = 0; p < 4; p++) {
		struct nve_lateness l = {0};
		int found = 0, taken = 0;

		srand(1);
		for (int i = 0; i < MINUTE; i++) {
			bool disturbed = i % 10 == 0;
			uint64_t late_ns = (uint64_t)(rand() % 8000) + (disturbed ? 30000 : 0);
			bool late = nve_lateness_is_late(&l, tick((uint64_t)i, phases[p], late_ns),
							 TICK_NS);

			if (i < MINUTE / 10)
				continue;
			found += disturbed && late;
			taken += !late;
		}
		assert_in_range(found, MINUTE / 10 * 9 / 10 - 5, MINUTE / 10 * 9 / 10 + 5);
		assert_in_range(taken, MINUTE / 10 * 9 / 4, MINUTE / 10 * 9 * 2 / 5);
	}
}

/* Samples that follow no tick: a third of them will do. */
static void no_ticks(void **state)
{
	struct nve_lateness l = {0};
	int taken = 0;

	(void)state;
	srand(2);
	for (int i = 0; i < MINUTE; i++)
		taken += !nve_lateness_is_late(&l, (uint64_t)rand() * 1000, TICK_NS);
	assert_in_range(taken, MINUTE / 4, MINUTE * 2 / 5);
}

/* The first tick seen was late: those that follow set it right. */
static void first_one_late(void **state)
{
	struct nve_lateness l = {0};
	int taken = 0;

	(void)state;
	nve_lateness_is_late(&l, tick(0, 1000, 900000), TICK_NS);
	for (int i = 1; i < 1000; i++)
		taken += !nve_lateness_is_late(&l, tick((uint64_t)i, 1000, (uint64_t)i % 100 * 100),
					       TICK_NS);
	assert_in_range(taken, 250, 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_ones),
		cmocka_unit_test(no_ticks),
		cmocka_unit_test(first_one_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
