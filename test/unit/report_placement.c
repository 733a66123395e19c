/* The section "placement" of a report, and a thread's or the process's part in it. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "report/placement.h"

static char text[4096];
static size_t used;

static int write_text(void *ctx, const void *data, size_t size)
{
	(void)ctx;
	if (used + size >= sizeof(text))
		return -ENOSPC;
	memcpy(text + used, data, size);
	used += size;
	text[used] = 0;
	return 0;
}

static const struct nve_report_sink sink = {.write = write_text};

static void begin(struct nve_json *j)
{
	used = 0;
	nve_json_start(j, &sink);
	nve_json_object(j, NULL);
}

static void end(struct nve_json *j)
{
	size_t to = 0;

	nve_json_close(j);
	assert_int_equal(nve_json_finish(j), 0);
	/* without white space outside of strings, which no string here has */
	for (size_t i = 0; text[i]; i++) {
		if (text[i] != '\n' && text[i] != ' ')
			text[to++] = text[i];
	}
	text[to] = 0;
}

static void of_a_thread(void **state)
{
	const struct nve_placed_totals t = {
		.nvm_ma = {25, 7},
		.se_ppm = {1000, 1000000},
		.misses = {{1, 2}, {3, 4}},
		.epochs = {{5, 6, 7, 8}, {9, 10, 11, 12}},
	};
	struct nve_json j;

	(void)state;
	begin(&j);
	nve_report_placed(&j, &t, 100, 0);
	end(&j);
	assert_string_equal(
		text, "{\"placement\":{\"read\":{\"nvm_accesses\":25,\"nvm_share\":0.250000,"
		      "\"nvm_share_se\":0.001000,\"misses_seen\":{\"nvm\":1,\"dram\":2},"
		      "\"epochs\":{\"by_epoch\":5,\"by_thread\":6,\"by_process\":7,"
		      "\"by_default\":8}},\"write\":{\"nvm_accesses\":7,\"nvm_share\":0.000000,"
		      "\"nvm_share_se\":1.000000,\"misses_seen\":{\"nvm\":3,\"dram\":4},"
		      "\"epochs\":{\"by_epoch\":9,\"by_thread\":10,\"by_process\":11,"
		      "\"by_default\":12}}}}");
}

static void section(void **state)
{
	static const struct nve_placed_line lines[] = {
		{.number = 3,
		 .text = "a.c:1@nvm#",
		 .text_length = 9,
		 .sites = 2,
		 .ambiguous = 1,
		 .other = 4,
		 .ranges = 5,
		 .has_source = true},
		{.number = 4, .text = "m!0x1@dram", .text_length = 10, .dram = true},
	};
	struct nve_placement_snapshot s = {
		.on = true,
		.file = "guide",
		.bind = -1,
		.memory = {{"default", true, 1},
			   {"heap", false, 0},
			   {"mmap", true, 0},
			   {"anonymous", true, 0},
			   {"stack", true, 0},
			   {"data", false, 2}},
		.sites = 11,
		.unmatched = 1,
		.ambiguous = 1,
		.marked = 12,
		.source_lines = true,
		.modules = 9,
		.modules_with_lines = 2,
		.line = lines,
		.line_count = 2,
	};
	struct nve_json j;

	(void)state;
	begin(&j);
	nve_report_placement(&j, &s);
	end(&j);
	assert_string_equal(
		text,
		"{\"placement\":{\"file\":\"guide\",\"memory\":{\"default\":\"dram\","
		"\"heap\":\"nvm\",\"mmap\":\"dram\",\"anonymous\":\"dram\",\"stack\":\"dram\","
		"\"data\":\"nvm\"},\"sites_without_line\":11,\"sites_of_nvmemu_malloc\":12,"
		"\"unmatched_lines\":1,\"ambiguous_sites\":1,"
		"\"modules\":9,\"modules_with_source_lines\":2,\"lines\":[{\"line\":3,"
		"\"text\":\"a.c:1@nvm\",\"tier\":\"nvm\",\"sites\":2,\"ambiguous_sites\":1,"
		"\"ambiguous_with_line\":4,\"code_ranges\":5},{\"line\":4,"
		"\"text\":\"m!0x1@dram\",\"tier\":\"dram\",\"sites\":0,\"ambiguous_sites\":0}]}}");
	s.bind = 2;
	s.bound_bytes = 4096;
	begin(&j);
	nve_report_placement(&j, &s);
	end(&j);
	assert_non_null(strstr(text, "\"bound_to_node\":2,\"bound_bytes\":4096,"
				     "\"bind_failures\":0,"));
	/* none asked for: nothing */
	s.on = false;
	begin(&j);
	nve_report_placement(&j, &s);
	end(&j);
	assert_string_equal(text, "{}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_thread),
		cmocka_unit_test(section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
