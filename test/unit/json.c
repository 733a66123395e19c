#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "report/json.h"

struct page {
	char text[8192];
	size_t used;
	size_t room; /* a write that goes beyond fails with -ENOSPC */
};

static int write_page(void *ctx, const void *data, size_t size)
{
	struct page *p = ctx;

	if (p->used + size > p->room)
		return -ENOSPC;
	memcpy(p->text + p->used, data, size);
	p->used += size;
	p->text[p->used] = 0;
	return 0;
}

struct fixture {
	struct page page;
	struct nve_report_sink sink;
	struct nve_json json;
};

static struct nve_json *begin(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->page.room = sizeof(f->page.text) - 1;
	f->sink = (struct nve_report_sink){.write = write_page, .ctx = &f->page};
	nve_json_start(&f->json, &f->sink);
	return &f->json;
}

static void expect_written(const char *text, const char *written)
{
	struct fixture f;

	nve_json_string(begin(&f), NULL, text);
	assert_int_equal(nve_json_finish(&f.json), 0);
	assert_string_equal(f.page.text, written);
}

static void test_escapes(void **state)
{
	(void)state;
	expect_written("plain", "\"plain\"\n");
	expect_written("", "\"\"\n");
	expect_written("a\"b\\c/d", "\"a\\\"b\\\\c/d\"\n");
	expect_written("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"\n");
	expect_written("\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"\n");
	expect_written(NULL, "null\n");
}

static void test_utf8(void **state)
{
	(void)state;
	expect_written("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		       "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"\n");
	expect_written("\x80", "\"\\ufffd\"\n");
	expect_written("a\xff"
		       "b",
		       "\"a\\ufffdb\"\n");
	/* cut short, overlong, a surrogate, beyond the last code point */
	expect_written("\xe2\x82", "\"\\ufffd\\ufffd\"\n");
	expect_written("\xc0\xaf", "\"\\ufffd\\ufffd\"\n");
	expect_written("\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\"\n");
	expect_written("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"\n");
	expect_written("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"\n");
	expect_written("\xe2\x82\x41", "\"\\ufffd\\ufffdA\"\n");
}

static void test_field_without_end(void **state)
{
	struct fixture f;
	const char field[4] = {'a', 'b', 'c', 'd'};

	(void)state;
	nve_json_field(begin(&f), NULL, field, sizeof(field));
	assert_int_equal(nve_json_finish(&f.json), 0);
	assert_string_equal(f.page.text, "\"abcd\"\n");
}

static void expect_decimal(int64_t value, unsigned decimals, const char *written)
{
	struct fixture f;

	nve_json_decimal(begin(&f), NULL, value, decimals);
	assert_int_equal(nve_json_finish(&f.json), 0);
	assert_string_equal(f.page.text, written);
}

static void test_decimals(void **state)
{
	(void)state;
	expect_decimal(0, 0, "0\n");
	expect_decimal(0, 3, "0.000\n");
	expect_decimal(5, 3, "0.005\n");
	expect_decimal(123456, 3, "123.456\n");
	expect_decimal(1000000, 6, "1.000000\n");
	expect_decimal(-5, 3, "-0.005\n");
	expect_decimal(-1234, 0, "-1234\n");
	expect_decimal(INT64_MAX, 3, "9223372036854775.807\n");
	expect_decimal(INT64_MIN, 0, "-9223372036854775808\n");
	expect_decimal(7, 19, "0.0000000000000000007\n");
}

static void test_document(void **state)
{
	struct fixture f;
	struct nve_json *j = begin(&f);

	(void)state;
	nve_json_object(j, NULL);
	nve_json_uint(j, "most", UINT64_MAX);
	nve_json_uint(j, "zero", 0);
	nve_json_array(j, "list");
	nve_json_bool(j, NULL, true);
	nve_json_null(j, NULL);
	nve_json_object(j, NULL);
	nve_json_close(j);
	nve_json_array(j, NULL);
	nve_json_close(j);
	nve_json_close(j);
	nve_json_string(j, "a\"b", "c");
	nve_json_close(j);
	assert_int_equal(nve_json_finish(j), 0);
	assert_string_equal(f.page.text, "{\n"
					 "  \"most\": 18446744073709551615,\n"
					 "  \"zero\": 0,\n"
					 "  \"list\": [\n"
					 "    true,\n"
					 "    null,\n"
					 "    {},\n"
					 "    []\n"
					 "  ],\n"
					 "  \"a\\\"b\": \"c\"\n"
					 "}\n");
}

static void test_longer_than_buffer(void **state)
{
	struct fixture f;
	char text[3 * NVE_JSON_BUFFER + 7];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	nve_json_string(begin(&f), NULL, text);
	assert_int_equal(nve_json_finish(&f.json), 0);
	assert_int_equal(f.page.used, sizeof(text) - 1 + 3);
	assert_memory_equal(f.page.text + 1, text, sizeof(text) - 1);
}

static void test_nesting(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(nve_json_finish(begin(&f)), -EINVAL); /* nothing */

	nve_json_uint(begin(&f), "key", 1); /* a key at the top */
	assert_int_equal(nve_json_finish(&f.json), -EINVAL);

	nve_json_uint(begin(&f), NULL, 1); /* two values at the top */
	nve_json_uint(&f.json, NULL, 1);
	assert_int_equal(nve_json_finish(&f.json), -EINVAL);

	nve_json_object(begin(&f), NULL); /* no key in an object */
	nve_json_uint(&f.json, NULL, 1);
	nve_json_close(&f.json);
	assert_int_equal(nve_json_finish(&f.json), -EINVAL);

	nve_json_array(begin(&f), NULL); /* a key in an array */
	nve_json_uint(&f.json, "key", 1);
	nve_json_close(&f.json);
	assert_int_equal(nve_json_finish(&f.json), -EINVAL);

	nve_json_object(begin(&f), NULL); /* left open */
	assert_int_equal(nve_json_finish(&f.json), -EINVAL);

	nve_json_object(begin(&f), NULL); /* closed twice */
	nve_json_close(&f.json);
	nve_json_close(&f.json);
	assert_int_equal(nve_json_finish(&f.json), -EINVAL);

	begin(&f); /* too deep by one */
	for (int i = 0; i <= NVE_JSON_DEPTH; i++)
		nve_json_array(&f.json, NULL);
	assert_int_equal(nve_json_finish(&f.json), -E2BIG);

	begin(&f); /* as deep as may be */
	for (int i = 0; i < NVE_JSON_DEPTH; i++)
		nve_json_array(&f.json, NULL);
	for (int i = 0; i < NVE_JSON_DEPTH; i++)
		nve_json_close(&f.json);
	assert_int_equal(nve_json_finish(&f.json), 0);
}

static void test_sink_fails(void **state)
{
	struct fixture f;
	struct nve_json *j = begin(&f);

	(void)state;
	f.page.room = 2 * NVE_JSON_BUFFER;
	nve_json_array(j, NULL);
	for (unsigned i = 0; i < 1000; i++)
		nve_json_uint(j, NULL, i);
	nve_json_close(j);
	assert_int_equal(nve_json_finish(j), -ENOSPC);
	assert_int_equal(f.page.used, 2 * NVE_JSON_BUFFER);
}

static void test_uints(void **state)
{
	const uint64_t values[] = {1, 2, UINT64_MAX, 4, 0};
	struct fixture f;
	struct nve_json *j = begin(&f);

	(void)state;
	nve_json_object(j, NULL);
	nve_json_uints(j, "all", values, 5, 1);
	nve_json_uints(j, "every_other", values, 3, 2);
	nve_json_uints(j, "none", values, 0, 1);
	nve_json_close(j);
	assert_int_equal(nve_json_finish(j), 0);
	assert_string_equal(
		f.page.text,
		"{\n  \"all\": [1, 2, 18446744073709551615, 4, 0],\n"
		"  \"every_other\": [1, 18446744073709551615, 0],\n  \"none\": []\n}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_field_without_end),
		cmocka_unit_test(test_decimals),
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_longer_than_buffer),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_sink_fails),
		cmocka_unit_test(test_uints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
