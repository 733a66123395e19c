/* Heat that the library's own writer has made, read back: one process, several, and what is no
 * whole report. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "report/read_heat.h"
#include "report/report.h"

enum { TEXT_BYTES = 1 << 16, SECOND_NS = 1000000000 };

struct text {
	char bytes[TEXT_BYTES];
	size_t size;
};

static struct text one, two;
static struct nve_view view;
static struct nve_heat_view heat;
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

/* Three sites: two of the heap, the second without heat, and the stack; times times. */
static uint64_t times;
static const float course[4] = {100, 0, 200.4f, 0};
static const struct nve_heat_frame path[] = {{1, 0x1234}, {0, 0x55aa}};

static void site(size_t i, struct nve_heat_site *s)
{
	*s = (struct nve_heat_site){.kind = i == 2 ? "stack" : "heap", .heat.share_se_ppm = -1};
	if (i == 2) {
		s->heat.stall_ns = 50 * times;
		return;
	}
	s->hash = i ? UINT64_C(0xfedcba9876543210) : UINT64_C(0x8000000000000001);
	s->frames = i ? 1 : 2;
	s->frame = path;
	s->arena = 3;
	s->counted = true;
	s->allocations = 10 * times;
	s->frees = 4 * times;
	s->bytes = 1000 * times;
	s->live_bytes = 600;
	s->peak_bytes = 700;
	s->lifetimes = 2;
	s->lifetime_ns = 5000;
	if (i)
		return;
	s->resident_known = true;
	s->resident_bytes = 4096;
	s->heat = (struct nve_heat_values){.stall_ns = 300 * times,
					   .stall_wb_ns = 100 * times,
					   .reads = 2 * times,
					   .writes = times,
					   .lines = 7,
					   .share_ppm = 857143,
					   .share_se_ppm = 30000,
					   .bucket_ns = course};
}

static void arena(size_t i, struct nve_heat_arena *a)
{
	(void)i;
	*a = (struct nve_heat_arena){.arena = 3,
				     .kind = "site",
				     .site = UINT64_C(0x8000000000000001),
				     .mapped_bytes = 8192,
				     .heat.stall_ns = 300 * times};
}

static void kind(size_t i, struct nve_heat_kind *k)
{
	*k = (struct nve_heat_kind){.kind = i ? "stack" : "heap",
				    .heat.stall_ns = (i ? 50 : 300) * times};
}

static void module(size_t i, struct nve_heat_module *m)
{
	static const uint8_t id[] = {0x0a, 0xff};

	*m = (struct nve_heat_module){.path = i ? "/lib/a \"b\".so" : "/bin/app", .build_id = id};
	m->build_id_bytes = i ? 2 : 0;
}

static void write_report(struct text *t, int pid, uint64_t started_at_s, uint64_t bucket_s)
{
	const struct nve_report_sink sink = {.write = append, .ctx = t};
	struct nve_snapshot s = {
		.program = "app",
		.host = "box",
		.pid = pid,
		.started_at_s = started_at_s,
		.ended_by = "exit",
		.emulated = true,
		.sources = {.of = {{.name = "a"},
				   {.name = "b"},
				   {.name = "c"},
				   {.name = "d"},
				   {.name = "look-ahead"}}},
		.timer_source = "t",
		.counter_events = "",
		.heat = {.on = true,
			 .stall_ns = 400 * times,
			 .attributed_ns = 350 * times,
			 .samples_lost = 1,
			 .samples_no_answer = 2,
			 .sites_total = 5,
			 .bucket_ns = bucket_s * SECOND_NS,
			 .buckets = 4,
			 .sites = 3,
			 .arenas = 1,
			 .kinds = 2,
			 .modules = 2,
			 .site = site,
			 .arena = arena,
			 .kind = kind,
			 .module = module},
	};
	char *none[] = {NULL};
	struct nve_options_message error, warning;

	t->size = 0;
	assert_int_equal(nve_options_parse(&s.options, none, &error, &warning), 0);
	assert_int_equal(nve_report_write(&s, &sink), 0);
}

static int set_up(void **state)
{
	(void)state;
	nve_view_start(&view);
	memset(&heat, 0, sizeof(heat));
	times = 1;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nve_heat_view_free(&heat);
	nve_view_free(&view);
	return 0;
}

static void take(int (*step)(void))
{
	int err = step();

	if (err)
		print_error("%s\n", why.text);
	assert_int_equal(err, 0);
}

static int add_one(void)
{
	return nve_view_add_text(&view, "one", one.bytes, one.size, &why);
}

static int add_two(void)
{
	return nve_view_add_text(&view, "two", two.bytes, two.size, &why);
}

static int finish(void)
{
	return nve_view_finish(&view, &why);
}

static int read_all(void)
{
	return nve_heat_view_read(&view, &heat, &why);
}

static void one_process(void **state)
{
	const struct nve_view_site *s;

	(void)state;
	write_report(&one, 7, 1600000000, 1);
	take(add_one);
	take(finish);
	take(read_all);
	assert_int_equal(heat.processes, 1);
	assert_int_equal(heat.stall_ns, 400);
	assert_int_equal(heat.unattributed_ns, 50);
	assert_int_equal(heat.samples_lost, 1);
	assert_int_equal(heat.samples_no_answer, 2);
	assert_int_equal(heat.sites_not_listed, 2);
	assert_int_equal(heat.buckets, 4);
	assert_int_equal(heat.site_count, 3);
	s = &heat.sites[0];
	assert_true(s->hash == UINT64_C(0x8000000000000001));
	assert_string_equal(s->kind, "heap");
	assert_int_equal(s->frame_count, 2);
	assert_string_equal(s->frames[0].module, "/lib/a \"b\".so");
	assert_string_equal(s->frames[0].build_id, "0aff");
	assert_int_equal(s->frames[0].offset, 0x1234);
	assert_string_equal(s->frames[1].module, "/bin/app");
	assert_string_equal(s->frames[1].build_id, "");
	assert_int_equal(s->heat.stall_ns, 300);
	assert_int_equal(s->heat.stall_wb_ns, 100);
	assert_int_equal(s->heat.reads, 2);
	assert_int_equal(s->heat.writes, 1);
	assert_true(fabs(s->heat.share - 300.0 / 350) < 1e-9);
	assert_true(fabs(s->heat.share_se - 0.03) < 1e-6);
	assert_true(s->heat.over_time_ns[0] == 100 && s->heat.over_time_ns[1] == 0);
	assert_true(s->heat.over_time_ns[2] == 200 && s->heat.over_time_ns[3] == 0);
	assert_true(s->counted && s->resident_known && s->resident_bytes == 4096);
	assert_int_equal(s->allocations, 10);
	assert_int_equal(s->frees, 4);
	assert_int_equal(s->peak_bytes, 700);
	s = &heat.sites[1]; /* the stack: no site, no blocks, an error that is not known */
	assert_true(s->hash == 0 && !s->counted && !s->resident_known && !s->frame_count);
	assert_string_equal(s->kind, "stack");
	assert_true(s->heat.share_se < 0);
	assert_true(heat.sites[2].hash == UINT64_C(0xfedcba9876543210));
	assert_int_equal(heat.arenas[0].mapped_bytes, 8192);
	assert_true(heat.arenas[0].site == heat.sites[0].hash);
	assert_int_equal(heat.kind_count, 2);
}

/* Two seconds later, with buckets twice as long, and twice as hot. */
static void two_processes(void **state)
{
	const struct nve_view_heat *h;

	(void)state;
	write_report(&one, 7, 1600000000, 1);
	times = 2;
	write_report(&two, 8, 1600000002, 2);
	take(add_two);
	take(add_one);
	take(finish);
	take(read_all);
	assert_int_equal(heat.processes, 2);
	assert_int_equal(heat.site_count, 3);
	assert_int_equal(heat.attributed_ns, 1050);
	assert_int_equal(heat.bucket_ns, (uint64_t)2 * SECOND_NS);
	assert_int_equal(heat.buckets, 5);
	h = &heat.sites[0].heat;
	assert_int_equal(h->stall_ns, 900);
	assert_int_equal(heat.sites[0].allocations, 30);
	assert_int_equal(heat.sites[0].arena, 0);
	assert_true(fabs(h->share - 900.0 / 1050) < 1e-9);
	/* 3 % of 350 and 3 % of 700, of 1050 */
	assert_true(fabs(h->share_se - 0.03 * hypot(350, 700) / 1050) < 1e-6);
	/* 100 and 200 of the first in 0 and 1; of the second in 1 and 3 */
	assert_true(h->over_time_ns[0] == 100 && h->over_time_ns[1] == 300);
	assert_true(h->over_time_ns[2] == 0 && h->over_time_ns[3] == 200);
	assert_int_equal(heat.kind_count, 2);
	assert_int_equal(heat.kinds[0].heat.stall_ns, 900);
	assert_int_equal(heat.arena_count, 2);
}

/* Each of these changes makes the report one that cannot be. */
static void not_whole(void **state)
{
	static const struct {
		const char *from, *to;
	} changes[] = {
		{"\"stall_ns\": 300", "\"stall_ns\": -1 "},
		{"\"id\": \"8000000000000001\"", "\"id\": \"800000000000000g\""},
		{"\"module\": 1", "\"module\": 9"},
		{"\"bucket_ns\": 1000000000", "\"bucket_ns\": 0"},
		{"\"buckets\": 4", "\"buckets\": 0"},
		{"\"over_time_ns\": [", "\"over_time__\": ["},
		{"\"kinds\": [", "\"kinks\": ["},
		{"\"sites\": [", "\"sides\": ["},
		{"\"unattributed_ns\"", "\"unattributed_xx\""},
	};

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(changes); i++) {
		char *at;

		write_report(&one, 7, 1600000000, 1);
		at = strstr(one.bytes, changes[i].from);
		if (!at)
			fail_msg("no %s in the report", changes[i].from);
		one.size -= strlen(changes[i].from) - strlen(changes[i].to);
		memmove(at + strlen(changes[i].to), at + strlen(changes[i].from),
			strlen(at + strlen(changes[i].from)) + 1);
		memcpy(at, changes[i].to, strlen(changes[i].to));
		take(add_one);
		take(finish);
		why.text[0] = '\0';
		if (!read_all())
			fail_msg("taken: %s", changes[i].to);
		assert_non_null(strstr(why.text, "one: no whole report: "));
		tear_down(NULL);
		nve_view_start(&view);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(one_process), TEST(two_processes), TEST(not_whole)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
