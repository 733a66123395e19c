/* Whose memory the stall time falls on: kinds of memory, allocation sites, and both over time. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/html/parts.h"

/* Rows of the map; sites with all that is known of them; the others have few columns, and no path.
 */
enum { MAP_ROWS = 20, WHOLE = 200, BARS = 8, LEVELS = 8, ROW_PITCH = 24, NARROW_PITCH = 38 };

static void site_text(const struct nve_page *page, const struct nve_view_site *site,
		      char text[NVE_HTML_NAME_BYTES])
{
	const struct nve_html_options *o = page->options;

	if (o->site)
		o->site(o->ctx, site, text);
	else if (site->frame_count)
		snprintf(text, NVE_HTML_NAME_BYTES, "%s %.400s!0x%llx", site->kind,
			 site->frames[0].module, (unsigned long long)site->frames[0].offset);
	else
		snprintf(text, NVE_HTML_NAME_BYTES, "%s", site->kind);
}

static bool frame_text(const struct nve_page *page, const struct nve_view_site *site, size_t i,
		       char text[NVE_HTML_NAME_BYTES])
{
	const struct nve_html_options *o = page->options;

	if (o->frame)
		return o->frame(o->ctx, site, i, text);
	if (i >= site->frame_count)
		return false;
	snprintf(text, NVE_HTML_NAME_BYTES, "%.400s!0x%llx", site->frames[i].module,
		 (unsigned long long)site->frames[i].offset);
	return true;
}

static void put_kinds(const struct nve_page *page)
{
	static const struct nve_page_key keys[] = {
		{"ro", "on read-only misses"},
		{"wb", "on write-back misses"},
		{"cpu", "not known on what"},
	};
	const struct nve_heat_view *heat = &page->heat;
	struct nve_page_bar rows[BARS + 1];
	size_t count = NVE_MIN(heat->kind_count, (size_t)BARS);

	for (size_t i = 0; i < count; i++) {
		const struct nve_view_heat *v = &heat->kinds[i].heat;
		double wb = (double)NVE_MIN(v->stall_wb_ns, v->stall_ns);

		rows[i] = (struct nve_page_bar){
			.name = heat->kinds[i].kind,
			.part = {{"ro", (double)v->stall_ns - wb}, {"wb", wb}},
		};
	}
	rows[count] = (struct nve_page_bar){
		.name = "not attributed",
		.part = {{"", 0}, {"", 0}, {"cpu", (double)heat->unattributed_ns}}};
	nve_page_put_bars(page->out,
			  &(struct nve_page_bars){
				  .id = "kinds",
				  .title = "Stall time by kind of memory",
				  .about = "As the machine's own DRAM makes it, before "
					   "any delay.",
				  .keys = keys,
				  .key_count = NVE_ARRAY_SIZE(keys),
				  .first = "memory",
				  .parts = {"read-only misses", "write-back misses", "not known"},
				  .rows = rows,
				  .count = count + 1,
			  });
}

/* The sites with most stall time: names, and for each bucket how many threads stalled on them. */
struct map {
	size_t rows, buckets;
	char (*names)[NVE_HTML_NAME_BYTES];
	double *cell, most, bucket_ns;
};

static int make_map(const struct nve_page *page, struct map *m)
{
	const struct nve_heat_view *heat = &page->heat;

	*m = (struct map){.buckets = heat->buckets, .bucket_ns = (double)heat->bucket_ns};
	while (m->rows < NVE_MIN(heat->site_count, (size_t)MAP_ROWS) &&
	       heat->sites[m->rows].heat.stall_ns)
		m->rows++;
	m->names = calloc(m->rows + 1, sizeof(m->names[0]));
	m->cell = calloc(m->rows * m->buckets + 1, sizeof(m->cell[0]));
	if (!m->names || !m->cell)
		return -ENOMEM;
	for (size_t i = 0; i < m->rows; i++) {
		site_text(page, &heat->sites[i], m->names[i]);
		for (size_t k = 0; k < m->buckets; k++) {
			double *cell = &m->cell[i * m->buckets + k];

			*cell = heat->sites[i].heat.over_time_ns[k] / m->bucket_ns;
			m->most = fmax(m->most, *cell);
		}
	}
	return 0;
}

static void free_map(struct map *m)
{
	free(m->names);
	free(m->cell);
}

static int level_of(const struct map *m, size_t row, size_t bucket)
{
	double value = m->cell[row * m->buckets + bucket];

	return value > 0 ? 1 + (int)fmin(LEVELS - 1, value / m->most * LEVELS) : 0;
}

/* All cells of a level, those side by side as one. */
static void draw_level(struct nve_chart *c, const struct map *m, int level)
{
	double pitch = c->narrow ? NARROW_PITCH : ROW_PITCH;

	nve_html_print(c->out, "<path class=\"heat l%d\" d=\"", level);
	for (size_t i = 0; i < m->rows; i++) {
		double top = c->top + pitch * (double)i + (c->narrow ? 16 : 2);

		for (size_t k = 0, end; k < m->buckets; k = end + 1) {
			for (end = k; end < m->buckets && level_of(m, i, end) == level; end++)
				;
			if (end == k)
				continue;
			nve_html_print(c->out, "M%.1f %.1fH%.1fv20H%.1fZ",
				       nve_chart_x(c, m->bucket_ns * (double)k), top,
				       nve_chart_x(c, fmin(m->bucket_ns * (double)end, c->x.high)),
				       nve_chart_x(c, m->bucket_ns * (double)k));
		}
	}
	nve_html_put(c->out, "\"/>");
}

static void draw_map(const struct nve_page *page, const struct map *m, bool narrow)
{
	double pitch = narrow ? NARROW_PITCH : ROW_PITCH,
	       length = m->bucket_ns * (double)m->buckets;
	struct nve_chart c = {.out = page->out};

	nve_chart_size(&c, narrow, 0);
	c.height = c.top + c.bottom + pitch * (double)m->rows;
	c.left = narrow ? 26 : 330;
	c.x = (struct nve_chart_axis){"wall time since the start", 0, length,
				      nve_units_time(length), narrow ? 4 : 7};
	c.y = (struct nve_chart_axis){"allocation site", 0, 1, {"", 1}, 0};
	if (m->rows < 4)
		c.y.title = "site";
	nve_chart_open(&c);
	for (size_t i = 0; i < m->rows; i++) {
		double top = c.top + pitch * (double)i;
		char name[NVE_HTML_NAME_BYTES];

		memcpy(name, m->names[i], sizeof(name));
		nve_page_cut(name, sizeof(name), narrow ? 46 : 43);
		nve_chart_label(&c, narrow ? c.left : 28, top + (narrow ? 12 : 17), "start", "site",
				name);
	}
	for (int level = 1; level <= LEVELS; level++)
		draw_level(&c, m, level);
	nve_chart_close(&c);
}

static void put_scale(struct nve_html *h, const struct map *m)
{
	nve_html_put(h, "<p class=\"scale\">stalled at a time: 0 <svg width=\"160\" height=\"14\" "
			"aria-hidden=\"true\">");
	for (int i = 0; i < LEVELS; i++)
		nve_html_print(h, "<path class=\"heat l%d\" d=\"M%d 0h20v14h-20Z\"/>", i + 1,
			       20 * i);
	nve_html_print(h, "</svg> %.3g threads</p>\n", m->most);
}

static void put_map_rows(struct nve_html *h, const struct map *m)
{
	nve_html_put(h, "<thead><tr><th scope=\"col\">wall time</th>");
	for (size_t i = 0; i < m->rows; i++)
		nve_html_element(h, "th scope=\"col\"", m->names[i]);
	nve_html_put(h, "</tr></thead><tbody>\n");
	for (size_t k = 0; k < m->buckets; k++) {
		nve_page_span(h, m->bucket_ns * (double)k, m->bucket_ns * (double)(k + 1));
		for (size_t i = 0; i < m->rows; i++)
			nve_html_print(h, "<td>%.3g</td>", m->cell[i * m->buckets + k]);
		nve_html_put(h, "</tr>\n");
	}
}

static int put_map(const struct nve_page *page)
{
	struct nve_html *h = page->out;
	struct map m;
	int err = make_map(page, &m);

	if (!err && m.most > 0) {
		nve_page_figure(h, "heat-map", "Heat map",
				"The sites with most stall time: how many threads at a time are "
				"stalled on memory that was allocated there.");
		put_scale(h, &m);
		nve_page_plot(h, "lanes", 1,
			      "Map: allocation sites from above, wall time from left to right, "
			      "stall time as shade");
		draw_map(page, &m, false);
		draw_map(page, &m, true);
		nve_page_plot_end(h);
		nve_page_values(h);
		put_map_rows(h, &m);
		nve_page_values_end(h);
	}
	free_map(&m);
	return err;
}

static void put_path(const struct nve_page *page, const struct nve_view_site *site)
{
	struct nve_html *h = page->out;
	char text[NVE_HTML_NAME_BYTES];

	site_text(page, site, text);
	if (!site->frame_count) {
		nve_html_element(h, "bdi", text);
		return;
	}
	nve_html_put(h, "<details><summary>");
	nve_html_element(h, "bdi", text);
	nve_html_put(h, "</summary><ol>");
	for (size_t i = 0; frame_text(page, site, i, text); i++)
		nve_html_element(h, "li", text);
	nve_html_put(h, "</ol></details>");
}

static void put_bytes(struct nve_html *h, bool known, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	size_t unit = 0;
	char text[NVE_UNITS_BYTES];

	if (!known) {
		nve_html_put(h, "<td data-n=\"-1\">–</td>");
		return;
	}
	for (; value >= 1024 && unit + 1 < NVE_ARRAY_SIZE(units); unit++)
		value /= 1024;
	nve_units_put_number(text, value);
	nve_html_print(h, "<td data-n=\"%llu\">%s %s</td>", (unsigned long long)bytes, text,
		       units[unit]);
}

static void put_share(struct nve_html *h, const struct nve_view_heat *v)
{
	nve_html_print(h, "<td class=\"bar\" style=\"--v:%.3f\" data-n=\"%.4g\">%.1f", v->share,
		       v->share, 100 * v->share);
	if (v->share_se >= 0)
		nve_html_print(h, " ± %.1f", 100 * v->share_se);
	nve_html_put(h, " %</td>");
}

static void put_site(const struct nve_page *page, const struct nve_view_site *s)
{
	struct nve_html *h = page->out;

	nve_html_put(h, "<tr><th scope=\"row\">");
	put_path(page, s);
	nve_html_put(h, "</th>");
	nve_html_element(h, "td", s->kind);
	put_share(h, &s->heat);
	nve_page_cell_time(h, (double)s->heat.stall_ns);
	nve_page_cell_count(h, (double)s->heat.reads);
	nve_page_cell_count(h, (double)s->heat.writes);
	put_bytes(h, s->counted, s->peak_bytes);
	put_bytes(h, s->resident_known, s->resident_bytes);
	if (s->counted)
		nve_page_cell_count(h, (double)s->allocations);
	else
		nve_html_put(h, "<td data-n=\"-1\">–</td>");
	nve_html_put(h, "</tr>\n");
}

static void put_sites(const struct nve_page *page)
{
	static const char *const names[] = {
		"site",   "memory",    "share",    "stall time",  "reads",
		"writes", "peak size", "resident", "allocations",
	};
	const struct nve_heat_view *heat = &page->heat;
	struct nve_html *h = page->out;

	nve_html_print(h, "<h3>Allocation sites</h3><p class=\"about\">%zu sites",
		       heat->site_count);
	if (heat->sites_not_listed)
		nve_html_print(h, ", and %llu that the report does not list",
			       (unsigned long long)heat->sites_not_listed);
	nve_html_put(h,
		     ". Share: of the stall time that could be attributed; reads and writes: "
		     "accesses that stall, writes being those whose line gets written. Open a "
		     "site for its call path.</p>\n"
		     "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Allocation "
		     "sites\"><table class=\"sortable sites\" data-search=\"Search "
		     "sites\"><thead><tr>");
	for (size_t i = 0; i < NVE_ARRAY_SIZE(names); i++)
		nve_html_element(h, "th scope=\"col\"", names[i]);
	nve_html_put(h, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < NVE_MIN(heat->site_count, (size_t)WHOLE); i++)
		put_site(page, &heat->sites[i]);
	nve_html_put(h, "</tbody></table></div>\n");
}

/* By the thousand: with no more than it takes to find them. */
static void put_rest(const struct nve_page *page)
{
	const struct nve_heat_view *heat = &page->heat;
	struct nve_html *h = page->out;
	char text[NVE_HTML_NAME_BYTES], time[NVE_UNITS_BYTES];

	if (heat->site_count <= WHOLE)
		return;
	nve_html_print(h, "<details class=\"values\"><summary>The other %zu sites</summary>",
		       heat->site_count - WHOLE);
	nve_html_put(h,
		     "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Other "
		     "sites\"><table class=\"sites\" data-search=\"Search sites\"><thead><tr><th "
		     "scope=\"col\">site</th><th scope=\"col\">memory</th><th scope=\"col\">stall "
		     "time</th><th scope=\"col\">reads</th><th scope=\"col\">writes</th></tr>"
		     "</thead><tbody>\n");
	for (size_t i = WHOLE; i < heat->site_count; i++) {
		const struct nve_view_site *s = &heat->sites[i];

		site_text(page, s, text);
		nve_page_cut(text, sizeof(text), 100);
		nve_units_put_time(time, (double)s->heat.stall_ns);
		nve_html_put(h, "<tr><th>");
		nve_html_text(h, text);
		nve_html_put(h, "<td>");
		nve_html_text(h, s->kind);
		nve_html_print(h, "<td>%s<td>%llu<td>%llu\n", time,
			       (unsigned long long)s->heat.reads,
			       (unsigned long long)s->heat.writes);
	}
	nve_html_put(h, "</tbody></table></div></details>\n");
}

int nve_page_sites(const struct nve_page *page)
{
	int err;

	if (!page->heat.processes)
		return 0;
	nve_html_put(page->out, "<section><h2 id=\"sites\">Memory</h2>\n");
	put_kinds(page);
	err = put_map(page);
	put_sites(page);
	put_rest(page);
	nve_html_put(page->out, "</section>\n");
	return err;
}
