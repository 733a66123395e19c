#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "report/utc.h"

static void test_forms(void **state)
{
	char text[NVE_UTC_BYTES];

	(void)state;
	nve_utc_format(0, text);
	assert_string_equal(text, "1970-01-01T00:00:00Z");
	nve_utc_format(951782399, text);
	assert_string_equal(text, "2000-02-28T23:59:59Z");
	nve_utc_format(951868799, text);
	assert_string_equal(text, "2000-02-29T23:59:59Z");
	nve_utc_format_name(1582934400, text);
	assert_string_equal(text, "20200229T000000Z");
	nve_utc_format(UINT64_MAX, text);
	assert_string_equal(text, "9999-12-31T23:59:59Z");
}

/* The C library's calendar is the judge: a moment in every five days of 400 years. */
static void test_like_libc(void **state)
{
	char mine[NVE_UTC_BYTES], right[NVE_UTC_BYTES];

	(void)state;
	for (uint64_t t = 0; t < (uint64_t)400 * 366 * 86400; t += 86400 * 5 - 1) {
		struct tm tm;
		time_t seconds = (time_t)t;

		assert_non_null(gmtime_r(&seconds, &tm));
		strftime(right, sizeof(right), "%Y-%m-%dT%H:%M:%SZ", &tm);
		nve_utc_format(t, mine);
		assert_string_equal(mine, right);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_like_libc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
