/* Sorted ranges: cutting, putting, finding; lines of /proc/PID/maps. */
#include "heap/ranges.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct nve_ranges ranges;
static uint64_t taken_bytes;

static void fresh(void)
{
	if (!ranges.range)
		assert_int_equal(nve_ranges_setup(&ranges), 0);
	nve_ranges_begin(&ranges);
	nve_ranges_end(&ranges);
}

static void put(uint64_t start, uint64_t end, uint32_t site)
{
	struct nve_range range = {start, end, site, NVE_HEAP_MAPPED};

	assert_int_equal(nve_ranges_put(&ranges, &range), 0);
}

/* 0: in none. */
static uint32_t site_at(uint64_t addr)
{
	struct nve_range found;

	return nve_ranges_find(&ranges, addr, &found) ? 0 : found.site;
}

static void count_taken(const struct nve_range *piece)
{
	taken_bytes += piece->end - piece->start;
}

static void finds_what_was_put(void **state)
{
	(void)state;
	fresh();
	put(300, 400, 3);
	put(100, 200, 1);
	put(200, 300, 2);
	assert_int_equal(site_at(99), 0);
	assert_int_equal(site_at(100), 1);
	assert_int_equal(site_at(199), 1);
	assert_int_equal(site_at(200), 2);
	assert_int_equal(site_at(399), 3);
	assert_int_equal(site_at(400), 0);
}

static void later_ranges_take_the_place_of_earlier(void **state)
{
	(void)state;
	fresh();
	put(100, 500, 1);
	put(200, 300, 2);
	assert_int_equal(ranges.count, 3);
	assert_int_equal(site_at(199), 1);
	assert_int_equal(site_at(250), 2);
	assert_int_equal(site_at(300), 1);
	put(50, 600, 3);
	assert_int_equal(ranges.count, 1);
	assert_int_equal(site_at(450), 3);
}

static void cuts_beginnings_middles_and_ends(void **state)
{
	(void)state;
	fresh();
	put(100, 200, 1);
	put(200, 300, 2);
	put(300, 400, 3);
	taken_bytes = 0;
	nve_ranges_cut(&ranges, 150, 350, count_taken);
	assert_int_equal(taken_bytes, 200);
	assert_int_equal(site_at(149), 1);
	assert_int_equal(site_at(150), 0);
	assert_int_equal(site_at(250), 0);
	assert_int_equal(site_at(350), 3);
	taken_bytes = 0;
	nve_ranges_cut(&ranges, 110, 120, count_taken);
	assert_int_equal(taken_bytes, 10);
	assert_int_equal(site_at(109), 1);
	assert_int_equal(site_at(119), 0);
	assert_int_equal(site_at(120), 1);
	nve_ranges_cut(&ranges, 0, 1000, NULL);
	assert_int_equal(ranges.count, 0);
}

/* Against a table that has a site for each address. */
static void agrees_with_a_plain_table(void **state)
{
	static uint8_t plain[512];
	uint32_t x = 1;

	(void)state;
	fresh();
	for (int i = 0; i < 20000; i++) {
		uint32_t start, length, site;

		x = x * 1664525u + 1013904223u;
		start = x >> 16 & 255;
		length = 1 + (x >> 24 & 63);
		site = x >> 8 & 7;
		memset(plain + start, (int)site, length);
		if (site)
			put(start, start + length, site);
		else
			nve_ranges_cut(&ranges, start, start + length, NULL);
		start = x >> 9 & 511;
		assert_int_equal(site_at(start), plain[start]);
	}
	for (uint32_t i = 0; i < 512; i++)
		assert_int_equal(site_at(i), plain[i]);
}

static void a_full_table_says_so(void **state)
{
	struct nve_range range = {.site = 1};

	(void)state;
	fresh();
	for (uint64_t i = 0; i < NVE_RANGES_MAX; i++) {
		range.start = 2 * i;
		range.end = 2 * i + 1;
		nve_ranges_begin(&ranges);
		ranges.count = (uint32_t)i;
		nve_ranges_append(&ranges, &range);
		nve_ranges_end(&ranges);
	}
	range.start = 1;
	range.end = 2;
	assert_int_equal(nve_ranges_put(&ranges, &range), -ENOSPC);
	assert_int_equal(site_at(2 * (NVE_RANGES_MAX - 1)), 1);
}

static void a_change_has_no_answer(void **state)
{
	struct nve_range found;

	(void)state;
	fresh();
	put(100, 200, 1);
	ranges.changes++;
	assert_int_equal(nve_ranges_find(&ranges, 150, &found), -ENOENT);
	ranges.changes++;
	assert_int_equal(nve_ranges_find(&ranges, 150, &found), 0);
}

static void parses_lines_of_maps(void **state)
{
	static const struct {
		const char *line, *path;
		uint64_t start, end;
		enum nve_heap_kind kind;
	} lines[] = {
		{"55d0e8a00000-55d0e8a21000 rw-p 00000000 00:00 0                          [heap]",
		 "[heap]", 0x55d0e8a00000, 0x55d0e8a21000, NVE_HEAP_BREAK},
		{"7ffd5e1c4000-7ffd5e1e5000 rw-p 00000000 00:00 0                          "
		 "[stack]",
		 "[stack]", 0x7ffd5e1c4000, 0x7ffd5e1e5000, NVE_HEAP_STACK},
		{"7f8b1c000000-7f8b1c021000 rw-p 00000000 00:00 0 ", "", 0x7f8b1c000000,
		 0x7f8b1c021000, NVE_HEAP_OTHER},
		{"7f1e5a3d2000-7f1e5a3d4000 rw-p 001d2000 fe:01 1312 /usr/lib/a b.so",
		 "/usr/lib/a b.so", 0x7f1e5a3d2000, 0x7f1e5a3d4000, NVE_HEAP_DATA},
	};
	struct nve_range range;
	const char *path;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_true(nve_ranges_parse(lines[i].line, &range, &path));
		assert_string_equal(path, lines[i].path);
		assert_true(range.start == lines[i].start && range.end == lines[i].end);
		assert_int_equal(range.kind, lines[i].kind);
	}
	assert_false(nve_ranges_parse("", &range, &path));
	assert_false(nve_ranges_parse("x", &range, &path));
	assert_false(nve_ranges_parse("1000-800 rw-p", &range, &path));
	assert_false(nve_ranges_parse("1000 2000 rw-p", &range, &path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_put),
		cmocka_unit_test(later_ranges_take_the_place_of_earlier),
		cmocka_unit_test(cuts_beginnings_middles_and_ends),
		cmocka_unit_test(agrees_with_a_plain_table),
		cmocka_unit_test(a_full_table_says_so),
		cmocka_unit_test(a_change_has_no_answer),
		cmocka_unit_test(parses_lines_of_maps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
