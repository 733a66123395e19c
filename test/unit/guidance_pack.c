/* From the heat of sites to a guidance file: what is chosen, and that the library reads it. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "emu/guidance.h"
#include "guidance.h"

_Static_assert((int)GUIDANCE_LINES == (int)NVE_GUIDANCE_LINES &&
		       (int)GUIDANCE_FRAMES == (int)NVE_GUIDANCE_FRAMES &&
		       (int)GUIDANCE_DEPTH == (int)NVE_GUIDANCE_DEPTH,
	       "what is written is read");

static void densest_first(void **state)
{
	struct guidance_entry e[] = {
		{.path = "app!0x1", .stall_ns = 100, .bytes = 1000},
		{.path = "app!0x2", .stall_ns = 90, .bytes = 100},
		{.path = "app!0x3", .stall_ns = 0, .bytes = 1},
		{.path = "app!0x4", .stall_ns = 10, .bytes = 90},
		{.path = "stack", .stall_ns = 5, .bytes = 0},
	};

	(void)state;
	/* 0x1 does not fit any more, 0x4 after it does */
	assert_int_equal(guidance_pack(e, NVE_ARRAY_SIZE(e), 1000), 190);
	assert_string_equal(e[0].path, "stack");
	assert_string_equal(e[1].path, "app!0x2");
	assert_true(e[0].dram && e[1].dram);
	for (size_t i = 2; i < NVE_ARRAY_SIZE(e); i++)
		assert_int_equal(e[i].dram, !strcmp(e[i].path, "app!0x4"));
	assert_int_equal(guidance_pack(e, NVE_ARRAY_SIZE(e), UINT64_MAX), 1190);
	assert_int_equal(guidance_pack(e, NVE_ARRAY_SIZE(e), 0), 0);
	assert_true(e[0].dram && !e[1].dram);
	assert_int_equal(guidance_pack(e, 0, 1000), 0);
}

/* Never more than there is, and nothing left out that is denser than what is in and would fit. */
static void any(void **state)
{
	static struct guidance_entry e[50];
	static char path[50][16];
	uint64_t x = 5;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint64_t capacity, used;

		for (size_t i = 0; i < NVE_ARRAY_SIZE(e); i++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			snprintf(path[i], sizeof(path[i]), "m!0x%zx", i);
			e[i] = (struct guidance_entry){.path = path[i],
						       .stall_ns = (double)(x >> 56),
						       .bytes = x >> 32 & 1023};
		}
		capacity = x >> 40 & 16383;
		used = guidance_pack(e, NVE_ARRAY_SIZE(e), capacity);
		assert_true(used <= capacity);
		for (size_t i = 0, before = 0; i < NVE_ARRAY_SIZE(e); i++) {
			if (e[i].stall_ns > 0)
				assert_int_equal(e[i].dram, before + e[i].bytes <= capacity);
			else
				assert_false(e[i].dram);
			before += e[i].dram ? e[i].bytes : 0;
			used -= e[i].dram ? e[i].bytes : 0;
		}
		assert_int_equal(used, 0);
	}
}

static void is_read(void **state)
{
	static struct nve_guidance g;
	struct nve_guidance_error error = {0};
	struct guidance_entry e[] = {
		{.path = "my app!0x1f > libx.so!0x20",
		 .stall_ns = 55,
		 .bytes = 4096,
		 .comment = "make_tree (tree.c:12)"},
		{.path = "stack", .stall_ns = 20, .bytes = 1 << 20},
		{.path = "odd@name!0x1", .stall_ns = 5, .bytes = 1},
		{.path = "data", .stall_ns = 20, .bytes = GUIDANCE_UNKNOWN},
		{.path = "app!0x9", .stall_ns = 0, .bytes = 1},
	};
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	guidance_pack(e, NVE_ARRAY_SIZE(e), 5000);
	assert_int_equal(guidance_write(f, e, NVE_ARRAY_SIZE(e), 5000), 0);
	fclose(f);
	assert_int_equal(nve_guidance_parse(&g, text, size, &error), 0);
	assert_int_equal(g.line_count, 1);
	assert_int_equal(g.line[0].tier, NVE_TIER_DRAM);
	assert_int_equal(g.line[0].count, 2);
	assert_true(g.frame[1].number == 0x20);
	assert_int_equal(g.tier[NVE_GUIDANCE_STACK], NVE_TIER_NVM);
	assert_true(g.given[NVE_GUIDANCE_STACK] != 0);
	assert_int_equal(g.tier[NVE_GUIDANCE_DEFAULT], NVE_TIER_NVM);
	assert_non_null(strstr(text, "55.00 % of the stall time, 4 KiB; make_tree (tree.c:12)\n"));
	assert_true(g.given[NVE_GUIDANCE_DATA] != 0);
	assert_int_equal(g.tier[NVE_GUIDANCE_DATA], NVE_TIER_NVM);
	assert_non_null(strstr(text, "by 55.0 % of the stall time"));
	assert_non_null(strstr(text, "# cannot be named: odd@name!0x1 @ nvm"));
	assert_non_null(strstr(text, "data @ nvm  # 20.00 % of the stall time, nobody knows"));
	assert_null(strstr(text, "app!0x9"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(densest_first),
		cmocka_unit_test(any),
		cmocka_unit_test(is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
