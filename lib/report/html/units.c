#include "report/html/units.h"

#include <math.h>
#include <stdio.h>

#include "base/base.h"

struct nve_unit_of nve_units_time(double most_ns)
{
	static const struct nve_unit_of units[] = {
		{"h", 3600e9}, {"min", 60e9}, {"s", 1e9}, {"ms", 1e6}, {"µs", 1e3},
	};
	/* minutes from ten of them on */
	static const double from_ns[] = {10 * 3600e9, 600e9, 1e9, 1e6, 1e3};

	for (size_t i = 0; i < NVE_ARRAY_SIZE(units); i++)
		if (most_ns >= 0.9995 * from_ns[i]) /* "1.00 s", not "1000 ms" */
			return units[i];
	return (struct nve_unit_of){"ns", 1};
}

struct nve_unit_of nve_units_count(double most)
{
	static const struct nve_unit_of units[] = {
		{"trillion", 1e12},
		{"billion", 1e9},
		{"million", 1e6},
		{"thousand", 1e3},
	};

	for (size_t i = 0; i < NVE_ARRAY_SIZE(units); i++)
		if (most >= units[i].size)
			return units[i];
	return (struct nve_unit_of){"", 1};
}

void nve_units_put_number(char text[NVE_UNITS_BYTES], double n)
{
	double size = fabs(n);
	int decimals = size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : size >= 0.01 ? 2 : 4;

	snprintf(text, NVE_UNITS_BYTES, "%.*f", decimals, n);
}

void nve_units_put_time(char text[NVE_UNITS_BYTES], double ns)
{
	struct nve_unit_of unit = nve_units_time(fabs(ns));
	char number[NVE_UNITS_BYTES];

	nve_units_put_number(number, ns / unit.size);
	snprintf(text, NVE_UNITS_BYTES, "%.30s %s", number, ns == 0 ? "s" : unit.name);
}

void nve_units_put_count(char text[NVE_UNITS_BYTES], double n)
{
	struct nve_unit_of unit = nve_units_count(n);
	char number[NVE_UNITS_BYTES];

	if (n < 10000) {
		snprintf(text, NVE_UNITS_BYTES, "%.0f", n);
		return;
	}
	nve_units_put_number(number, n / unit.size);
	snprintf(text, NVE_UNITS_BYTES, "%.30s %s", number, unit.name);
}

double nve_units_step(double length, unsigned count)
{
	double least = length / count, power;

	if (!(least > 0) || !isfinite(least))
		return 1;
	power = pow(10, floor(log10(least)));
	if (least <= power * 1.0001)
		return power;
	if (least <= 2 * power)
		return 2 * power;
	return least <= 5 * power ? 5 * power : 10 * power;
}
