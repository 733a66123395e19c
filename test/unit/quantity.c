#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/quantity.h"

static const struct nve_unit units[] = {
	{"", 1000}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {NULL, 0},
};

struct sample {
	const char *text;
	int result;
	uint64_t value;
};

static const struct sample samples[] = {
	{"0", 0, 0},
	{"300", 0, 300000},
	{"0300", 0, 300000},
	{"300ns", 0, 300000},
	{"122.5ns", 0, 122500},
	{"122.5", 0, 122500},
	{"122.500000000000000000000000000", 0, 122500},
	{"1us", 0, 1000000},
	{"1.5us", 0, 1500000},
	{"1.000001us", 0, 1000001},
	{"0.000000001ms", 0, 1},
	{"18446744073709551.615", 0, UINT64_MAX},
	{"18446744073709551.616", -ERANGE, 0},
	{"18446744073709552", -ERANGE, 0},
	{"99999999999999999999999999999999", -ERANGE, 0},
	{"0.0001ns", -EDOM, 0},
	{"0.00000000000000000000000000001ms", -EDOM, 0},
	{"1.00000000000000000000000000001ms", -EDOM, 0},
	{"", -EINVAL, 0},
	{".5", -EINVAL, 0},
	{"5.", -EINVAL, 0},
	{"5.ns", -EINVAL, 0},
	{"ns", -EINVAL, 0},
	{"300 ns", -EINVAL, 0},
	{"300 x", -EINVAL, 0},
	{" 300", -EINVAL, 0},
	{"300 ", -EINVAL, 0},
	{"300ns ", -EINVAL, 0},
	{"300NS", -EINVAL, 0},
	{"300n", -EINVAL, 0},
	{"300nss", -EINVAL, 0},
	{"-5", -EINVAL, 0},
	{"+5", -EINVAL, 0},
	{"1e3", -EINVAL, 0},
	{"0x10", -EINVAL, 0},
	{"nan", -EINVAL, 0},
	{"inf", -EINVAL, 0},
	{"1,5", -EINVAL, 0},
	{"1.2.3", -EINVAL, 0},
	{"1_000", -EINVAL, 0},
	{"3\xd9\xa3", -EINVAL, 0},
};

static void parses_exactly(void **state)
{
	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(samples); i++) {
		const struct sample *s = &samples[i];
		uint64_t value = 4711;
		int result = nve_quantity_parse(s->text, units, &value);

		if (result != s->result || value != (result ? 4711 : s->value))
			fail_msg("'%s': %d, %llu", s->text, result, (unsigned long long)value);
	}
}

static void formats_shortest(void **state)
{
	static const struct sample formatted[] = {
		{"300ns", 0, 300000},
		{"122.5ns", 0, 122500},
		{"1us", 0, 1000000},
		{"1.5us", 0, 1500000},
		{"1.000001us", 0, 1000001},
		{"0.001ns", 0, 1},
		{"0ns", 0, 0},
		{"999.999ns", 0, 999999},
		{"1ms", 0, 1000000000},
		{"18446744073.709551615ms", 0, UINT64_MAX},
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(formatted); i++) {
		int length = nve_quantity_format(formatted[i].value, units, text, sizeof(text));

		assert_string_equal(text, formatted[i].text);
		assert_int_equal(length, strlen(text));
	}
}

static void formatted_reads_back(void **state)
{
	(void)state;
	srandom(1);
	for (int i = 0; i < 100000; i++) {
		uint64_t value = ((uint64_t)random() << 32 | (uint64_t)random()) >> random() % 63;
		uint64_t back = 0;
		char text[64];

		nve_quantity_format(value, units, text, sizeof(text));
		assert_int_equal(nve_quantity_parse(text, units, &back), 0);
		assert_true(back == value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_exactly),
		cmocka_unit_test(formats_shortest),
		cmocka_unit_test(formatted_reads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
