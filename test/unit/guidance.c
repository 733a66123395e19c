/* Guidance files: what is accepted, what is refused and how it is told, which line fits a site. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emu/guidance.h"

static struct nve_guidance g;
static struct nve_guidance_error error;

static int parse(const char *text)
{
	memset(&error, 0, sizeof(error));
	return nve_guidance_parse(&g, text, strlen(text), &error);
}

static void defaults(void **state)
{
	(void)state;
	assert_int_equal(parse(""), 0);
	for (int i = 0; i < NVE_GUIDANCE_KINDS; i++)
		assert_int_equal(g.tier[i], NVE_TIER_DRAM);
	assert_int_equal(parse("default @ nvm"), 0);
	for (int i = 0; i < NVE_GUIDANCE_KINDS; i++)
		assert_int_equal(g.tier[i], NVE_TIER_NVM);
	assert_int_equal(parse("mmap@nvm\nstack @\tdram\n"), 0);
	assert_int_equal(g.tier[NVE_GUIDANCE_MMAP], NVE_TIER_NVM);
	assert_int_equal(g.tier[NVE_GUIDANCE_ANONYMOUS], NVE_TIER_NVM);
	assert_int_equal(g.tier[NVE_GUIDANCE_HEAP], NVE_TIER_DRAM);
	assert_int_equal(g.given[NVE_GUIDANCE_ANONYMOUS], 0);
	assert_int_equal(g.given[NVE_GUIDANCE_STACK], 2);
	/* the order of lines does not matter */
	assert_int_equal(parse("anonymous @ dram\nmmap @ nvm\ndefault @ nvm\n"), 0);
	assert_int_equal(g.tier[NVE_GUIDANCE_ANONYMOUS], NVE_TIER_DRAM);
	assert_int_equal(g.tier[NVE_GUIDANCE_DATA], NVE_TIER_NVM);
	assert_int_equal(g.line_count, 0);
}

static void paths(void **state)
{
	static const char text[] = "# a comment\r\n"
				   "\n"
				   "  src/a.c:12>b.c:40 @ nvm  # hot\r\n"
				   "my app!0x1F > lib#1.so@2!0xffffffffffffffff @dram";
	const struct nve_guidance_line *line = g.line;

	(void)state;
	assert_int_equal(parse(text), 0);
	assert_int_equal(g.line_count, 2);
	assert_int_equal(g.frame_count, 4);
	assert_int_equal(line[0].number, 3);
	assert_int_equal(line[0].count, 2);
	assert_int_equal(line[0].tier, NVE_TIER_NVM);
	assert_int_equal(line[0].text_length, strlen("src/a.c:12>b.c:40 @ nvm"));
	assert_memory_equal(g.frame[0].name, "src/a.c", 7);
	assert_true(g.frame[0].is_source && g.frame[0].number == 12);
	assert_true(g.frame[1].is_source && g.frame[1].number == 40);
	assert_int_equal(line[1].first, 2);
	assert_int_equal(line[1].tier, NVE_TIER_DRAM);
	assert_true(!g.frame[2].is_source && g.frame[2].number == 0x1f);
	assert_memory_equal(g.frame[2].name, "my app", 6);
	assert_int_equal(g.frame[3].name_length, strlen("lib#1.so@2"));
	assert_true(g.frame[3].number == UINT64_MAX);
}

static void refused(void **state)
{
	static const char *const wrong[] = {
		"a.c:12",
		"a.c:12 @ slow",
		"a.c:12 @",
		"@ nvm",
		"a.c @ nvm",
		"a.c:x @ nvm",
		"a.c:0 @ nvm",
		":12 @ nvm",
		"a.c: @ nvm",
		"app!12 @ nvm",
		"app!0x @ nvm",
		"app!0xfg @ nvm",
		"!0x12 @ nvm",
		"app!0x10000000000000000 @ nvm",
		"a.c:18446744073709551616 @ nvm",
		"a.c:1 > @ nvm",
		"> a.c:1 @ nvm",
		"a.c:1 >> b.c:2 @ nvm",
		"heaps @ nvm",
		"a.c:1 @ nvm dram",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[100];

		snprintf(text, sizeof(text), "\n%s\n", wrong[i]);
		assert_int_equal(parse(text), -EINVAL);
		assert_int_equal(error.line, 2);
		assert_non_null(strstr(error.text, "; accepted: FRAME > FRAME ... @ TIER"));
	}
	assert_int_equal(parse("heap @ nvm\nheap @ nvm"), -EINVAL);
	assert_int_equal(error.line, 2);
	assert_string_equal(error.text, "'heap' again, after line 1");
	assert_int_equal(parse("a.c:12 @ sl\1w"), -EINVAL);
}

static void too_much(void **state)
{
	static char text[2 << 20];
	char *at = text;

	(void)state;
	for (int i = 0; i <= NVE_GUIDANCE_LINES; i++)
		at += sprintf(at, "a.c:%d @ nvm\n", i + 1);
	assert_int_equal(parse(text), -E2BIG);
	assert_int_equal(error.line, NVE_GUIDANCE_LINES + 1);
	at = text;
	for (int i = 0; i < NVE_GUIDANCE_DEPTH; i++)
		at += sprintf(at, "a.c:%d > ", i + 1);
	strcpy(at, "a.c:99 @ nvm");
	assert_int_equal(parse(text), -E2BIG);
	assert_string_equal(error.text, "more than 64 frames in a line");
	strcpy(at - 3, " @ nvm");
	assert_int_equal(parse(text), 0);
	at = text;
	for (int i = 0; i <= NVE_GUIDANCE_FRAMES; i++)
		at += sprintf(at, "a.c:%d%s", i + 1, i % 32 == 31 ? " @ nvm\n" : " > ");
	strcpy(at - 3, " @ nvm");
	assert_int_equal(parse(text), -E2BIG);
	assert_int_equal(error.line, NVE_GUIDANCE_FRAMES / 32 + 1);
}

static void names(void **state)
{
	(void)state;
	assert_true(nve_guidance_names("a.c", 3, "/x/y/a.c"));
	assert_true(nve_guidance_names("a.c", 3, "a.c"));
	assert_true(nve_guidance_names("y/a.c", 5, "/x/y/a.c"));
	assert_true(nve_guidance_names("/x/y/a.c", 8, "/x/y/a.c"));
	assert_false(nve_guidance_names("a.c", 3, "/x/y/ba.c"));
	assert_false(nve_guidance_names("x/y/a.c", 7, "y/a.c"));
	assert_false(nve_guidance_names("/a.c", 4, "/x/ba.c"));
}

/* Source lines of the made-up program: offset 0x100 * n covers line n of a.c, and 0x700 also line
 * 9, into which line 7 was inlined. */
static bool covers(void *ctx, uint32_t frame, const struct nve_guidance_at *at)
{
	const struct nve_guidance_frame *f = &g.frame[frame];
	uint64_t line = at->offset >> 8;

	assert_ptr_equal(ctx, &g);
	if (strcmp(at->module, "/bin/app") || memcmp(f->name, "a.c", 3))
		return false;
	return f->number == line || (line == 7 && f->number == 9);
}

static struct nve_guidance_match match(const struct nve_guidance_at *at, size_t count)
{
	struct nve_guidance_site site = {at, count, covers, &g};

	return nve_guidance_match(&g, &site);
}

#define MATCH(...)                                                                                 \
	match((const struct nve_guidance_at[]){__VA_ARGS__},                                       \
	      sizeof((const struct nve_guidance_at[]){__VA_ARGS__}) /                              \
		      sizeof(struct nve_guidance_at))
#define APP(offset)                                                                                \
	{                                                                                          \
		"/bin/app", offset                                                                 \
	}

static void offsets(void **state)
{
	struct nve_guidance_match m;

	(void)state;
	assert_int_equal(parse("app!0x10 @ nvm\napp!0x10 > app!0x20 @ dram\nlib.so!0x10 @ nvm\n"),
			 0);
	m = MATCH(APP(0x10), APP(0x30));
	assert_int_equal(m.line, 0);
	/* the longer path decides, whatever the order */
	m = MATCH(APP(0x10), APP(0x20), APP(0x30));
	assert_int_equal(m.line, 1);
	assert_int_equal(m.other, -1);
	m = MATCH(APP(0x20), APP(0x10));
	assert_int_equal(m.line, -1);
	m = MATCH({"/lib/lib.so", 0x10});
	assert_int_equal(m.line, 2);
	m = MATCH({"/lib/xlib.so", 0x10});
	assert_int_equal(m.line, -1);
	assert_int_equal(match(NULL, 0).line, -1);
}

/* operator new stands between the program and malloc(). */
static void runtime_frames(void **state)
{
	struct nve_guidance_match m;

	(void)state;
	assert_int_equal(parse("app!0x10 @ nvm\n"), 0);
	m = MATCH({"/lib/libstdc++.so.6", 0x99}, {"/lib/libc.so.6", 1}, APP(0x10));
	assert_int_equal(m.line, 0);
	m = MATCH({"/lib/other.so", 0x99}, APP(0x10));
	assert_int_equal(m.line, -1);
	m = MATCH({"/lib/libstdc++.so.6", 0x99});
	assert_int_equal(m.line, -1);
	assert_int_equal(parse("libstdc++.so.6!0x99 > app!0x10 @ nvm\napp!0x10 @ dram\n"), 0);
	m = MATCH({"/lib/libstdc++.so.6", 0x99}, APP(0x10));
	assert_int_equal(m.line, 0);
}

static void sources(void **state)
{
	struct nve_guidance_match m;

	(void)state;
	assert_int_equal(parse("a.c:1 > a.c:2 @ nvm\na.c:7 > a.c:9 > a.c:3 @ nvm\na.c:9 @ dram\n"
			       "a.c:5 > a.c:5 @ nvm\n"),
			 0);
	m = MATCH(APP(0x100), APP(0x200));
	assert_int_equal(m.line, 0);
	m = MATCH(APP(0x100), APP(0x300));
	assert_int_equal(m.line, -1);
	/* one frame that is two, by inlining; both named, or the outer alone */
	m = MATCH(APP(0x700), APP(0x300));
	assert_int_equal(m.line, 1);
	m = MATCH(APP(0x700), APP(0x400));
	assert_int_equal(m.line, 2);
	/* not inlined: the same two in frames of their own */
	m = MATCH(APP(0x700), APP(0x900), APP(0x300));
	assert_int_equal(m.line, 1);
	/* a line that calls itself is two frames, not one */
	m = MATCH(APP(0x500), APP(0x600));
	assert_int_equal(m.line, -1);
	m = MATCH(APP(0x500), APP(0x500));
	assert_int_equal(m.line, 3);
	/* nobody knows of source lines */
	m = nve_guidance_match(&g, &(struct nve_guidance_site){&(struct nve_guidance_at)APP(0x100),
							       1, NULL, NULL});
	assert_int_equal(m.line, -1);
}

static void ambiguous(void **state)
{
	struct nve_guidance_match m;

	(void)state;
	assert_int_equal(parse("a.c:7 @ nvm\na.c:9 @ dram\napp!0x700 @ nvm\n"), 0);
	m = MATCH(APP(0x700));
	assert_int_equal(m.line, 0);
	assert_int_equal(m.other, 1);
	m = MATCH(APP(0x900));
	assert_int_equal(m.line, 1);
	assert_int_equal(m.other, -1);
	/* two that say the same are none */
	assert_int_equal(parse("a.c:7 @ nvm\na.c:9 @ nvm\n"), 0);
	assert_int_equal(MATCH(APP(0x700)).other, -1);
	/* a longer one settles it */
	assert_int_equal(parse("a.c:7 @ nvm\na.c:9 @ dram\na.c:7 > a.c:1 @ dram\n"), 0);
	m = MATCH(APP(0x700), APP(0x100));
	assert_int_equal(m.line, 2);
	assert_int_equal(m.other, -1);
}

/* A site deeper than any line may be. */
static void deep(void **state)
{
	struct nve_guidance_at at[100];

	(void)state;
	for (size_t i = 0; i < 100; i++)
		at[i] = (struct nve_guidance_at)APP(0x100);
	assert_int_equal(parse("a.c:1 > a.c:1 > a.c:1 @ nvm\n"), 0);
	assert_int_equal(match(at, 100).line, 0);
	at[2].offset = 0;
	assert_int_equal(match(at, 100).line, -1);
}

/* Any bytes: an answer, and no access outside of them. */
static void anything(void **state)
{
	static const char alphabet[] = "a.c:1>!0x @nvmdra#\n\t heap";
	uint64_t x = 3;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char *text = test_malloc(64);
		size_t size = x >> 58;

		for (size_t i = 0; i < size; i++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			text[i] = alphabet[(x >> 33) % (sizeof(alphabet) - 1)];
		}
		memset(&error, 0, sizeof(error));
		if (nve_guidance_parse(&g, text, size, &error))
			assert_true(error.line > 0 && error.text[0]);
		else
			assert_true(error.line == 0);
		test_free(text);
		x = x * 6364136223846793005u + 1442695040888963407u;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),       cmocka_unit_test(paths),
		cmocka_unit_test(refused),        cmocka_unit_test(too_much),
		cmocka_unit_test(names),          cmocka_unit_test(offsets),
		cmocka_unit_test(runtime_frames), cmocka_unit_test(sources),
		cmocka_unit_test(ambiguous),      cmocka_unit_test(deep),
		cmocka_unit_test(anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
