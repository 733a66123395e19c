/* Latencies of command lines: lists and ranges, and what is none. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "ranges.h"

static struct cli_latencies latencies;

static void assert_parsed(const char *text, const uint64_t *ps, size_t count)
{
	assert_int_equal(cli_parse_latencies(text, &latencies), 0);
	assert_int_equal(latencies.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(latencies.ps[i], ps[i]);
}

static void lists(void **state)
{
	static const uint64_t one[] = {300000}, three[] = {0, 122500, 1500000};

	(void)state;
	assert_parsed("300", one, 1);
	assert_parsed("300ns", one, 1);
	assert_parsed("0.3us", one, 1);
	assert_parsed("300,0.3us,300000ps", one, 1);
	assert_parsed("1.5us,dram,122.5", three, 3);
}

static void ranges(void **state)
{
	static const uint64_t even[] = {200000, 400000, 600000};
	static const uint64_t mixed[] = {0, 200000, 300000, 400000, 1000000};

	(void)state;
	assert_parsed("200:600:200", even, 3);
	/* the end need not be reached */
	assert_parsed("200:799:200", even, 3);
	assert_parsed("200:600:0.2us", even, 3);
	assert_parsed("200:400:200,dram,300:400:100,1us", mixed, 5);
	assert_parsed("200:200:50", even, 1);
	assert_int_equal(cli_parse_latencies("1:1000:1", &latencies), 0);
	assert_int_equal(latencies.count, 1000);
}

static void no_list(void **state)
{
	static const char *const wrong[] = {"",           ",",       "300,",        ",300",
					    "x",          "300x",    "-300",        "0",
					    "2ms",        "200:300", "200:300:",    "200:300:0",
					    "300:200:10", ":300:10", "200::10",     "200:300:10:10",
					    "200:300:-5", "DRAM",    "dram:300:10", "1e3",
					    "300 ",       "0.0001"};
	char endless[300];

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(wrong); i++)
		if (cli_parse_latencies(wrong[i], &latencies) != -EINVAL)
			fail_msg("'%s' was taken", wrong[i]);
	memset(endless, '1', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	assert_int_equal(cli_parse_latencies(endless, &latencies), -EINVAL);
	assert_int_equal(cli_parse_latencies("1:1001:1", &latencies), -E2BIG);
	assert_int_equal(cli_parse_latencies("1:1000000:0.001", &latencies), -E2BIG);
}

static void texts(void **state)
{
	static const struct {
		uint64_t ps;
		const char *text;
	} cases[] = {{0, "own"},   {300000, "300"},         {122500, "122.5"},
		     {1, "0.001"}, {1000000000, "1000000"}, {100050, "100.05"}};
	char text[CLI_LATENCY_BYTES];

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(cases); i++) {
		cli_format_latency(cases[i].ps, "own", text);
		assert_string_equal(text, cases[i].text);
	}
}

static void below_dram(void **state)
{
	(void)state;
	assert_int_equal(cli_parse_latencies("dram,100,200", &latencies), 0);
	assert_int_equal(cli_check_latencies("rlat", &latencies, 100000, "this machine's"), 0);
	assert_int_equal(cli_check_latencies("rlat", &latencies, 100001, "this machine's"),
			 -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists), cmocka_unit_test(ranges),     cmocka_unit_test(no_list),
		cmocka_unit_test(texts), cmocka_unit_test(below_dram),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
