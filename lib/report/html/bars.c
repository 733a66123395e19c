/* Bars, one under the other. */
#include <math.h>
#include <stdio.h>

#include "report/html/parts.h"

enum { BAR_HEIGHT = 26, BAR_PITCH = 58 };

static void draw_bar(struct nve_chart *c, const struct nve_page_bar *b, double top)
{
	double at = 0;
	char text[NVE_UNITS_BYTES], name[NVE_HTML_NAME_BYTES];

	snprintf(name, sizeof(name), "%s", b->name);
	nve_page_cut(name, sizeof(name), c->narrow ? 38 : 100);
	nve_chart_label(c, c->left + 2, top - 6, "start", "lane", name);
	for (size_t i = 0; i < NVE_PAGE_BAR_PARTS; i++) {
		double until = at + b->part[i].ns;

		if (b->part[i].ns > 0)
			nve_html_print(c->out,
				       "<path class=\"%s\" d=\"M%.1f %.1fH%.1fV%.1fH%.1fZ\"/>",
				       b->part[i].class, nve_chart_x(c, at), top,
				       nve_chart_x(c, until), top + BAR_HEIGHT, nve_chart_x(c, at));
		at = until;
	}
	if (b->high_ns > b->low_ns)
		nve_html_print(c->out,
			       "<path class=\"whisker\" d=\"M%.1f %.1fH%.1fM%.1f %.1fv12M%.1f "
			       "%.1fv12\"/>",
			       nve_chart_x(c, b->low_ns), top + BAR_HEIGHT / 2.,
			       nve_chart_x(c, b->high_ns), nve_chart_x(c, b->low_ns),
			       top + BAR_HEIGHT / 2. - 6, nve_chart_x(c, b->high_ns),
			       top + BAR_HEIGHT / 2. - 6);
	nve_units_put_time(text, at);
	nve_chart_label(c, c->width - c->right, top - 6, "end", "value", text);
}

static void draw_bars(struct nve_html *h, const struct nve_page_bars *b, bool narrow)
{
	struct nve_chart c = {.out = h};
	double most = 0;

	for (size_t i = 0; i < b->count; i++) {
		double length = 0;

		for (size_t k = 0; k < NVE_PAGE_BAR_PARTS; k++)
			length += b->rows[i].part[k].ns;
		most = fmax(most, fmax(length, b->rows[i].high_ns));
	}
	nve_chart_size(&c, narrow, 60 + BAR_PITCH * (double)b->count);
	c.left = narrow ? 12 : 24;
	c.x = (struct nve_chart_axis){"time", 0, most > 0 ? most : 1, nve_units_time(most),
				      narrow ? 4 : 8};
	nve_chart_open(&c);
	for (size_t i = 0; i < b->count; i++)
		draw_bar(&c, &b->rows[i], c.top + 22 + BAR_PITCH * (double)i);
	nve_chart_close(&c);
}

static void put_row(struct nve_html *h, const struct nve_page_bars *bars,
		    const struct nve_page_bar *b)
{
	double sum = 0;

	nve_html_put(h, "<tr>");
	nve_html_element(h, "th scope=\"row\"", b->name);
	for (size_t i = 0; i < NVE_PAGE_BAR_PARTS; i++) {
		if (bars->parts[i])
			nve_page_cell_time(h, b->part[i].ns);
		sum += b->part[i].ns;
	}
	nve_page_cell_time(h, sum);
	nve_html_put(h, "</tr>\n");
}

void nve_page_put_bars(struct nve_html *h, const struct nve_page_bars *b)
{
	nve_page_figure(h, b->id, b->title, b->about);
	nve_page_legend(h, b->keys, b->key_count);
	nve_page_plot(h, "none", 1, b->title);
	draw_bars(h, b, false);
	draw_bars(h, b, true);
	nve_page_plot_end(h);
	nve_page_values(h);
	nve_html_put(h, "<thead><tr>");
	nve_html_element(h, "th scope=\"col\"", b->first);
	for (size_t i = 0; i < NVE_PAGE_BAR_PARTS; i++)
		if (b->parts[i])
			nve_html_element(h, "th scope=\"col\"", b->parts[i]);
	nve_html_put(h, "<th scope=\"col\">sum</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < b->count; i++)
		put_row(h, b, &b->rows[i]);
	nve_page_values_end(h);
}
