#include "report/html/chart.h"

#include <math.h>
#include <stdio.h>

enum { MOST_TICKS = 40 };

void nve_chart_size(struct nve_chart *c, bool narrow, double height)
{
	c->narrow = narrow;
	c->width = narrow ? 400 : 960;
	c->height = height;
	c->left = narrow ? 52 : 72;
	c->right = narrow ? 12 : 24;
	c->top = 14;
	c->bottom = 48;
}

static double inner_width(const struct nve_chart *c)
{
	return c->width - c->left - c->right;
}

static double inner_height(const struct nve_chart *c)
{
	return c->height - c->top - c->bottom;
}

static double place(const struct nve_chart_axis *a, double value)
{
	double length = a->high - a->low;

	return length > 0 ? (value - a->low) / length : 0;
}

double nve_chart_x(const struct nve_chart *c, double x)
{
	return c->left + inner_width(c) * place(&c->x, x);
}

double nve_chart_y(const struct nve_chart *c, double y)
{
	return c->top + inner_height(c) * (1 - place(&c->y, y));
}

/* In the axis's unit, with as many decimals as the distance of the ticks asks for. */
static void tick_text(char text[NVE_UNITS_BYTES], double value, double step)
{
	double decimals = step < 1 ? fmin(6, ceil(-log10(step) - 0.001)) : 0;

	snprintf(text, NVE_UNITS_BYTES, "%.*f", (int)decimals, value);
}

static void draw_tick(struct nve_chart *c, bool of_x, double value, const char *text)
{
	double bottom = c->height - c->bottom;

	if (of_x) {
		double x = nve_chart_x(c, value);

		nve_html_print(c->out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", x, c->top,
			       bottom);
		nve_chart_label(c, x, bottom + 17, "middle", "tick", text);
		return;
	}
	nve_html_print(c->out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", c->left,
		       nve_chart_y(c, value), c->width - c->right);
	nve_chart_label(c, c->left - 7, nve_chart_y(c, value) + 4, "end", "tick", text);
}

static void draw_ticks(struct nve_chart *c, bool of_x)
{
	const struct nve_chart_axis *a = of_x ? &c->x : &c->y;
	double unit = a->unit.size > 0 ? a->unit.size : 1, step, first;
	char text[NVE_UNITS_BYTES];

	if (!a->ticks)
		return;
	step = nve_units_step((a->high - a->low) / unit, a->ticks);
	first = ceil(a->low / unit / step - 1e-9);
	for (int i = 0; i < MOST_TICKS; i++) {
		double value = (first + i) * step;

		if (value * unit > a->high * (1 + 1e-9))
			return;
		tick_text(text, value, step);
		draw_tick(c, of_x, value * unit, text);
	}
}

static void draw_titles(struct nve_chart *c)
{
	double x = c->left + inner_width(c) / 2, y = c->top + inner_height(c) / 2;
	char text[160];
	const struct nve_chart_axis *axes[] = {&c->x, &c->y};

	for (int i = 0; i < 2; i++) {
		bool has_unit = axes[i]->unit.name && axes[i]->unit.name[0];

		if (!axes[i]->title)
			continue;
		snprintf(text, sizeof(text), has_unit ? "%s (%s)" : "%s", axes[i]->title,
			 has_unit ? axes[i]->unit.name : "");
		if (!i) {
			nve_chart_label(c, x, c->height - 8, "middle", "title", text);
			continue;
		}
		nve_html_print(c->out, "<g transform=\"translate(%.1f %.1f) rotate(-90)\">",
			       c->narrow ? 12.0 : 16.0, y);
		nve_chart_label(c, 0, 0, "middle", "title", text);
		nve_html_put(c->out, "</g>");
	}
}

void nve_chart_open(struct nve_chart *c)
{
	nve_html_print(c->out,
		       "<svg class=\"%s\" viewBox=\"0 0 %.0f %.0f\" aria-hidden=\"true\" "
		       "data-left=\"%.1f\" data-right=\"%.1f\" data-top=\"%.1f\" "
		       "data-bottom=\"%.1f\">",
		       c->narrow ? "narrow" : "wide", c->width, c->height, c->left,
		       c->width - c->right, c->top, c->height - c->bottom);
	draw_ticks(c, false);
	draw_ticks(c, true);
	nve_html_print(c->out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>", c->left, c->top,
		       c->height - c->bottom, c->width - c->right);
	draw_titles(c);
}

void nve_chart_close(struct nve_chart *c)
{
	nve_html_put(c->out, "</svg>\n");
}

/* Forth along the steps, or back. */
static void trace(struct nve_chart *c, const struct nve_chart_steps *s, const double *values,
		  bool back)
{
	for (size_t k = 0; k < s->count; k++) {
		size_t i = back ? s->count - 1 - k : k;
		double until = s->width * (double)(back ? i : i + 1);

		nve_html_print(c->out, "V%.1fH%.1f", nve_chart_y(c, values ? values[i] : 0),
			       nve_chart_x(c, fmin(until, c->x.high)));
	}
}

void nve_chart_area(struct nve_chart *c, const char *class, const struct nve_chart_steps *steps)
{
	nve_html_print(c->out, "<path class=\"%s\" d=\"M%.1f %.1f", class, nve_chart_x(c, 0),
		       nve_chart_y(c, 0));
	trace(c, steps, steps->high, false);
	if (steps->low)
		trace(c, steps, steps->low, true);
	else
		nve_html_print(c->out, "V%.1f", nve_chart_y(c, 0));
	nve_html_put(c->out, "Z\"/>");
}

void nve_chart_outline(struct nve_chart *c, const char *class, const struct nve_chart_steps *steps)
{
	if (!steps->count)
		return;
	nve_html_print(c->out, "<path class=\"%s\" d=\"M%.1f %.1f", class, nve_chart_x(c, 0),
		       nve_chart_y(c, steps->high[0]));
	trace(c, steps, steps->high, false);
	nve_html_put(c->out, "\"/>");
}

static void thread_points(struct nve_chart *c, const double *x, const double *y, size_t count,
			  bool back)
{
	for (size_t k = 0; k < count; k++) {
		size_t i = back ? count - 1 - k : k;

		nve_html_print(c->out, "%c%.1f %.1f", k || back ? 'L' : 'M', nve_chart_x(c, x[i]),
			       nve_chart_y(c, y[i]));
	}
}

void nve_chart_line(struct nve_chart *c, const char *class, const double *x, const double *y,
		    size_t count)
{
	nve_html_print(c->out, "<path class=\"%s\" d=\"", class);
	thread_points(c, x, y, count, false);
	nve_html_put(c->out, "\"/>");
}

void nve_chart_band(struct nve_chart *c, const char *class, const double *x, const double *low,
		    const double *high, size_t count)
{
	nve_html_print(c->out, "<path class=\"%s\" d=\"", class);
	thread_points(c, x, high, count, false);
	thread_points(c, x, low, count, true);
	nve_html_put(c->out, "Z\"/>");
}

void nve_chart_label(struct nve_chart *c, double px, double py, const char *anchor,
		     const char *class, const char *text)
{
	nve_html_print(c->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
		       class, px, py, anchor);
	nve_html_text(c->out, text);
	nve_html_put(c->out, "</text>");
}
