/*
 * Two parts: a filled snapshot against the text that it must give, key by key; and, with an
 * argument, the program writes that report to stdout, for a real JSON parser to read back
 * (report_parse.py).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "report/report.h"

static char text[65536];
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

/* Each number is another one, so that a value under a wrong key shows. */
static struct nve_totals totals_from(uint64_t base)
{
	struct nve_totals t = {
		.cpu_ns = base + 1,
		.stall_ns = base + 2,
		.stall_wb_ns = base + 3,
		.ma_ro = base + 4,
		.ma_wb = base + 5,
		.clamps = base + 6,
		.epochs = base + 7,
		.stall_share_ppm = 250000,
		.stall_share_se_ppm = 1234,
		.dirty_ppm = 1000000,
		.dirty_se_ppm = 7,
		.latency_ps = 154321,
		.latency_se_ps = 1050,
		.dram_lat_ps = 150000,
		.delay_owed_ns = base + 8,
		.delay_paid_ns = base + 9,
		.delay_dropped_ns = base + 10,
		.delay_handover_ns = base + 26,
		.handovers = base + 27,
		.samples = base + 11,
		.samples_user = base + 12,
		.samples_kernel = base + 13,
		.samples_own = base + 14,
		.samples_no_answer = base + 15,
		.samples_lost = base + 16,
		.windows = 4,
		.window_steps = 4002,
		.window_limits = base + 17,
		.touches = base + 18,
		.misses = base + 19,
		.misses_written = base + 20,
		.faults = base + 21,
		.handler_ns = base + 22,
		.lookahead_ns = base + 23,
		.saved_ns = base + 24,
		.monitor_ns = base + 25,
		.counters = {.reads = {.reads = base + 40,
				       .unread = base + 41,
				       .wraps = base + 42,
				       .backwards = base + 43,
				       .enabled_ns = 1000,
				       .running_ns = 300},
			     .epochs = base + 44,
			     .clamps = base + 45,
			     .looked_ns = base + 46,
			     .ahead_stall_ns = base + 47,
			     .ahead_stall_wb_ns = base + 48,
			     .uncounted = base + 49,
			     .loads = {.taken = base + 50,
				       .elsewhere = base + 51,
				       .lost = base + 52,
				       .throttled = base + 53,
				       .damaged = base + 54,
				       .refused = base + 55}},
	};

	for (size_t i = 0; i < NVE_STOP_COUNT; i++)
		t.window_stops[i] = base + 30 + i;
	return t;
}

static struct nve_thread_snapshot threads[2];
static struct nve_timeline_thread timeline[1];
static struct nve_timeline rest;

/* All of it in one thread; in its second bucket there is 10 more of each quantity. */
static struct nve_timeline_snapshot filled_timeline(void)
{
	uint64_t amounts[NVE_TIMELINE_QUANTITIES];

	memset(timeline, 0, sizeof(timeline));
	timeline[0].tid = 4712;
	strcpy(timeline[0].name, "worker");
	for (uint64_t bucket = 0; bucket < 2; bucket++) {
		for (size_t q = 0; q < NVE_TIMELINE_QUANTITIES; q++)
			amounts[q] = 50 + 10 * bucket + q;
		nve_timeline_add(&timeline[0].timeline, bucket * NVE_TIMELINE_FIRST_WIDTH_NS,
				 (bucket + 1) * NVE_TIMELINE_FIRST_WIDTH_NS, amounts);
	}
	return (struct nve_timeline_snapshot){.total = &timeline[0].timeline,
					      .threads = timeline,
					      .thread_count = 1,
					      .rest = &rest,
					      .rest_threads = 4};
}

static struct nve_regions_snapshot regions(void)
{
	/* outer > inner > outer, and inner alone */
	static const struct nve_region_name names[] = {
		{.name = ""},
		{.name = "outer", .parent = 0, .first = 1},
		{.name = "inner", .parent = 1, .first = 2},
		{.name = "outer", .parent = 2, .first = 1},
		{.name = "inner", .parent = 0, .first = 2},
	};
	static struct nve_region_row rows[6];

	for (uint32_t i = 0; i < 6; i++) {
		uint64_t n = 1u << i;

		rows[i] = (struct nve_region_row){
			.node = i,
			.calls = i ? i + 2 : 0,
			.figures = {.wall_ns = 6 * n,
				    .cpu_ns = n,
				    .stall_ns = n / 2,
				    .delay_owed_ns = 12 * n,
				    .delay_paid_ns = 11 * n},
		};
	}
	/* The last: the pauses in the first. */
	rows[5].node = rows[5].paused = 1;
	rows[5].calls = 0;
	return (struct nve_regions_snapshot){
		.names = names,
		.name_count = NVE_ARRAY_SIZE(names),
		.rows = {.row = rows, .count = 6},
		.counts = {.no_begin = 7,
			   .left_open = 5,
			   .open_at_end = 11,
			   .misnested = 12,
			   .too_deep = 13,
			   .no_room = 14,
			   .cut_names = 15,
			   .no_name = 16,
			   .no_pause = 17,
			   .begins = 18,
			   .pauses = 19,
			   .rows_lost = 20},
	};
}

static struct nve_snapshot filled_snapshot(void)
{
	char *const environment[] = {"NVM_WLAT=300", "NVM_OUT=/tmp/a \"b\"", NULL};
	struct nve_options_message error, warning;
	struct nve_snapshot s = {
		.program = "app\xff\"",
		.pid = 4711,
		.ppid = 12,
		.host = "box",
		.started_at_s = 1582934400,
		.wall_ns = UINT64_MAX,
		.ended_by = "exit",
		.emulated = true,
		.sources = {.of = {[NVE_QUANTITY_STALL] = {.name = "hardware counters",
							   .how = "by a test"},
				   [NVE_QUANTITY_DIRTY] = {.name = "look-ahead",
							   .no_better = {"uncore_imc: \"no\"",
									 "get one"}},
				   [NVE_QUANTITY_LATENCY] = {.name = "look-ahead"},
				   [NVE_QUANTITY_ADDRESSES] = {.name = "none"},
				   [NVE_QUANTITY_TRAFFIC] = {.name = "look-ahead"}}},
		.counter_events = "a row",
		.uncore_reads = 71,
		.uncore_clamps = 72,
		.uncore_failures = 73,
		.timer_source = "cpu-time timer",
		.threads_total = 5,
		.threads_not_listed = 3,
		.foreign_threads = 9,
		.thread_count = 2,
		.threads = threads,
	};

	assert_int_equal(nve_options_parse(&s.options, environment, &error, &warning), 0);
	s.machine = (struct nve_machine_snapshot){
		.cpu = "a CPU",
		.tsc_khz = 2400000,
		.dram_lat_ps = 150000,
		.llc_lat_ps = 20500,
		.dram_lat_given = true,
		.w_milli = 7317,
		.fence_cycles = 70,
		.threshold_cycles = 200,
		.run_ahead_instructions = 320,
		.llc_bytes = 33554432,
		.huge_pages = true,
	};
	s.regions = regions();
	s.totals = totals_from(1000);
	s.timeline = filled_timeline();
	strcpy(s.stop_names[0].name, "vpcmpub");
	s.stop_names[0].count = 99;
	memset(s.stop_names[1].name, 'x', sizeof(s.stop_names[1].name));
	s.stop_names[1].count = 1;
	threads[0] = (struct nve_thread_snapshot){.tid = 4711, .alive = true, .name = "main"};
	threads[0].totals = totals_from(2000);
	threads[1] = (struct nve_thread_snapshot){.tid = 4712, .name = "worker"};
	threads[1].totals = totals_from(3000);
	threads[1].regions = (struct nve_region_rows){.row = &s.regions.rows.row[4], .count = 1};
	return s;
}

static void write_report(const struct nve_snapshot *s)
{
	const struct nve_report_sink sink = {.write = write_text};

	used = 0;
	assert_int_equal(nve_report_write(s, &sink), 0);
}

/* The line must follow the one found before; from NULL on from the beginning. */
static const char *expect_line(const char *from, const char *line)
{
	const char *found = strstr(from ? from : text, line);

	if (!found)
		print_error("missing: %s\nin:\n%s", line, from ? from : text);
	assert_non_null(found);
	return found + 1;
}

static void test_head(void **state)
{
	const struct nve_snapshot s = filled_snapshot();
	const char *at;

	(void)state;
	write_report(&s);
	at = expect_line(NULL, "{\n  \"schema\": \"nvmemu-report\",\n  \"version\": 1,\n");
	at = expect_line(at, "\"name\": \"app\\ufffd\\\"\"");
	at = expect_line(at, "\"started_at\": \"2020-02-29T00:00:00Z\"");
	at = expect_line(at, "\"wall_ns\": 18446744073709551615");
	at = expect_line(at, "\"ended_by\": \"exit\"");
	at = expect_line(at, "\n  \"emulated\": \"yes\",\n  \"why_not\": \"\",\n  \"machine\": {");
	at = expect_line(at, "\"dram_lat_ns\": 150.000");
	at = expect_line(at, "\"dram_lat_origin\": \"NVM_DRAM_LAT\"");
	at = expect_line(at, "\"llc_lat_ns\": 20.500");
	at = expect_line(at, "\"llc_lat_origin\": \"measured\"");
	at = expect_line(at, "\"w\": 7.317");
	at = expect_line(at, "\"calibrated_at\": null");
	at = expect_line(at, "\n  \"settings\": {");
	at = expect_line(at, "\n  \"sources\": {");
	at = expect_line(at, "\"stall_time\": \"hardware counters\"");
	at = expect_line(at, "\"latency\": \"look-ahead\"");
	at = expect_line(at, "\"timer\": \"cpu-time timer\"");
	at = expect_line(at, "\"counter_events\": \"a row\"");
	at = expect_line(at, "\"how\": {");
	at = expect_line(at, "\"stall_time\": \"by a test\"");
	at = expect_line(at, "\"why_not_better\": {");
	at = expect_line(at, "\"stall_time\": \"\"");
	at = expect_line(at, "\"dirty_fraction\": \"uncore_imc: \\\"no\\\"\"");
	at = expect_line(at, "\"mend\": {");
	at = expect_line(at, "\"dirty_fraction\": \"get one\"");
	at = expect_line(at, "\"reads\": 71");
	expect_line(at, "\"failures\": 73");
}

static void test_settings(void **state)
{
	const struct nve_snapshot s = filled_snapshot();
	const struct nve_option_row *row;
	const char *at;
	size_t i;

	(void)state;
	write_report(&s);
	at = expect_line(NULL, "\"settings\": {");
	for (i = 0; (row = nve_options_row(i)); i++)
		expect_line(at, row->name);
	assert_true(i > 5);
	expect_line(at, "\"NVM_WLAT\": \"300ns\"");
	expect_line(at, "\"NVM_OUT\": \"/tmp/a \\\"b\\\"\"");
}

static void test_totals(void **state)
{
	const struct nve_snapshot s = filled_snapshot();
	const char *at;

	(void)state;
	write_report(&s);
	at = expect_line(NULL, "\n  \"totals\": {\n    \"cpu_ns\": 1001,\n");
	at = expect_line(at, "\"stall_share\": 0.250000,\n    \"stall_share_se\": 0.001234,\n");
	at = expect_line(at,
			 "\"dirty_fraction\": 1.000000,\n    \"dirty_fraction_se\": 0.000007,\n");
	at = expect_line(at, "\"latency_ns\": 154.321,\n    \"latency_se_ns\": 1.050,\n");
	at = expect_line(at, "\"delay_owed_ns\": 1008,\n    \"delay_paid_ns\": 1009,\n");
	at = expect_line(at, "\"mean_steps\": 1000.500,\n");
	at = expect_line(at, "\"overlay\": 1037\n");
	at = expect_line(at, "\"name\": \"vpcmpub\",\n          \"count\": 99\n");
	at = expect_line(at, "\"name\": \"xxxxxxxxxxxxxxxxxxxxxxxx\",\n");
	at = expect_line(at, "\"monitor_ns\": 1025\n");
	at = expect_line(at, "\"counters\": {\n");
	at = expect_line(at, "\"running_share\": 0.300000,\n");
	at = expect_line(at, "\n  \"timeline\": {\n    \"bucket_ns\": 10000000,\n");
	at = expect_line(at, "\"stall_wb_ns\": [52, 62],\n");
	at = expect_line(at, "\"threads_total\": 5,\n  \"threads_not_listed\": 3,\n"
			     "  \"threads_not_emulated\": 9,\n");
	at = expect_line(at, "\"tid\": 4711,\n      \"name\": \"main\",\n      \"alive\": true,\n"
			     "      \"cpu_ns\": 2001,\n");
	at = expect_line(at,
			 "\"tid\": 4712,\n      \"name\": \"worker\",\n      \"alive\": false,\n"
			 "      \"cpu_ns\": 3001,\n");
	expect_line(at, "\"monitor_ns\": 3025\n");
}

static void test_native_run(void **state)
{
	struct nve_snapshot s = filled_snapshot();

	(void)state;
	s.emulated = false;
	strcpy(s.why_not, "no timer: RLIMIT_SIGPENDING is 0");
	memset(&s.totals, 0, sizeof(s.totals));
	s.thread_count = 0;
	s.timeline.total = NULL;
	s.sources.of[NVE_QUANTITY_STALL].name = NULL;
	write_report(&s);
	expect_line(NULL,
		    "\"emulated\": \"no\",\n  \"why_not\": \"no timer: RLIMIT_SIGPENDING is 0\"");
	expect_line(NULL, "\"stall_time\": null");
	expect_line(NULL, "\"timeline\": null,\n");
	expect_line(NULL, "\"mean_steps\": 0.000");
	expect_line(NULL, "\"threads\": []\n}\n");
}

static void test_replay(void **state)
{
	struct nve_snapshot s = filled_snapshot();
	const char *at;

	(void)state;
	write_report(&s);
	assert_null(strstr(text, "\"replay\""));
	assert_null(strstr(text, "left_epochs"));
	s.replay = (struct nve_replay_snapshot){.file = "/a/b.rec",
						.program = "app",
						.host = "fox",
						.started_at_s = 1582934400,
						.complete = true,
						.threads = 2,
						.epochs = 7,
						.cpu_ns = 99};
	s.totals.replay_left_epochs = 3;
	s.totals.replay_left_ns = 44;
	s.totals.replay_beyond_ns = 5;
	threads[1].totals.replay_left_epochs = 2;
	write_report(&s);
	at = expect_line(NULL, "\"dram_lat_origin\": \"record\"");
	at = expect_line(at, "\"llc_lat_origin\": \"record\"");
	at = expect_line(at,
			 "\"replay\": {\n    \"file\": \"/a/b.rec\",\n    \"program\": \"app\",\n"
			 "    \"host\": \"fox\",\n    \"started_at\": \"2020-02-29T00:00:00Z\",\n"
			 "    \"complete\": true,\n    \"threads\": 2,\n    \"epochs\": 7,\n"
			 "    \"cpu_ns\": 99,\n    \"left_epochs\": 3,\n    \"left_cpu_ns\": 44,\n"
			 "    \"beyond_cpu_ns\": 5\n  },\n");
	at = expect_line(at, "\"tid\": 4712,\n");
	expect_line(at, "\"left_epochs\": 2,\n");
}

static int fail_write(void *ctx, const void *data, size_t size)
{
	(void)ctx;
	(void)data;
	(void)size;
	return -EIO;
}

static void test_sink_fails(void **state)
{
	const struct nve_snapshot s = filled_snapshot();
	const struct nve_report_sink sink = {.write = fail_write};

	(void)state;
	assert_int_equal(nve_report_write(&s, &sink), -EIO);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),       cmocka_unit_test(test_settings),
		cmocka_unit_test(test_totals),     cmocka_unit_test(test_native_run),
		cmocka_unit_test(test_sink_fails), cmocka_unit_test(test_replay),
	};

	if (argc > 1 && !strcmp(argv[1], "--print")) {
		const struct nve_snapshot s = filled_snapshot();

		write_report(&s);
		return write(STDOUT_FILENO, text, used) == (ssize_t)used ? 0 : 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
