/* What the HTML page is made of: text that may hold anything, numbers, sinks that fail. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/html/chart.h"
#include "report/html/out.h"
#include "report/html/page.h"
#include "report/html/parts.h"
#include "report/html/units.h"

static char text[8192];
static size_t used, room;

static int write_text(void *ctx, const void *data, size_t size)
{
	(void)ctx;
	if (used + size >= room)
		return -ENOSPC;
	memcpy(text + used, data, size);
	used += size;
	text[used] = 0;
	return 0;
}

static const struct nve_report_sink sink = {.write = write_text};

static struct nve_html *begin(void)
{
	static struct nve_html h;

	used = 0;
	room = sizeof(text);
	nve_html_start(&h, &sink);
	return &h;
}

static void expect_text(const char *of, const char *written)
{
	struct nve_html *h = begin();

	nve_html_text(h, of);
	nve_html_put(h, "");
	assert_int_equal(nve_html_finish(h), 0);
	assert_string_equal(used ? text : "", written);
}

static void test_text(void **state)
{
	(void)state;
	expect_text("", "");
	expect_text("plain text", "plain text");
	expect_text("<a href=\"x\">'&amp;'</a>",
		    "&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;&#39;&lt;/a&gt;");
	expect_text("\x01\t\n\x1f\x7f", "&#x2401;&#x2409;&#x240a;&#x241f;&#x2421;");
	/* no UTF-8: alone, cut off, too long, a surrogate */
	expect_text("a\xff"
		    "b",
		    "a&#xfffd;b");
	expect_text("\xe2\x82", "&#xfffd;&#xfffd;");
	expect_text("\xc0\xbc", "&#xfffd;&#xfffd;");
	expect_text("\xed\xa0\x80", "&#xfffd;&#xfffd;&#xfffd;");
	/* C1, no width, right to left, a mark of order: they are seen */
	expect_text("\xc2\x85|\xe2\x80\x8b|\xe2\x80\xae|\xef\xbb\xbf",
		    "&#xfffd;|&#xfffd;|&#xfffd;|&#xfffd;");
	expect_text("\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80", "\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80");
}

/* Longer than the buffer; an error of the sink is kept. */
static void test_sink(void **state)
{
	struct nve_html *h = begin();

	(void)state;
	for (int i = 0; i < 700; i++)
		nve_html_print(h, "%09d,", i);
	assert_int_equal(nve_html_finish(h), 0);
	assert_int_equal(used, 7000);
	assert_string_equal(text + 6990, "000000699,");
	h = begin();
	room = 10;
	for (int i = 0; i < 3 * NVE_HTML_BUFFER; i++)
		nve_html_put(h, "x");
	assert_int_equal(nve_html_finish(h), -ENOSPC);
	assert_int_equal(used, 0);
}

static void expect_time(double ns, const char *written)
{
	char of[NVE_UNITS_BYTES];

	nve_units_put_time(of, ns);
	assert_string_equal(of, written);
}

static void test_units(void **state)
{
	char of[NVE_UNITS_BYTES];

	(void)state;
	expect_time(0, "0 s");
	expect_time(7, "7.00 ns");
	expect_time(123.4, "123 ns");
	expect_time(999.6e6, "1.00 s");
	expect_time(1.954e9, "1.95 s");
	expect_time(599e9, "599 s");
	expect_time(3600e9, "60.0 min");
	expect_time(36e12, "10.0 h");
	nve_units_put_count(of, 9999);
	assert_string_equal(of, "9999");
	nve_units_put_count(of, 12345678);
	assert_string_equal(of, "12.3 million");
	assert_true(nve_units_step(10, 5) == 2 && nve_units_step(1, 8) == 0.2);
	assert_true(nve_units_step(0, 5) == 1);
}

static void test_cut(void **state)
{
	char of[16] = "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9";

	(void)state;
	nve_page_cut(of, sizeof(of), 4);
	assert_string_equal(of, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9");
	nve_page_cut(of, sizeof(of), 3);
	assert_string_equal(of, "\xc3\xa9\xc3\xa9\xe2\x80\xa6");
}

/* Steps become a path that is closed, ends with the axis, and lies in the frame. */
static void test_chart(void **state)
{
	const double high[] = {1, 2, 1};
	const struct nve_chart_steps steps = {.width = 10, .count = 3, .high = high};
	struct nve_chart c = {.out = begin()};

	(void)state;
	nve_chart_size(&c, false, 262);
	c.x = (struct nve_chart_axis){"time", 0, 25, {"s", 10}, 5};
	c.y = (struct nve_chart_axis){"height", 0, 2, {"", 1}, 2};
	nve_chart_open(&c);
	nve_chart_area(&c, "some", &steps);
	nve_chart_close(&c);
	assert_int_equal(nve_html_finish(c.out), 0);
	assert_non_null(strstr(text, ">time (s)</text>"));
	assert_non_null(strstr(text, ">height</text>"));
	assert_non_null(strstr(text, ">2.5</text>"));
	assert_non_null(strstr(text, "<path class=\"some\" d=\"M72.0 214.0V114.0H417.6V14.0H763.2"
				     "V114.0H936.0V214.0Z\"/>"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),  cmocka_unit_test(test_sink),
		cmocka_unit_test(test_units), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_chart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
