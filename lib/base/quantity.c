#include "base/quantity.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/log.h"

const struct nve_unit nve_units_ps[] = {
	{"", 1000}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {NULL, 0},
};

const struct nve_unit nve_units_bandwidth[] = {
	{"", 1000000000},
	{"MB/s", 1000000},
	{"GB/s", 1000000000},
	{NULL, 0},
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int add_digit(uint64_t *number, char digit)
{
	if (__builtin_mul_overflow(*number, 10u, number) ||
	    __builtin_add_overflow(*number, (uint64_t)(digit - '0'), number))
		return -ERANGE;
	return 0;
}

static const struct nve_unit *find_unit(const struct nve_unit *units, const char *suffix)
{
	for (; units->suffix; units++) {
		if (!strcmp(units->suffix, suffix))
			return units;
	}
	return NULL;
}

/* digits * scale / 10^decimals, where that is whole. digits end in no zero that could be left out.
 */
static int scale_decimals(const char *digits, size_t decimals, uint64_t scale, uint64_t *value)
{
	uint64_t number = 0, parts = 1;

	for (size_t i = 0; i < decimals; i++) {
		if (__builtin_mul_overflow(parts, 10u, &parts) || add_digit(&number, digits[i]))
			return -EDOM;
	}
	if ((unsigned __int128)number * scale % parts)
		return -EDOM;
	*value = (uint64_t)((unsigned __int128)number * scale / parts);
	return 0;
}

static size_t count_digits(const char *text)
{
	size_t count = 0;

	while (is_digit(text[count]))
		count++;
	return count;
}

int nve_quantity_parse(const char *text, const struct nve_unit *units, uint64_t *value)
{
	size_t wholes = count_digits(text), decimals = 0;
	const char *rest = text + wholes, *fraction = rest;
	const struct nve_unit *unit;
	uint64_t whole = 0, part;
	int result;

	if (!wholes)
		return -EINVAL;
	if (*rest == '.') {
		fraction = rest + 1;
		decimals = count_digits(fraction);
		rest = fraction + decimals;
		if (!decimals)
			return -EINVAL;
	}
	unit = find_unit(units, rest);
	if (!unit)
		return -EINVAL;
	while (decimals && fraction[decimals - 1] == '0')
		decimals--;
	for (size_t i = 0; i < wholes; i++) {
		if (add_digit(&whole, text[i]))
			return -ERANGE;
	}
	result = scale_decimals(fraction, decimals, unit->scale, &part);
	if (result)
		return result;
	if (__builtin_mul_overflow(whole, unit->scale, &whole) ||
	    __builtin_add_overflow(whole, part, &whole))
		return -ERANGE;
	*value = whole;
	return 0;
}

/* Decimals of rest / scale, as many as it has; scale's only prime factors are 2 and 5. */
static size_t write_decimals(uint64_t rest, uint64_t scale, char *digits, size_t size)
{
	size_t count = 0;

	while (rest && count + 1 < size) {
		unsigned __int128 next = (unsigned __int128)rest * 10;

		digits[count++] = (char)('0' + (char)(next / scale));
		rest = (uint64_t)(next % scale);
	}
	digits[count] = '\0';
	return count;
}

int nve_quantity_format(uint64_t value, const struct nve_unit *units, char *buf, size_t size)
{
	const struct nve_unit *unit = NULL;
	char decimals[24];
	size_t count;

	/* A unit with a name is better than the same without. */
	for (; units->suffix; units++) {
		if (!unit || value >= units->scale || units->scale == unit->scale)
			unit = units;
	}
	count = write_decimals(value % unit->scale, unit->scale, decimals, sizeof(decimals));
	return nve_format(buf, size, "%llu%s%s%s", (unsigned long long)(value / unit->scale),
			  count ? "." : "", decimals, unit->suffix);
}
