/* Devices by name: the rows that are built in, the user's file, and what both come to. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/preset.h"

static struct nve_options_message error;
static struct nve_preset preset;

static struct nve_preset_text text_of(const char *content)
{
	return (struct nve_preset_text){.path = "/f", .at = content};
}

static void test_rows(void **state)
{
	const struct nve_preset *p;
	size_t count = 0;

	(void)state;
	for (; (p = nve_preset_builtin(count)); count++) {
		uint64_t rlat_ps, wlat_ps;

		assert_true(p->name[0] && p->about[0]);
		assert_int_equal(p->line, 0);
		assert_int_not_equal(p->figure[NVE_PRESET_READ].kind, NVE_PRESET_NONE);
		for (size_t i = 0; i < NVE_PRESET_KEYS; i++) {
			const struct nve_preset_figure *f = &p->figure[i];
			bool is_bandwidth =
				f->kind == NVE_PRESET_BYTES || f->kind == NVE_PRESET_SHARE;

			if (f->kind == NVE_PRESET_NONE)
				continue;
			/* each figure says where it is from, and when */
			assert_non_null(f->source);
			assert_non_null(strstr(f->source, "20"));
			assert_int_equal(is_bandwidth, i >= NVE_PRESET_RBW);
		}
		nve_preset_latencies(p, 100000, &rlat_ps, &wlat_ps);
		assert_true(rlat_ps >= 100000 && wlat_ps >= rlat_ps);
		assert_int_equal(nve_preset_find(p->name, NULL, &preset, &error), 0);
		assert_string_equal(preset.name, p->name);
	}
	assert_true(count >= 8);
}

/* What a user would write for each row is read as the row. */
static void test_rows_as_text(void **state)
{
	const struct nve_preset *p;

	(void)state;
	for (size_t i = 0; (p = nve_preset_builtin(i)); i++) {
		char line[512], figure[64];
		struct nve_preset_text text = text_of(line);
		int used = snprintf(line, sizeof(line), "%s", p->name);

		for (size_t k = 0; k < NVE_PRESET_KEYS; k++)
			if (nve_preset_format(&p->figure[k], figure, sizeof(figure)))
				used += snprintf(line + used, sizeof(line) - (size_t)used, " %s=%s",
						 nve_preset_key_name(k), figure);
		assert_int_equal(nve_preset_next(&text, &preset, &error), 1);
		for (size_t k = 0; k < NVE_PRESET_KEYS; k++) {
			assert_int_equal(preset.figure[k].kind, p->figure[k].kind);
			assert_int_equal(preset.figure[k].value, p->figure[k].value);
		}
	}
}

static void expect_latencies(const char *line, uint64_t rlat_ps, uint64_t wlat_ps)
{
	struct nve_preset_text text = text_of(line);
	uint64_t r, w;

	assert_int_equal(nve_preset_next(&text, &preset, &error), 1);
	nve_preset_latencies(&preset, 100000, &r, &w);
	assert_int_equal(r, rlat_ps);
	assert_int_equal(w, wlat_ps);
}

static void test_latencies(void **state)
{
	(void)state;
	expect_latencies("a read=305ns write=1.5us", 305000, 1500000);
	expect_latencies("a read=x5 write=x5.07", 500000, 507000);
	expect_latencies("a read=+80ns write=+0.5ns", 180000, 180000);
	expect_latencies("a read=array:120ns write=array:150ns", 206250, 236250);
	expect_latencies("a read=array:8ns", 100000, 100000);
	/* one of the two alone */
	expect_latencies("a write=400ns", 0, 400000);
	expect_latencies("a read=400ns", 400000, 400000);
	expect_latencies("a rbw=2GB/s", 0, 0);
}

static void expect_bandwidths(const char *line, uint64_t rbw, uint64_t wbw)
{
	struct nve_preset_text text = text_of(line);
	uint64_t r, w;

	assert_int_equal(nve_preset_next(&text, &preset, &error), 1);
	nve_preset_bandwidths(&preset, 50000000000, 20000000000, &r, &w);
	assert_int_equal(r, rbw);
	assert_int_equal(w, wbw);
}

static void test_bandwidths(void **state)
{
	uint64_t r, w;

	(void)state;
	expect_bandwidths("a rbw=2.4GB/s wbw=8%", 2400000000, 1600000000);
	expect_bandwidths("a rbw=100%", 50000000000, 0);
	expect_bandwidths("a read=x2", 0, 0);
	/* of a machine of which nothing is known */
	expect_bandwidths("a rbw=37% wbw=800MB/s", 18500000000, 800000000);
	nve_preset_bandwidths(&preset, 0, 0, &r, &w);
	assert_int_equal(r, 0);
	assert_int_equal(w, 800000000);
}

static void test_figures(void **state)
{
	struct nve_preset_text text = text_of("a rbw=39.4GB/s wbw=8%\nb read=x2.5");

	(void)state;
	assert_int_equal(nve_preset_next(&text, &preset, &error), 1);
	assert_int_equal(preset.figure[NVE_PRESET_RBW].kind, NVE_PRESET_BYTES);
	assert_int_equal(preset.figure[NVE_PRESET_RBW].value, 39400000000);
	assert_int_equal(preset.figure[NVE_PRESET_WBW].kind, NVE_PRESET_SHARE);
	assert_int_equal(preset.figure[NVE_PRESET_WBW].value, 80000);
	assert_true(nve_preset_has_bandwidth(&preset));
	assert_int_equal(nve_preset_next(&text, &preset, &error), 1);
	assert_false(nve_preset_has_bandwidth(&preset));
	assert_int_equal(preset.line, 2);
	assert_int_equal(nve_preset_next(&text, &preset, &error), 0);
}

static void test_file(void **state)
{
	struct nve_preset_text text =
		text_of("# mine\n\n \t\r\n  fast-one read=x1.5 # lab, 2026\r\n"
			"pcm\tread=400ns\twrite=900ns#no blank\n"
			"last write=+1us");

	(void)state;
	assert_int_equal(nve_preset_next(&text, &preset, &error), 1);
	assert_string_equal(preset.name, "fast-one");
	assert_int_equal(preset.line, 4);
	assert_memory_equal(preset.about, "lab, 2026", 9);
	assert_int_equal(nve_preset_next(&text, &preset, &error), 1);
	assert_string_equal(preset.about, "no blank");
	assert_int_equal(nve_preset_next(&text, &preset, &error), 1);
	assert_string_equal(preset.name, "last");
	assert_int_equal(preset.line, 6);
	assert_int_equal(nve_preset_next(&text, &preset, &error), 0);
	/* the user's comes before the one that is built in */
	text = text_of("pcm read=400ns");
	assert_int_equal(nve_preset_find("pcm", &text, &preset, &error), 0);
	assert_int_equal(preset.figure[NVE_PRESET_READ].value, 400000);
	text = text_of("other read=400ns");
	assert_int_equal(nve_preset_find("pcm", &text, &preset, &error), 0);
	assert_int_equal(preset.figure[NVE_PRESET_READ].kind, NVE_PRESET_ARRAY);
}

static void expect_error(const char *content, const char *message)
{
	struct nve_preset_text text = text_of(content);

	assert_int_equal(nve_preset_find("a", &text, &preset, &error), -EINVAL);
	assert_string_equal(error.text, message);
}

static void test_wrong_lines(void **state)
{
	(void)state;
	expect_error("a read=400ns\n\nb read=fast",
		     "/f:3: bad value 'fast' of read; accepted: 305ns, x2.5, +80ns or array:120ns, "
		     "up to 1ms");
	expect_error("a read=400", "/f:1: bad value '400' of read; accepted: 305ns, x2.5, +80ns or "
				   "array:120ns, up to 1ms");
	expect_error("a read=x0.5", "/f:1: bad value 'x0.5' of read; accepted: 305ns, x2.5, +80ns "
				    "or array:120ns, up to 1ms");
	expect_error("a rbw=120%",
		     "/f:1: bad value '120%' of rbw; accepted: 1MB/s to 10000GB/s, or up to 100%");
	expect_error("a read=", "/f:1: bad value '' of read; accepted: 305ns, x2.5, +80ns or "
				"array:120ns, up to 1ms");
	expect_error("a speed=5", "/f:1: neither read=, write=, rbw= nor wbw=: 'speed=5'");
	expect_error("a read", "/f:1: neither read=, write=, rbw= nor wbw=: 'read'");
	expect_error("a read=1us read=2us", "/f:1: a second time: 'read=2us'");
	expect_error("a", "/f:1: no figure of 'a'");
	expect_error("a # nothing", "/f:1: no figure of 'a'");
	expect_error("\nread=1us", "/f:2: no name of a device: 'read=1us'");
	expect_error("a-name-of-more-than-thirty-two-letters read=1us",
		     "/f:1: no name of a device: 'a-name-of-more-than-thirty-two-letters'");
}

static void test_unknown(void **state)
{
	struct nve_preset_text text = text_of("mine read=1us");

	(void)state;
	assert_int_equal(nve_preset_find("nonsense", &text, &preset, &error), -ENOENT);
	assert_non_null(strstr(error.text, "NVM_DEVICE: no device 'nonsense'; there are optane, "));
	assert_non_null(strstr(error.text, "and those of a file of your own"));
}

static void test_path(void **state)
{
	char *const both[] = {"HOME=/h", "XDG_CONFIG_HOME=/x", NULL};
	char *const relative[] = {"XDG_CONFIG_HOME=x", "HOME=/h", NULL}, *const none[] = {NULL};
	char path[64];

	(void)state;
	assert_int_equal(nve_preset_path(both, path, sizeof(path)), 0);
	assert_string_equal(path, "/x/nvmemu/devices");
	assert_int_equal(nve_preset_path(relative, path, sizeof(path)), 0);
	assert_string_equal(path, "/h/.config/nvmemu/devices");
	assert_int_equal(nve_preset_path(none, path, sizeof(path)), -ENOENT);
	assert_int_equal(nve_preset_path(both, path, 10), -ENOENT);
}

static void test_reading(void **state)
{
	static char buf[NVE_PRESET_FILE_BYTES];
	struct nve_preset_text text;

	(void)state;
	assert_int_equal(nve_preset_read("/nonsense/devices", buf, &text, &error), 0);
	assert_int_equal(nve_preset_next(&text, &preset, &error), 0);
	assert_int_equal(nve_preset_read("/", buf, &text, &error), -EISDIR);
	assert_string_equal(error.text, "/: cannot be read: Is a directory");
	assert_int_equal(nve_preset_read("/dev/zero", buf, &text, &error), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),        cmocka_unit_test(test_rows_as_text),
		cmocka_unit_test(test_latencies),   cmocka_unit_test(test_bandwidths),
		cmocka_unit_test(test_figures),     cmocka_unit_test(test_file),
		cmocka_unit_test(test_wrong_lines), cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_path),        cmocka_unit_test(test_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
