/* The run time at other latencies than the run had, predicted from it. */
#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "report/html/parts.h"

enum { POINTS = 41, GRID = 6 };

/* Which latency follows the x axis; the other one is the run's. */
enum line { WRITES, READS, BOTH, LINES };

static const struct {
	const char *class, *band, *name;
} lines[LINES] = {
	[WRITES] = {"line wb-line", "band wb-band", "write latency alone"},
	[READS] = {"line ro-line", "band ro-band", "read latency alone"},
	[BOTH] = {"line both-line", "band both-band", "both latencies"},
};

struct curve {
	double x[POINTS], y[POINTS], low[POINTS], high[POINTS];
};

struct curves {
	struct curve line[LINES];
	enum line first;                      /* the symmetric model has one latency: BOTH alone */
	double most_ns, least_ns, latency_ns; /* the greatest time and latency shown */
	double point_y;                       /* the run itself */
};

/* Of a run of one thread its wall time; of several what is sure: the sum of their CPU time. */
static double time_ns(const struct nve_page *page, struct nve_predict_point point,
		      double *half_width_ns)
{
	struct nve_predict_result r = nve_predict_process(&page->predict, point);

	*half_width_ns = nve_predict_half_width_ns(&r.cpu);
	return page->native.alone ? r.wall_ns : r.cpu.time_ns;
}

static double greatest_latency(const struct nve_predict *p)
{
	double most = fmax(p->rlat_ns, p->wlat_ns) * 1.2;

	most = fmax(most, 5 * p->dram_lat_ns);
	return ceil(most / 100) * 100;
}

static struct nve_predict_point point_of(const struct nve_predict *p, enum line line, double x)
{
	return (struct nve_predict_point){line == WRITES ? p->rlat_ns : x,
					  line == READS ? p->wlat_ns : x};
}

static void fill_curves(const struct nve_page *page, struct curves *c)
{
	const struct nve_predict *p = &page->predict;
	const struct nve_totals *t = &page->view->totals;

	*c = (struct curves){.first = p->symmetric ? BOTH : WRITES,
			     .latency_ns = greatest_latency(p),
			     .least_ns = INFINITY};
	for (int k = c->first; k < LINES; k++) {
		for (size_t i = 0; i < POINTS; i++) {
			struct curve *line = &c->line[k];
			double half;

			line->x[i] = p->dram_lat_ns +
				     (c->latency_ns - p->dram_lat_ns) * (double)i / (POINTS - 1);
			line->y[i] = time_ns(page, point_of(p, k, line->x[i]), &half);
			line->low[i] = line->y[i] - half;
			line->high[i] = line->y[i] + half;
			c->most_ns = fmax(c->most_ns, line->high[i]);
			c->least_ns = fmin(c->least_ns, line->low[i]);
		}
	}
	c->point_y = page->native.alone ? (double)page->native.wall_ns
					: (double)t->cpu_ns + (double)t->delay_paid_ns;
	c->most_ns = fmax(c->most_ns, c->point_y);
	c->least_ns = fmax(0, fmin(c->least_ns, c->point_y));
}

/* Names stand at the lines' ends, apart from each other. */
static void label_lines(struct nve_chart *c, const struct curves *curves)
{
	double at[LINES];
	int order[LINES], count = 0;

	for (int k = curves->first; k < LINES; k++) {
		int to = count++;

		at[k] = nve_chart_y(c, curves->line[k].y[POINTS - 1]) + 4;
		for (; to && at[order[to - 1]] > at[k]; to--)
			order[to] = order[to - 1];
		order[to] = k;
	}
	/* from the lowest one upwards, lest one leaves the frame */
	for (int i = count - 2; i >= 0; i--)
		at[order[i]] = fmin(at[order[i]], at[order[i + 1]] - 15);
	for (int k = curves->first; k < LINES; k++)
		nve_chart_label(c, c->width - c->right + 6, at[k], "start", "lane", lines[k].name);
}

/* The run itself, on the line of that latency. */
static void put_point(struct nve_chart *c, double latency_ns, double time_ns)
{
	double x = nve_chart_x(c, latency_ns), y = nve_chart_y(c, time_ns);
	bool early = x < c->left + 60;

	if (!(latency_ns > 0))
		return;
	nve_html_print(c->out, "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>", x, y);
	nve_chart_label(c, x + (early ? 2 : 0), y + 21, early ? "start" : "middle", "value",
			"this run");
}

static void draw_curves(const struct nve_page *page, const struct curves *curves, bool narrow)
{
	struct nve_chart c = {.out = page->out};
	double low = curves->least_ns < 0.6 * curves->most_ns ? 0 : curves->least_ns * 0.97;
	double most = curves->most_ns * 1.03;

	nve_chart_size(&c, narrow, narrow ? 290 : 360);
	c.right = narrow ? 12 : 150;
	c.x = (struct nve_chart_axis){
		"latency", page->dram_lat_ns, curves->latency_ns, {"ns", 1}, narrow ? 4 : 8};
	c.y = (struct nve_chart_axis){page->native.alone ? "run time" : "CPU time and delay", low,
				      most > low ? most : low + 1, nve_units_time(most), 6};
	nve_chart_open(&c);
	for (int k = curves->first; k < LINES; k++)
		nve_chart_band(&c, lines[k].band, curves->line[k].x, curves->line[k].low,
			       curves->line[k].high, POINTS);
	for (int k = curves->first; k < LINES; k++)
		nve_chart_line(&c, lines[k].class, curves->line[k].x, curves->line[k].y, POINTS);
	if (!narrow)
		label_lines(&c, curves);
	put_point(&c, page->predict.rlat_ns, curves->point_y);
	put_point(&c, page->predict.wlat_ns, curves->point_y);
	nve_chart_close(&c);
}

static void put_cell(struct nve_html *h, const struct curve *line, size_t i)
{
	char time[NVE_UNITS_BYTES], half[NVE_UNITS_BYTES];

	nve_units_put_time(time, line->y[i]);
	nve_units_put_time(half, line->high[i] - line->y[i]);
	nve_html_print(h, "<td>%s ± %s</td>", time, half);
}

static void put_rows(struct nve_html *h, const struct curves *curves)
{
	nve_html_put(h, "<thead><tr><th scope=\"col\">latency</th>");
	for (int k = curves->first; k < LINES; k++)
		nve_html_element(h, "th scope=\"col\"", lines[k].name);
	nve_html_put(h, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < POINTS; i++) {
		nve_html_print(h, "<tr><th scope=\"row\">%.0f ns</th>", curves->line[BOTH].x[i]);
		for (int k = curves->first; k < LINES; k++)
			put_cell(h, &curves->line[k], i);
		nve_html_put(h, "</tr>\n");
	}
}

static void put_curves(const struct nve_page *page)
{
	struct nve_page_key keys[LINES];
	struct nve_html *h = page->out;
	struct curves curves;
	char about[400], read[NVE_UNITS_BYTES], write[NVE_UNITS_BYTES];

	fill_curves(page, &curves);
	nve_page_latency(read, page->predict.rlat_ns);
	nve_page_latency(write, page->predict.wlat_ns);
	snprintf(
		about, sizeof(about),
		"%s, from this run, by the model's equation 5. Where one latency varies, the other "
		"stays this run's (read %s, write %s). Bands: 95 %% confidence, and 3 %% of the "
		"emulated stall time for what samples do not show.",
		page->native.alone ? "Run time at other latencies"
				   : "CPU time and delay of all threads at other latencies",
		read, write);
	for (int k = 0; k < LINES; k++)
		keys[k] = (struct nve_page_key){lines[k].class, lines[k].name};
	nve_page_figure(h, "curve", "At other latencies", about);
	nve_page_legend(h, keys + curves.first, (size_t)(LINES - curves.first));
	nve_page_plot(h, "points", 1,
		      "Lines over latency: predicted time, with bands of uncertainty");
	draw_curves(page, &curves, false);
	draw_curves(page, &curves, true);
	nve_page_plot_end(h);
	nve_page_values(h);
	put_rows(h, &curves);
	nve_page_values_end(h);
}

/* DRAM's own first, then in equal ratios, of two digits. */
static void fill_grid(double dram_ns, double most_ns, double grid[GRID])
{
	double ratio = pow(most_ns / dram_ns, 1. / (GRID - 1)), value = dram_ns;

	grid[0] = 0;
	for (size_t i = 1; i < GRID; i++) {
		double power;

		value *= ratio;
		power = pow(10, floor(log10(value)) - 1);
		grid[i] = round(value / power) * power;
	}
}

static void put_grid_row(const struct nve_page *page, const double grid[GRID], double read_ns,
			 double base_ns, double most_ns)
{
	struct nve_html *h = page->out;
	char text[NVE_UNITS_BYTES];

	nve_page_latency(text, read_ns);
	nve_html_print(h, "<tr><th scope=\"row\">%s</th>", text);
	for (size_t i = 0; i < GRID; i++) {
		double half,
			at = time_ns(page, (struct nve_predict_point){read_ns, grid[i]}, &half);
		double shade = most_ns > base_ns ? (at - base_ns) / (most_ns - base_ns) : 0;

		nve_html_print(h, "<td style=\"--v:%.2f\">%.2f<small> ± %.2f</small></td>",
			       fmax(0, shade), at / base_ns, half / base_ns);
	}
	nve_html_put(h, "</tr>\n");
}

static void put_grid(const struct nve_page *page)
{
	struct nve_html *h = page->out;
	double grid[GRID], half, base_ns, most_ns;
	char text[NVE_UNITS_BYTES];

	fill_grid(page->dram_lat_ns, greatest_latency(&page->predict), grid);
	base_ns = time_ns(page, (struct nve_predict_point){0, 0}, &half);
	most_ns = time_ns(page, (struct nve_predict_point){grid[GRID - 1], grid[GRID - 1]}, &half);
	if (!(base_ns > 0))
		return;
	nve_page_figure(h, "grid", "Slowdown at pairs of latencies",
			"Over DRAM alone. Rows: read latency; columns: write latency; the "
			"stronger the shade, the slower.");
	nve_html_put(h,
		     "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Slowdown at "
		     "pairs of latencies\"><table class=\"shaded\"><thead><tr><th "
		     "scope=\"col\">read \\ write</th>");
	for (size_t i = 0; i < GRID; i++) {
		nve_page_latency(text, grid[i]);
		nve_html_element(h, "th scope=\"col\"", text);
	}
	nve_html_put(h, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < GRID; i++)
		put_grid_row(page, grid, grid[i], base_ns, most_ns);
	nve_html_put(h, "</tbody></table></div></figure>\n");
}

bool nve_page_has_curve(const struct nve_page *page)
{
	return page->view->processes[0].emulated && page->dram_lat_ns > 0 &&
	       page->view->totals.epochs;
}

void nve_page_curve(const struct nve_page *page)
{
	if (!nve_page_has_curve(page))
		return;
	nve_html_put(page->out, "<section><h2 id=\"prediction\">Prediction</h2>\n");
	put_curves(page);
	if (!page->predict.symmetric)
		put_grid(page);
	nve_html_put(page->out, "</section>\n");
}
