/* Time without a core, by made-up clocks. */
#include "unit.h"

#include "emu/corewait.h"

static void wall_beyond_cpu(void **state)
{
	struct nve_corewait w = {0};

	(void)state;
	assert_int_equal(nve_corewait_take(&w, 1000, 400, 3), 0);
	assert_int_equal(nve_corewait_take(&w, 1500, 900, 3), 0);
	assert_int_equal(nve_corewait_take(&w, 5500, 1400, 3), 3500);
	/* clocks that are read one after the other */
	assert_int_equal(nve_corewait_take(&w, 6500, 2410, 3), 0);
}

/* It waited for something: nobody knows how much of that was for a core. */
static void who_gives_up_waits_for_none(void **state)
{
	struct nve_corewait w = {0};

	(void)state;
	nve_corewait_take(&w, 1000, 400, 3);
	assert_int_equal(nve_corewait_take(&w, 9000, 500, 4), 0);
	assert_int_equal(nve_corewait_take(&w, 9900, 600, 4), 800);
}

static void marked(void **state)
{
	struct nve_corewait w = {0};

	(void)state;
	nve_corewait_take(&w, 1000, 400, 3);
	nve_corewait_mark(&w, 9000, 500, 0);
	assert_int_equal(nve_corewait_take(&w, 9300, 600, 3), 200);
	nve_corewait_mark(&w, 19000, 700, 50);
	assert_int_equal(nve_corewait_take(&w, 19100, 800, 3), 50);
}

static void forked(void **state)
{
	struct nve_corewait w = {0};

	(void)state;
	nve_corewait_take(&w, 1000, 400000, 3);
	assert_int_equal(nve_corewait_take(&w, 9000, 5, 3), 0);
	assert_int_equal(nve_corewait_take(&w, 9100, 10, 3), 95);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wall_beyond_cpu),
		cmocka_unit_test(who_gives_up_waits_for_none),
		cmocka_unit_test(marked),
		cmocka_unit_test(forked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
