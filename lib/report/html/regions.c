/* Marked regions. */
#include <math.h>

#include "base/base.h"
#include "report/html/parts.h"

enum { BARS = 12 };

static struct nve_page_bar bar_of(const char *name, const struct nve_view_region_figures *f)
{
	return (struct nve_page_bar){
		.name = name,
		.part = {{"cpu", (double)(f->cpu_ns - NVE_MIN(f->stall_ns, f->cpu_ns))},
			 {"ro", (double)(f->stall_ns - NVE_MIN(f->stall_wb_ns, f->stall_ns))},
			 {"wb", (double)f->stall_wb_ns},
			 {"delay", (double)f->delay_paid_ns}},
	};
}

static void put_bars(const struct nve_page *page)
{
	static const struct nve_page_key keys[] = {
		{"cpu", "computing"},
		{"ro", "stalled on read-only misses"},
		{"wb", "stalled on write-back misses"},
		{"delay", "delay of the emulation"},
	};
	const struct nve_view_regions *r = &page->regions;
	struct nve_page_bar rows[BARS + 1];
	size_t count = NVE_MIN(r->count, (size_t)BARS);

	for (size_t i = 0; i < count; i++)
		rows[i] = bar_of(r->list[i].name, &r->list[i].exclusive);
	rows[count] = bar_of("outside of all regions", &r->outside);
	nve_page_put_bars(page->out,
			  &(struct nve_page_bars){
				  .id = "region-bars",
				  .title = "Where the time goes",
				  .about = "CPU time and delay of all threads, without that of "
					   "regions within; the longest first.",
				  .keys = keys,
				  .key_count = NVE_ARRAY_SIZE(keys),
				  .first = "region",
				  .parts = {"computing", "stalled, read-only",
					    "stalled, write-back", "delay"},
				  .rows = rows,
				  .count = count + 1,
			  });
}

/* Short regions have more or less than their part of an epoch's stall time. */
static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? fmin(1, (double)part / (double)whole) : 0;
}

static void put_row(struct nve_html *h, const struct nve_view_region *r)
{
	const struct nve_view_region_figures *f = &r->exclusive;

	nve_html_put(h, "<tr><th scope=\"row\"><bdi>");
	nve_html_text(h, r->name);
	nve_html_put(h, "</bdi></th>");
	nve_page_cell_count(h, (double)r->calls);
	nve_page_cell_time(h, (double)f->wall_ns);
	nve_page_cell_time(h, (double)f->cpu_ns);
	nve_page_cell_share(h, ratio(f->stall_ns, f->cpu_ns));
	nve_page_cell_share(h, ratio(f->stall_wb_ns, f->stall_ns));
	nve_page_cell_count(h, (double)f->ma_ro);
	nve_page_cell_count(h, (double)f->ma_wb);
	nve_page_cell_time(h, (double)f->delay_paid_ns);
	nve_page_cell_time(h, (double)(r->inclusive.cpu_ns + r->inclusive.delay_paid_ns));
	nve_html_put(h, "</tr>\n");
}

static void put_table(const struct nve_page *page)
{
	static const char *const names[] = {
		"region",           "calls",
		"wall time",        "CPU time",
		"stalled",          "write-back share",
		"read-only misses", "write-back misses",
		"delay paid",       "with regions within",
	};
	struct nve_html *h = page->out;

	nve_html_put(h,
		     "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Regions\">"
		     "<table class=\"sortable\" data-search=\"Search regions\"><thead><tr>");
	for (size_t i = 0; i < NVE_ARRAY_SIZE(names); i++)
		nve_html_element(h, "th scope=\"col\"", names[i]);
	nve_html_put(h, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < page->regions.count; i++)
		put_row(h, &page->regions.list[i]);
	nve_html_put(h, "</tbody></table></div>\n");
}

void nve_page_regions(const struct nve_page *page)
{
	if (!page->regions.count)
		return;
	nve_html_put(page->out, "<section><h2 id=\"regions\">Regions</h2>\n");
	put_bars(page);
	put_table(page);
	nve_html_put(page->out, "</section>\n");
}
