/* The table of lines that a window has touched. */
#include "unit.h"

#include <string.h>

#include "count/ahead/lines.h"

static struct nve_lines lines;

static void touches(void **state)
{
	struct nve_line *a, *b;
	bool fresh;

	(void)state;
	nve_lines_clear(&lines, 100);
	a = nve_lines_touch(&lines, 42, &fresh);
	assert_true(a && fresh && a->id == 42 && !a->written && !a->missed && !a->latency);
	a->written = true;
	b = nve_lines_touch(&lines, 43, &fresh);
	assert_true(b && fresh && b != a && !b->written);
	assert_ptr_equal(nve_lines_touch(&lines, 42, &fresh), a);
	assert_true(!fresh && a->written);
	assert_int_equal(lines.count, 2);
	/* looked up only */
	assert_ptr_equal(nve_lines_find(&lines, 42), a);
	assert_null(nve_lines_find(&lines, 44));
	assert_int_equal(lines.count, 2);
	assert_true(lines.line[0].id == 42 && lines.line[1].id == 43);
	/* Line 0 is as good as any. */
	assert_true(nve_lines_touch(&lines, 0, &fresh) && fresh);
	assert_true(nve_lines_touch(&lines, UINT64_MAX / 64, &fresh) && fresh);
}

static void full(void **state)
{
	uint32_t held = 0;
	bool fresh;

	(void)state;
	nve_lines_clear(&lines, NVE_LINES_MAX);
	while (nve_lines_touch(&lines, held * 64, &fresh))
		held++;
	assert_int_equal(held, NVE_LINES_MAX);
	/* Those that are there are found all the same, in order. */
	for (uint32_t i = 0; i < held; i++) {
		struct nve_line *line = nve_lines_touch(&lines, i * 64, &fresh);

		assert_true(line == &lines.line[i] && !fresh);
	}
	assert_null(nve_lines_touch(&lines, 1, &fresh));
}

/* A small table holds at least what was announced. */
static void expected(void **state)
{
	static const uint32_t sizes[] = {0, 1, 100, 500, 1000, 3000};
	bool fresh;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		nve_lines_clear(&lines, sizes[i]);
		for (uint64_t id = 0; id < sizes[i]; id++)
			assert_true(nve_lines_touch(&lines, id * 4096, &fresh) && fresh);
	}
}

/* Clearing forgets, through every value of a generation and back. */
static void generations(void **state)
{
	bool fresh;

	(void)state;
	for (int i = 0; i < 70000; i++) {
		nve_lines_clear(&lines, 10);
		assert_true(nve_lines_touch(&lines, 7, &fresh) && fresh);
		assert_true(nve_lines_touch(&lines, (uint64_t)i + 8, &fresh) && fresh);
		assert_int_equal(lines.count, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(touches),
		cmocka_unit_test(full),
		cmocka_unit_test(expected),
		cmocka_unit_test(generations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
