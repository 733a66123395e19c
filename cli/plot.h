/*
 * Drawings as SVG, each a document of its own that also stands in an HTML page as it is: axes with
 * titles, legible in light and dark surroundings, in colours that colour-blind people tell apart.
 * Pure but for the stream.
 */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stddef.h>
#include <stdio.h>

enum { PLOT_NAME_BYTES = 64 };

struct plot_point {
	double x, y, low, high; /* low and high: NaN where they are not known */
};

struct plot_series {
	char name[PLOT_NAME_BYTES];      /* for the legend; empty: none */
	const struct plot_point *points; /* x ascending */
	size_t count;
};

/* Lines with error bars. */
struct plot_lines {
	const char *title, *x_title, *y_title;
	const struct plot_series *series;
	size_t count;
};
void plot_write_lines(FILE *out, const struct plot_lines *lines);

/* A quantity over a rectangle: coloured cells and lines of equal value. */
struct plot_field {
	const char *title, *x_title, *y_title, *value_title;
	double x_from, x_to, y_from, y_to; /* neither range is empty */
	double (*value)(void *ctx, double x, double y);
	void *ctx;
};
void plot_write_field(FILE *out, const struct plot_field *field);

/* The largest of 1, 2 or 5 times a power of ten that cuts the span into at least that many parts.
 */
double plot_step(double span, double parts);

#endif
