#include "plot.h"

#include <math.h>
#include <stdbool.h>

#include "base/base.h"

enum {
	WIDTH = 720,
	HEIGHT = 440,
	LEFT = 70,
	RIGHT = 150,
	TOP = 44,
	BOTTOM = 56,
	CELLS = 36,   /* of a field, each way */
	LEVELS = 8,   /* lines of equal value, about */
	TICKS = 5,    /* of an axis, at least */
	HALF_BAR = 4, /* of an error bar's ends */
};

struct axis {
	double from, to, step;
	double at, length; /* on the page; length < 0: upwards */
};

struct frame {
	struct axis x, y;
};

double plot_step(double span, double parts)
{
	double step = pow(10, floor(log10(span / parts)));

	if (span / (5 * step) >= parts)
		return 5 * step;
	return span / (2 * step) >= parts ? 2 * step : step;
}

static double place(const struct axis *a, double value)
{
	return a->at + (value - a->from) / (a->to - a->from) * a->length;
}

static void put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		default: fputc((unsigned char)*text < ' ' ? '?' : *text, out);
		}
	}
}

/* Colours of Okabe and Ito. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
				      "#e69f00", "#56b4e9", "#999999"};

static void begin(FILE *out, const char *title)
{
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" "
		"class=\"nvmemu-plot\">\n<title>",
		WIDTH, HEIGHT);
	put_text(out, title);
	fputs("</title>\n<style>\n"
	      ".nvmemu-plot { font: 13px system-ui, sans-serif; fill: #222; background: #fff; }\n"
	      ".nvmemu-plot .line { fill: none; stroke-width: 2; }\n"
	      ".nvmemu-plot .grid { stroke: #8886; stroke-width: 1; }\n"
	      ".nvmemu-plot .level { fill: none; stroke: #fff; stroke-width: 1.5; }\n"
	      ".nvmemu-plot .on { fill: #fff; stroke: #000; stroke-width: 3; paint-order: stroke; "
	      "}\n"
	      "@media (prefers-color-scheme: dark) {\n"
	      ".nvmemu-plot { fill: #ddd; background: #1b1b1b; } }\n"
	      "</style>\n",
	      out);
	fprintf(out, "<text x=\"%d\" y=\"22\" font-size=\"15\">", LEFT);
	put_text(out, title);
	fputs("</text>\n", out);
}

static void put_label(FILE *out, double x, double y, const char *anchor, double value)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%.6g</text>\n", x, y, anchor,
		value);
}

static double first_tick(const struct axis *a)
{
	return ceil(a->from / a->step - 1e-9) * a->step;
}

static void put_axes(FILE *out, const struct frame *f, const char *x_title, const char *y_title)
{
	double bottom = f->y.at, right = f->x.at + f->x.length, top = f->y.at + f->y.length;

	for (double v = first_tick(&f->x); v <= f->x.to + f->x.step * 1e-9; v += f->x.step) {
		double x = place(&f->x, v);

		fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x, bottom, top);
		put_label(out, x, bottom + 18, "middle", v);
	}
	for (double v = first_tick(&f->y); v <= f->y.to + f->y.step * 1e-9; v += f->y.step) {
		double y = place(&f->y, v);

		fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", f->x.at, y, right);
		put_label(out, f->x.at - 8, y + 4, "end", v);
	}
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
		f->x.at + f->x.length / 2, bottom + 42);
	put_text(out, x_title);
	fprintf(out,
		"</text>\n<text transform=\"translate(16 %.1f) rotate(-90)\" "
		"text-anchor=\"middle\">",
		bottom + f->y.length / 2);
	put_text(out, y_title);
	fputs("</text>\n", out);
}

static struct frame make_frame(double x_from, double x_to, double y_from, double y_to)
{
	struct frame f = {
		.x = {.from = x_from, .to = x_to, .at = LEFT, .length = WIDTH - LEFT - RIGHT},
		.y = {.from = y_from,
		      .to = y_to,
		      .at = HEIGHT - BOTTOM,
		      .length = -(HEIGHT - BOTTOM - TOP)},
	};

	f.x.step = plot_step(x_to - x_from, TICKS);
	f.y.step = plot_step(y_to - y_from, TICKS);
	return f;
}

static void widen(double *from, double *to, double value)
{
	if (isnan(value))
		return;
	*from = fmin(*from, value);
	*to = fmax(*to, value);
}

/* All points and bars, and some air. */
static struct frame frame_of(const struct plot_lines *lines)
{
	double x_from = INFINITY, x_to = -INFINITY, y_from = INFINITY, y_to = -INFINITY;

	for (size_t s = 0; s < lines->count; s++) {
		for (size_t i = 0; i < lines->series[s].count; i++) {
			const struct plot_point *p = &lines->series[s].points[i];

			widen(&x_from, &x_to, p->x);
			widen(&y_from, &y_to, p->y);
			widen(&y_from, &y_to, p->low);
			widen(&y_from, &y_to, p->high);
		}
	}
	if (!(x_from <= x_to))
		return make_frame(0, 1, 0, 1);
	if (x_to - x_from <= 0) {
		x_from -= 1;
		x_to += 1;
	}
	/* A flat line is flat, whatever its noise. */
	y_to = fmax(y_to + 0.05 * (y_to - y_from), y_from + 0.1 * fabs(y_from) + 1e-9);
	y_from -= 0.05 * (y_to - y_from);
	return make_frame(x_from, x_to, y_from, y_to);
}

static void put_bar(FILE *out, const struct frame *f, const struct plot_point *p)
{
	double x = place(&f->x, p->x), low = place(&f->y, p->low), high = place(&f->y, p->high);

	if (isnan(p->low) || isnan(p->high))
		return;
	fprintf(out, "<path class=\"line\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh%dM%.1f %.1fh%d\"/>\n", x,
		low, high, x - HALF_BAR, low, 2 * HALF_BAR, x - HALF_BAR, high, 2 * HALF_BAR);
}

static void put_series(FILE *out, const struct frame *f, const struct plot_series *s, size_t index)
{
	size_t round = index / NVE_ARRAY_SIZE(colours);
	const char *colour = colours[index % NVE_ARRAY_SIZE(colours)];
	double legend_y = TOP + 8 + 20 * (double)index;

	fprintf(out, "<g stroke=\"%s\" stroke-dasharray=\"%s\">\n<path class=\"line\" d=\"", colour,
		round ? "6 4" : "none");
	for (size_t i = 0; i < s->count; i++)
		fprintf(out, "%s%.1f %.1f", i ? "L" : "M", place(&f->x, s->points[i].x),
			place(&f->y, s->points[i].y));
	fputs("\"/>\n", out);
	for (size_t i = 0; i < s->count; i++)
		put_bar(out, f, &s->points[i]);
	fputs("</g>\n", out);
	for (size_t i = 0; i < s->count; i++)
		fprintf(out,
			"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"><title>%.6g: "
			"%.6g</title></circle>\n",
			place(&f->x, s->points[i].x), place(&f->y, s->points[i].y), colour,
			s->points[i].x, s->points[i].y);
	if (!s->name[0] || legend_y > HEIGHT - BOTTOM)
		return;
	fprintf(out,
		"<path class=\"line\" stroke=\"%s\" stroke-dasharray=\"%s\" d=\"M%d %.1fh20\"/>\n"
		"<text x=\"%d\" y=\"%.1f\">",
		colour, round ? "6 4" : "none", WIDTH - RIGHT + 12, legend_y, WIDTH - RIGHT + 38,
		legend_y + 4);
	put_text(out, s->name);
	fputs("</text>\n", out);
}

void plot_write_lines(FILE *out, const struct plot_lines *lines)
{
	struct frame f = frame_of(lines);

	begin(out, lines->title);
	put_axes(out, &f, lines->x_title, lines->y_title);
	for (size_t i = 0; i < lines->count; i++)
		put_series(out, &f, &lines->series[i], i);
	fputs("</svg>\n", out);
}

/* From dark blue over green to yellow, even in lightness. share: 0 to 1. */
static void put_colour(FILE *out, double share)
{
	static const double stops[][3] = {
		{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
	double at = fmin(fmax(share, 0), 1) * (NVE_ARRAY_SIZE(stops) - 1);
	size_t below = (size_t)fmin(at, NVE_ARRAY_SIZE(stops) - 2);
	double part = at - (double)below;

	fputs("rgb(", out);
	for (int i = 0; i < 3; i++)
		fprintf(out, "%s%.0f", i ? "," : "",
			stops[below][i] + part * (stops[below + 1][i] - stops[below][i]));
	fputc(')', out);
}

struct grid {
	double values[CELLS + 1][CELLS + 1]; /* at the corners: [y][x] */
	double least, most;
};

static double corner(double from, double to, int i)
{
	return from + (to - from) * i / CELLS;
}

static void fill_grid(struct grid *g, const struct plot_field *field)
{
	g->least = INFINITY;
	g->most = -INFINITY;
	for (int y = 0; y <= CELLS; y++) {
		for (int x = 0; x <= CELLS; x++) {
			double v = field->value(field->ctx, corner(field->x_from, field->x_to, x),
						corner(field->y_from, field->y_to, y));

			g->values[y][x] = v;
			widen(&g->least, &g->most, v);
		}
	}
}

static void put_cells(FILE *out, const struct frame *f, const struct grid *g)
{
	double span = fmax(g->most - g->least, 1e-12);
	double w = f->x.length / CELLS, h = -f->y.length / CELLS;

	for (int y = 0; y < CELLS; y++) {
		for (int x = 0; x < CELLS; x++) {
			double middle = (g->values[y][x] + g->values[y + 1][x + 1]) / 2;

			fprintf(out, "<path d=\"M%.2f %.2fh%.2fv%.2fh-%.2fz\" fill=\"",
				f->x.at + x * w, f->y.at - (y + 1) * h, w + 0.4, h + 0.4, w + 0.4);
			put_colour(out, (middle - g->least) / span);
			fputs("\"/>\n", out);
		}
	}
}

/* Where the level crosses the edge from corner a to b: its place is added to the cell's. */
static bool crosses(double a, double b, double level, double *part)
{
	if ((a < level) == (b < level))
		return false;
	*part = (level - a) / (b - a);
	return true;
}

/* One piece of a line of equal value, through the edges that it crosses. */
static void put_piece(FILE *out, const struct frame *f, const struct grid *g, int x, int y,
		      double level)
{
	const double *low = &g->values[y][x], *high = &g->values[y + 1][x];
	double w = f->x.length / CELLS, h = -f->y.length / CELLS, part;
	double ends[4][2];
	int count = 0;

	if (crosses(low[0], low[1], level, &part))
		ends[count][0] = part, ends[count++][1] = 0;
	if (crosses(high[0], high[1], level, &part))
		ends[count][0] = part, ends[count++][1] = 1;
	if (crosses(low[0], high[0], level, &part))
		ends[count][0] = 0, ends[count++][1] = part;
	if (crosses(low[1], high[1], level, &part))
		ends[count][0] = 1, ends[count++][1] = part;
	for (int i = 0; i + 1 < count; i += 2)
		fprintf(out, "M%.1f %.1fL%.1f %.1f", f->x.at + (x + ends[i][0]) * w,
			f->y.at - (y + ends[i][1]) * h, f->x.at + (x + ends[i + 1][0]) * w,
			f->y.at - (y + ends[i + 1][1]) * h);
}

/* On the upper, the right or the left edge, wherever the level leaves. */
static void put_level_name(FILE *out, const struct frame *f, const struct grid *g, double level)
{
	double w = f->x.length / CELLS, h = -f->y.length / CELLS, part;

	for (int i = 0; i < CELLS; i++) {
		double x = -1, y = -1;

		if (crosses(g->values[CELLS][i], g->values[CELLS][i + 1], level, &part)) {
			x = f->x.at + (i + part) * w;
			y = f->y.at + f->y.length + 16;
		} else if (crosses(g->values[i][CELLS], g->values[i + 1][CELLS], level, &part)) {
			x = f->x.at + f->x.length - 24;
			y = f->y.at - (i + part) * h;
		} else if (crosses(g->values[i][0], g->values[i + 1][0], level, &part)) {
			x = f->x.at + 24;
			y = f->y.at - (i + part) * h;
		}
		if (x < 0)
			continue;
		fprintf(out,
			"<text class=\"on\" text-anchor=\"middle\" x=\"%.1f\" "
			"y=\"%.1f\">%.6g</text>\n",
			x, y, level);
		return;
	}
}

static void put_levels(FILE *out, const struct frame *f, const struct grid *g)
{
	double step, level;

	if (g->most - g->least < 1e-9)
		return;
	step = plot_step(g->most - g->least, LEVELS);
	for (level = ceil(g->least / step) * step; level < g->most; level += step) {
		fputs("<path class=\"level\" d=\"", out);
		for (int y = 0; y < CELLS; y++)
			for (int x = 0; x < CELLS; x++)
				put_piece(out, f, g, x, y, level);
		fputs("\"/>\n", out);
		put_level_name(out, f, g, level);
	}
}

static void put_scale(FILE *out, const struct grid *g, const char *title)
{
	enum { STEPS = 20, AT = WIDTH - RIGHT + 30, BREADTH = 18 };
	double height = (double)(HEIGHT - BOTTOM - TOP) / STEPS;

	for (int i = 0; i < STEPS; i++) {
		fprintf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"", AT,
			HEIGHT - BOTTOM - (i + 1) * height, BREADTH, height + 0.4);
		put_colour(out, (i + 0.5) / STEPS);
		fputs("\"/>\n", out);
	}
	fprintf(out, "<text x=\"%d\" y=\"%d\">%.4g</text>\n", AT + BREADTH + 6, HEIGHT - BOTTOM,
		g->least);
	fprintf(out, "<text x=\"%d\" y=\"%d\">%.4g</text>\n", AT + BREADTH + 6, TOP + 10, g->most);
	fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", WIDTH - 4, TOP - 8);
	put_text(out, title);
	fputs("</text>\n", out);
}

void plot_write_field(FILE *out, const struct plot_field *field)
{
	struct frame f = make_frame(field->x_from, field->x_to, field->y_from, field->y_to);
	static struct grid g;

	fill_grid(&g, field);
	begin(out, field->title);
	put_cells(out, &f, &g);
	put_levels(out, &f, &g);
	put_axes(out, &f, field->x_title, field->y_title);
	put_scale(out, &g, field->value_title);
	fputs("</svg>\n", out);
}
