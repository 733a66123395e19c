/*
 * Reports that the library's own writer has made, read back; what is no report, and is told so;
 * sums over processes; a run's document, written and read back.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "report/fields.h"
#include "report/report.h"
#include "report/run.h"

enum { TEXT_BYTES = 1 << 18 };

struct text {
	char bytes[TEXT_BYTES];
	size_t size;
};

static struct text one, two, written;
static struct nve_view view;
static struct nve_read_message why;

static int append(void *ctx, const void *data, size_t size)
{
	struct text *t = ctx;

	if (t->size + size >= sizeof(t->bytes))
		return -ENOSPC;
	memcpy(t->bytes + t->size, data, size);
	t->size += size;
	t->bytes[t->size] = 0;
	return 0;
}

/* Every figure another one, by the reader's rows: the writer knows nothing of those. */
static void fill_totals(struct nve_totals *t, uint64_t base)
{
	memset(t, 0, sizeof(*t));
	for (const struct nve_field *f = nve_fields_totals; f->path; f++) {
		void *member = (char *)t + f->offset;

		base++;
		if (f->kind == NVE_FIELD_PPM)
			*(uint32_t *)member = (uint32_t)(base % 1000000);
		else
			*(uint64_t *)member = base;
	}
	t->counters.reads.enabled_ns = t->counters.reads.reads * 1000000;
	t->counters.reads.running_ns = t->counters.reads.reads * 250000;
}

static struct nve_thread_snapshot threads[2];

static struct nve_snapshot make_snapshot(int pid, const char *wlat)
{
	struct nve_options_message error, warning;
	struct nve_snapshot s = {
		.program = "app",
		.pid = pid,
		.ppid = 12,
		.host = "box",
		.started_at_s = 1582934400,
		.wall_ns = 5000000000,
		.ended_by = "exit",
		.emulated = true,
		.sources =
			{.of = {[NVE_QUANTITY_STALL] = {.name = "look-ahead", .how = "by a test"},
				[NVE_QUANTITY_DIRTY] = {.name = "look-ahead",
							.no_better = {"no \"uncore\"", "get one"}},
				[NVE_QUANTITY_LATENCY] = {.name = "probe"},
				[NVE_QUANTITY_ADDRESSES] = {.name = "none"},
				[NVE_QUANTITY_TRAFFIC] = {.name = "look-ahead"}}},
		.timer_source = "cpu-time timer",
		.uncore_reads = 71,
		.machine = {.cpu = "a CPU",
			    .dram_lat_ps = 150001,
			    .dram_lat_given = true,
			    .w_milli = 7317},
		.threads_total = 5,
		.threads_not_listed = 3,
		.foreign_threads = 9,
		.thread_count = 2,
		.threads = threads,
	};
	char setting[32];
	char *environment[] = {setting, NULL};

	snprintf(setting, sizeof(setting), "NVM_WLAT=%s", wlat);
	assert_int_equal(nve_options_parse(&s.options, environment, &error, &warning), 0);
	fill_totals(&s.totals, 1000000 * (uint64_t)pid);
	threads[0] = (struct nve_thread_snapshot){.tid = pid, .alive = true, .name = "main"};
	threads[1] = (struct nve_thread_snapshot){.tid = pid + 1, .name = "worker"};
	fill_totals(&threads[0].totals, 2000);
	fill_totals(&threads[1].totals, 3000);
	return s;
}

static void write_report(struct text *t, const struct nve_snapshot *s)
{
	const struct nve_report_sink sink = {.write = append, .ctx = t};

	t->size = 0;
	assert_int_equal(nve_report_write(s, &sink), 0);
}

static void add(const char *name, const struct text *t)
{
	int err = nve_view_add_text(&view, name, t->bytes, t->size, &why);

	if (err)
		print_error("%s\n", why.text);
	assert_int_equal(err, 0);
}

static void finish(void)
{
	int err = nve_view_finish(&view, &why);

	if (err)
		print_error("%s\n", why.text);
	assert_int_equal(err, 0);
}

static int set_up(void **state)
{
	(void)state;
	nve_view_start(&view);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nve_view_free(&view);
	return 0;
}

static void test_back_as_written(void **state)
{
	const struct nve_snapshot s = make_snapshot(7, "1us");
	const struct nve_view_process *p;

	(void)state;
	write_report(&one, &s);
	add("r.json", &one);
	finish();
	assert_int_equal(view.count, 1);
	p = &view.processes[0];
	assert_memory_equal(&p->totals, &s.totals, sizeof(s.totals));
	assert_memory_equal(&view.totals, &s.totals, sizeof(s.totals));
	assert_int_equal(p->thread_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_memory_equal(&p->threads[i].totals, &threads[i].totals,
				    sizeof(struct nve_totals));
	assert_true(p->threads[0].alive && !p->threads[1].alive);
	assert_string_equal(p->threads[1].name, "worker");
	assert_int_equal(p->threads[1].tid, 8);
	assert_string_equal(p->program, "app");
	assert_string_equal(p->host, "box");
	assert_string_equal(p->ended_by, "exit");
	assert_int_equal(p->pid, 7);
	assert_int_equal(p->ppid, 12);
	assert_int_equal(p->started_at_s, 1582934400);
	assert_int_equal(p->wall_ns, 5000000000);
	assert_true(p->emulated);
	assert_string_equal(p->why_not, "");
	assert_string_equal(p->machine.cpu, "a CPU");
	assert_int_equal(p->machine.dram_lat_ps, 150001);
	assert_int_equal(p->machine.w_milli, 7317);
	assert_int_equal(p->machine.calibrated_at_s, 0);
	assert_string_equal(p->machine.dram_lat_origin, "NVM_DRAM_LAT");
	assert_string_equal(p->sources.of[NVE_QUANTITY_STALL].how, "by a test");
	assert_string_equal(p->sources.of[NVE_QUANTITY_LATENCY].name, "probe");
	assert_string_equal(p->sources.of[NVE_QUANTITY_DIRTY].why, "no \"uncore\"");
	assert_string_equal(p->sources.of[NVE_QUANTITY_DIRTY].mend, "get one");
	assert_string_equal(p->sources.of[NVE_QUANTITY_TRAFFIC].mend, "");
	assert_int_equal(p->sources.uncore_reads, 71);
	assert_int_equal(p->threads_total, 5);
	assert_int_equal(p->threads_not_listed, 3);
	assert_int_equal(p->threads_not_emulated, 9);
	assert_string_equal(nve_view_setting(p, "NVM_WLAT"), "1us");
	assert_string_equal(nve_view_setting(p, "NVM_RLAT"), "DRAM's own");
	assert_null(nve_view_setting(p, "NVM_NONE"));
	assert_int_equal(p->wlat_ps, 1000000);
	assert_int_equal(p->rlat_ps, 0);
	assert_false(p->symmetric);
	assert_string_equal(p->replay, "");
	assert_false(view.run.known);
}

static void test_replay(void **state)
{
	struct nve_snapshot s = make_snapshot(7, "1us");

	(void)state;
	s.replay = (struct nve_replay_snapshot){.file = "a.rec", .program = "app", .host = "box"};
	s.totals.replay_left_ns = 77;
	threads[1].totals.replay_left_epochs = 5;
	write_report(&one, &s);
	add("r.json", &one);
	finish();
	assert_string_equal(view.processes[0].replay, "a.rec");
	assert_int_equal(view.totals.replay_left_ns, 77);
	assert_int_equal(view.processes[0].threads[1].totals.replay_left_epochs, 5);
}

static void test_not_emulated(void **state)
{
	struct nve_snapshot s = make_snapshot(7, "1us");

	(void)state;
	s.emulated = false;
	strcpy(s.why_not, "no timer");
	write_report(&one, &s);
	add("r.json", &one);
	finish();
	assert_false(view.processes[0].emulated);
	assert_string_equal(view.processes[0].why_not, "no timer");
}

static void expect_sum(const struct nve_field *f, const struct nve_totals *a,
		       const struct nve_totals *b)
{
	uint64_t part = *(const uint64_t *)((const char *)a + f->offset);
	uint64_t other = *(const uint64_t *)((const char *)b + f->offset);

	assert_int_equal(*(uint64_t *)((char *)&view.totals + f->offset), part + other);
}

static void test_sums(void **state)
{
	struct nve_snapshot a = make_snapshot(7, "1us"), b = make_snapshot(8, "1us");

	(void)state;
	b.ppid = 7;
	a.totals.cpu_ns = 1000, a.totals.stall_ns = 600, a.totals.stall_wb_ns = 300;
	b.totals.cpu_ns = 3000, b.totals.stall_ns = 200, b.totals.stall_wb_ns = 100;
	a.totals.stall_share_se_ppm = 3000, b.totals.stall_share_se_ppm = 4000;
	a.totals.dirty_se_ppm = 1000, b.totals.dirty_se_ppm = 3000;
	a.totals.traffic.read_se_bytes = 30, b.totals.traffic.read_se_bytes = 40;
	a.totals.latency_ps = b.totals.latency_ps = 150000;
	a.totals.dram_lat_ps = 100000, b.totals.dram_lat_ps = 140000;
	write_report(&one, &a);
	write_report(&two, &b);
	add("b.json", &two);
	add("a.json", &one);
	finish();
	assert_int_equal(view.count, 2);
	assert_int_equal(view.processes[0].pid, 7);
	for (const struct nve_field *f = nve_fields_totals; f->path; f++)
		if (f->kind == NVE_FIELD_UINT)
			expect_sum(f, &a.totals, &b.totals);
	/* 800 of 4000; sqrt((3000 1000)^2 + (4000 3000)^2) / 4000; sqrt(600^2 + 600^2) / 800 ... */
	assert_int_equal(view.totals.stall_share_ppm, 200000);
	assert_int_equal(view.totals.stall_share_se_ppm, 3092);
	assert_int_equal(view.totals.dirty_ppm, 500000);
	assert_int_equal(view.totals.dirty_se_ppm, 1061);
	assert_int_equal(view.totals.latency_ps, 150000);
	assert_int_equal(view.totals.dram_lat_ps, 110000);
	assert_int_equal(view.totals.traffic.read_se_bytes, 50);
	assert_int_equal(4 * view.totals.counters.reads.running_ns,
			 view.totals.counters.reads.enabled_ns);
}

/* The first process and the stages of one, in whatever order files come. */
static void test_order(void **state)
{
	struct nve_snapshot child = make_snapshot(5, "1us"), stage = make_snapshot(9, "1us");
	struct nve_snapshot last = make_snapshot(9, "1us");

	(void)state;
	child.ppid = 9; /* a lower number: process ids have gone round */
	stage.ended_by = "exec";
	last.wall_ns++;
	write_report(&one, &child);
	add("child", &one);
	write_report(&one, &last);
	add("last", &one);
	write_report(&one, &stage);
	add("stage", &one);
	finish();
	assert_string_equal(view.processes[0].file, "stage");
	assert_string_equal(view.processes[1].file, "child");
	assert_string_equal(view.processes[2].file, "last");
}

static void test_twice(void **state)
{
	const struct nve_snapshot s = make_snapshot(7, "1us");

	(void)state;
	write_report(&one, &s);
	add("a.json", &one);
	add("b.json", &one);
	assert_int_equal(nve_view_finish(&view, &why), -EEXIST);
	assert_string_equal(why.text, "b.json: process 7 (app) stands in a.json, too: it would "
				      "count twice");
}

static void test_unlike_settings(void **state)
{
	const struct nve_snapshot a = make_snapshot(7, "1us"), b = make_snapshot(8, "2us");
	const struct nve_view_process *x, *y;

	(void)state;
	write_report(&one, &a);
	write_report(&two, &b);
	add("a.json", &one);
	finish();
	assert_null(nve_view_difference(&view, &x, &y));
	add("b.json", &two);
	finish();
	assert_string_equal(nve_view_difference(&view, &x, &y), "NVM_WLAT");
	assert_string_equal(nve_view_setting(x, "NVM_WLAT"), "1us");
	assert_string_equal(nve_view_setting(y, "NVM_WLAT"), "2us");
}

static void write_run(void)
{
	const struct nve_report_sink sink = {.write = append, .ctx = &written};

	written.size = 0;
	assert_int_equal(nve_run_write(&view, &sink), 0);
}

static void test_run(void **state)
{
	const struct nve_snapshot a = make_snapshot(7, "1us"), b = make_snapshot(8, "1us");
	struct nve_totals totals;

	(void)state;
	write_report(&one, &a);
	write_report(&two, &b);
	add("a.json", &one);
	add("b.json", &two);
	finish();
	totals = view.totals;
	view.run = (struct nve_view_run){true, "app 'a b'", 1582934400, 12345, -9};
	write_run();
	nve_view_free(&view);
	add("run.json", &written);
	finish();
	assert_int_equal(view.count, 2);
	assert_true(view.run.known);
	assert_string_equal(view.run.command, "app 'a b'");
	assert_int_equal(view.run.started_at_s, 1582934400);
	assert_int_equal(view.run.wall_ns, 12345);
	assert_int_equal(view.run.status, -9);
	assert_memory_equal(&view.totals, &totals, sizeof(totals));
	assert_memory_equal(&view.processes[1].totals, &b.totals, sizeof(b.totals));
	/* once more, from what was read: the same text */
	memcpy(&two, &written, sizeof(two));
	write_run();
	assert_string_equal(written.bytes, two.bytes);
}

/* Two runs are no run. */
static void test_several_runs(void **state)
{
	const struct nve_snapshot a = make_snapshot(7, "1us"), b = make_snapshot(8, "1us");

	(void)state;
	write_report(&one, &a);
	add("a.json", &one);
	finish();
	view.run = (struct nve_view_run){.known = true, .command = "app"};
	write_run();
	nve_view_free(&view);
	write_report(&one, &b);
	add("run.json", &written);
	add("b.json", &one);
	finish();
	assert_int_equal(view.count, 2);
	assert_false(view.run.known);
}

/* Text takes the place of the first, in the report of one process. */
static void replace(const char *first, const char *text)
{
	struct nve_snapshot s = make_snapshot(7, "1us");
	char *at;

	write_report(&one, &s);
	at = strstr(one.bytes, first);
	assert_non_null(at);
	memmove(at + strlen(text), at + strlen(first), strlen(at + strlen(first)) + 1);
	memcpy(at, text, strlen(text));
	one.size = strlen(one.bytes);
}

static void expect_refusal(int error, const char *message)
{
	nve_view_free(&view);
	assert_int_equal(nve_view_add_text(&view, "f", one.bytes, one.size, &why), error);
	assert_string_equal(why.text, message);
	assert_int_equal(view.count, 0);
}

static void expect_no_report(const char *text, int error, const char *message)
{
	strcpy(one.bytes, text);
	one.size = strlen(text);
	expect_refusal(error, message);
}

static void test_foreign(void **state)
{
	(void)state;
	expect_no_report("", -ENODATA, "f: empty");
	expect_no_report(" \n ", -ENODATA, "f: empty");
	expect_no_report("\x93NVMREC\n\1\2", -EINVAL, "f: no report, but a record of NVM_RECORD");
	assert_int_equal(nve_view_add_text(&view, "f", "hello", 5, &why), -EINVAL);
	assert_non_null(strstr(why.text, "f: no report: no JSON in line 1: "));
	expect_no_report("{}", -EINVAL, "f: JSON, but no report of nvmemu");
	expect_no_report("[1, 2]", -EINVAL, "f: JSON, but no report of nvmemu");
	expect_no_report("{\"schema\": 7}", -EINVAL, "f: JSON, but no report of nvmemu");
	expect_no_report("{\"schema\": \"nvmemu-doctor\", \"version\": 1}", -EINVAL,
			 "f: no report, but of schema 'nvmemu-doctor'");
	expect_no_report("{\"schema\": \"nvmemu-report\", \"version\": 2}", -EPROTONOSUPPORT,
			 "f: of version 2 of the report format, this nvmemu reads those up to 1: "
			 "take a newer one");
	expect_no_report("{\"schema\": \"nvmemu-run\", \"version\": 2}", -EPROTONOSUPPORT,
			 "f: of version 2 of the report format, this nvmemu reads those up to 1: "
			 "take a newer one");
	expect_no_report("{\"schema\": \"nvmemu-report\", \"version\": \"1\"}", -EINVAL,
			 "f: no whole report: version: not a number from 1");
	expect_no_report("{\"schema\": \"nvmemu-report\", \"version\": 1}", -ENOENT,
			 "f: no whole report: program.name: missing");
	expect_no_report("{\"schema\": \"nvmemu-run\", \"version\": 1}", -EINVAL,
			 "f: no whole report: processes: missing");
}

static void test_wrong_values(void **state)
{
	(void)state;
	replace("\"cpu_ns\": ", "\"cpu_ns\": -");
	expect_refusal(-EINVAL, "f: no whole report: totals.cpu_ns: not a value that reports have");
	replace("\"stall_share\": 0", "\"stall_share\": -0");
	expect_refusal(-EINVAL,
		       "f: no whole report: totals.stall_share: not a value that reports have");
	replace("\"pid\": 7", "\"pid\": 3000000000");
	expect_refusal(-EINVAL, "f: no whole report: program.pid: not a value that reports have");
	replace("2020-02-29T", "yesterday");
	expect_refusal(-EINVAL,
		       "f: no whole report: program.started_at: not a value that reports have");
	replace("\"tid\": 8", "\"tid\": \"8\"");
	expect_refusal(-EINVAL,
		       "f: no whole report: threads[1].tid: not a value that reports have");
	replace("\"yes\"", "\"maybe\"");
	expect_refusal(-EINVAL, "f: no whole report: emulated: neither yes nor no");
	replace("\"threads\"", "\"heads\"");
	expect_refusal(-EINVAL, "f: no whole report: threads: missing");
	replace("\"settings\"", "\"seatings\"");
	expect_refusal(-EINVAL, "f: no whole report: settings: missing");
	replace("\"name\": \"app\"", "\"name\": 1, \"name\": \"app\"");
	assert_int_equal(nve_view_add_text(&view, "f", one.bytes, one.size, &why), -EINVAL);
	assert_non_null(strstr(why.text, "duplicate object key"));
}

/* Wherever it is cut, but for the line's end behind it. */
static void test_truncated(void **state)
{
	const struct nve_snapshot s = make_snapshot(7, "1us");

	(void)state;
	write_report(&one, &s);
	for (size_t size = 1; size < one.size - 2; size += 17) {
		int err = nve_view_add_text(&view, "f", one.bytes, size, &why);

		assert_int_equal(err, -EPIPE);
		assert_non_null(strstr(why.text, "it is cut off"));
	}
}

/* What later versions of the same number add is no error, and comes out again. */
static void test_more_keys(void **state)
{
	(void)state;
	replace("\"emulated\"", "\"novelty\": {\"a\": [1]}, \"emulated\"");
	add("f", &one);
	finish();
	write_run();
	assert_non_null(strstr(written.bytes, "\"novelty\""));
}

static void test_files(void **state)
{
	char path[] = "/tmp/unit_read.XXXXXX";
	const struct nve_snapshot s = make_snapshot(7, "1us");
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	write_report(&one, &s);
	assert_int_equal(write(fd, one.bytes, one.size), one.size);
	close(fd);
	assert_int_equal(nve_view_add_file(&view, path, &why), 0);
	assert_int_equal(view.processes[0].pid, 7);
	unlink(path);
	assert_int_equal(nve_view_add_file(&view, path, &why), -ENOENT);
	assert_non_null(strstr(why.text, "cannot be opened: No such file"));
	assert_int_equal(nve_view_add_file(&view, "/", &why), -EISDIR);
	assert_string_equal(why.text, "/: cannot be read: Is a directory");
	nve_view_free(&view);
	assert_int_equal(nve_view_finish(&view, &why), -ENODATA);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_back_as_written), TEST(test_replay),
		TEST(test_not_emulated),    TEST(test_sums),
		TEST(test_order),           TEST(test_twice),
		TEST(test_unlike_settings), TEST(test_run),
		TEST(test_several_runs),    TEST(test_foreign),
		TEST(test_wrong_values),    TEST(test_truncated),
		TEST(test_more_keys),       TEST(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
