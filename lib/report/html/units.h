/* Numbers as people read them. Pure. */
#ifndef NVE_REPORT_HTML_UNITS_H
#define NVE_REPORT_HTML_UNITS_H

#include <stddef.h>

enum { NVE_UNITS_BYTES = 48 };

/* A unit of an axis or a column: value / size is told in it. */
struct nve_unit_of {
	const char *name;
	double size;
};

/* Of ns: the one in which most_ns is not above some hundreds. */
struct nve_unit_of nve_units_time(double most_ns);
/* Of counts: "", "thousand", "million", ... */
struct nve_unit_of nve_units_count(double most);

/* "1.95 s", three digits. */
void nve_units_put_time(char text[NVE_UNITS_BYTES], double ns);
/* "12.3 million", three digits; whole below 10,000. */
void nve_units_put_count(char text[NVE_UNITS_BYTES], double n);
/* A number alone, with three digits. */
void nve_units_put_number(char text[NVE_UNITS_BYTES], double n);

/* The distance between ticks of an axis of that length, so that there are about count of them: 1, 2
 * or 5 times a power of ten. */
double nve_units_step(double length, unsigned count);

#endif
