/*
 * Charts as inline SVG: a frame with axes, and what is drawn in it. A chart is drawn for one width;
 * the page has each of them twice, of which its style shows one. Colours are classes of the style.
 */
#ifndef NVE_REPORT_HTML_CHART_H
#define NVE_REPORT_HTML_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "report/html/out.h"
#include "report/html/units.h"

struct nve_chart_axis {
	const char *title; /* the unit is appended */
	double low, high;  /* in the data's own unit */
	struct nve_unit_of unit;
	unsigned ticks; /* about so many; 0: none */
};

struct nve_chart {
	struct nve_html *out;
	bool narrow;                     /* of the two widths */
	double width, height;            /* of the whole, user units: pixels at 1:1 */
	double left, top, right, bottom; /* margins around the frame */
	struct nve_chart_axis x, y;
};

/* The usual size for one of the widths, with room for axes. */
void nve_chart_size(struct nve_chart *c, bool narrow, double height);

/* Opens the drawing: the grid, ticks, their numbers and the axes' titles. */
void nve_chart_open(struct nve_chart *c);
void nve_chart_close(struct nve_chart *c);

double nve_chart_x(const struct nve_chart *c, double x);
double nve_chart_y(const struct nve_chart *c, double y);

/* Values that hold for equal stretches of the x axis, each width wide, from 0 on. */
struct nve_chart_steps {
	double width;
	size_t count;
	const double *low, *high; /* low: NULL is 0; only of areas */
};

void nve_chart_area(struct nve_chart *c, const char *class, const struct nve_chart_steps *steps);
void nve_chart_outline(struct nve_chart *c, const char *class, const struct nve_chart_steps *steps);

/* A line through points, and the band between two such lines. */
void nve_chart_line(struct nve_chart *c, const char *class, const double *x, const double *y,
		    size_t count);
void nve_chart_band(struct nve_chart *c, const char *class, const double *x, const double *low,
		    const double *high, size_t count);

/* A text of anybody's at a point of the drawing. anchor: "start", "middle", "end". */
void nve_chart_label(struct nve_chart *c, double px, double py, const char *anchor,
		     const char *class, const char *text);

#endif
