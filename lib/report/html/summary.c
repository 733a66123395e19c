/* The head of the page: what ran as what, the figures that matter, and the run time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/base.h"
#include "report/html/parts.h"
#include "report/remarks.h"

static void put_date(struct nve_html *h, uint64_t seconds)
{
	time_t when = (time_t)seconds;
	struct tm tm;
	char text[64];

	if (!seconds || !gmtime_r(&when, &tm) ||
	    !strftime(text, sizeof(text), "%-d %B %Y, %H:%M UTC", &tm))
		return;
	nve_html_print(h, "<time>%s</time>", text);
}

static void put_target(const struct nve_page *page)
{
	const struct nve_view_process *first = &page->view->processes[0];
	struct nve_html *h = page->out;
	char read[NVE_UNITS_BYTES], write[NVE_UNITS_BYTES];

	if (!first->emulated) {
		nve_html_put(h, "<p class=\"lead\">ran natively: nothing was emulated</p>\n");
		return;
	}
	nve_page_latency(read, (double)first->rlat_ps / 1e3);
	nve_page_latency(write, (double)first->wlat_ps / 1e3);
	nve_html_put(h, "<p class=\"lead\">on an emulated memory: ");
	nve_html_print(h, "reads <b>%s</b>, writes <b>%s</b>", first->rlat_ps ? read : "as DRAM",
		       first->wlat_ps ? write : "as DRAM");
	nve_html_print(h, ", where this machine's DRAM takes <b>%.0f ns</b></p>\n",
		       page->dram_lat_ns);
}

static void put_facts(const struct nve_page *page)
{
	const struct nve_view *v = page->view;
	const struct nve_view_process *first = &v->processes[0];
	struct nve_html *h = page->out;

	nve_html_put(h, "<p class=\"facts\">");
	put_date(h, v->run.known ? v->run.started_at_s : first->started_at_s);
	nve_html_put(h, " · host <bdi>");
	nve_html_text(h, first->host);
	nve_html_put(h, "</bdi> · <bdi>");
	nve_html_text(h, first->machine.cpu);
	nve_html_put(h, "</bdi> · ");
	if (v->count > 1)
		nve_html_print(h, "%zu processes", v->count);
	else
		nve_html_print(h, "process %d, %llu thread%s", first->pid,
			       (unsigned long long)first->threads_total,
			       first->threads_total == 1 ? "" : "s");
	nve_html_put(h, "</p>\n");
	if (!v->run.known)
		return;
	nve_html_put(h, "<p class=\"facts\"><code>");
	nve_html_text(h, v->run.command);
	nve_html_print(h, "</code> · %s %d</p>\n",
		       v->run.status < 0 ? "ended by signal" : "exit status", abs(v->run.status));
}

static void tile(struct nve_html *h, const char *class, const char *name, const char *value,
		 const char *more)
{
	nve_html_print(h, "<div class=\"%s\">", class);
	nve_html_element(h, "dt", name);
	nve_html_element(h, "dd", value);
	nve_html_element(h, "dd class=\"more\"", more);
	nve_html_put(h, "</div>\n");
}

static void put_slowdown(const struct nve_page *page)
{
	const struct nve_native *n = &page->native;
	char value[NVE_UNITS_BYTES], more[160], low[NVE_UNITS_BYTES], high[NVE_UNITS_BYTES];
	double wall = (double)n->wall_ns;

	nve_units_put_time(value, wall);
	tile(page->out, "tile", "Run time, emulated", value, "wall time, as measured");
	nve_units_put_time(value, (double)n->native_ns);
	nve_units_put_time(low, (double)n->least_ns);
	nve_units_put_time(high, (double)n->most_ns);
	if (n->alone)
		snprintf(more, sizeof(more), "estimate: less the delay");
	else
		snprintf(more, sizeof(more), "estimate; between %s and %s", low, high);
	tile(page->out, "tile", "Run time, native", value, more);
	if (!n->native_ns)
		return;
	snprintf(value, sizeof(value), "%.2f ×", wall / (double)n->native_ns);
	if (n->alone || !n->least_ns)
		snprintf(more, sizeof(more), "emulated over native");
	else
		snprintf(more, sizeof(more), "between %.2f and %.2f", wall / (double)n->most_ns,
			 wall / (double)n->least_ns);
	tile(page->out, "tile main", "Slowdown", value, more);
}

static void put_model(const struct nve_page *page)
{
	const struct nve_totals *t = &page->view->totals;
	char value[NVE_UNITS_BYTES], more[160], owed[NVE_UNITS_BYTES];

	nve_units_put_time(value, (double)t->delay_paid_ns);
	nve_units_put_time(owed, (double)t->delay_owed_ns);
	snprintf(more, sizeof(more), "of %s that the model asks for", owed);
	tile(page->out, "tile", "Delay paid", value, more);
	snprintf(value, sizeof(value), "%.1f %%", t->stall_share_ppm / 1e4);
	snprintf(more, sizeof(more), "± %.1f, of the program's CPU time",
		 t->stall_share_se_ppm / 1e4);
	tile(page->out, "tile", "Stalled on memory", value, more);
	snprintf(value, sizeof(value), "%.1f %%", t->dirty_ppm / 1e4);
	snprintf(more, sizeof(more), "± %.1f, of the time stalled", t->dirty_se_ppm / 1e4);
	tile(page->out, "tile", "On write-back misses", value, more);
}

static void put_remark(void *ctx, const char *text)
{
	nve_html_element(ctx, "li", text);
}

static void count_remark(void *ctx, const char *text)
{
	(void)text;
	++*(size_t *)ctx;
}

static void put_remarks(const struct nve_page *page)
{
	size_t count = 0;

	nve_remarks(page->view, count_remark, &count);
	if (!count)
		return;
	nve_html_put(page->out, "<section class=\"remarks\" aria-label=\"Before you believe it\">"
				"<h2>To know before you believe it</h2><ul>\n");
	nve_remarks(page->view, put_remark, page->out);
	nve_html_put(page->out, "</ul></section>\n");
}

static void fill_bars(const struct nve_page *page, struct nve_page_bar bars[4])
{
	const struct nve_totals *t = &page->view->totals;
	const struct nve_native *n = &page->native;
	double stall_ro = (double)(t->stall_ns - t->stall_wb_ns);

	for (size_t i = 0; i < 2; i++) {
		bars[i] = (struct nve_page_bar){
			.name = i ? "CPU time of all threads, emulated"
				  : "CPU time of all threads, native",
			.part = {{"cpu", (double)(t->cpu_ns - t->stall_ns)},
				 {"ro", stall_ro},
				 {"wb", (double)t->stall_wb_ns},
				 {"delay", i ? (double)t->delay_paid_ns : 0}},
		};
	}
	bars[2] = (struct nve_page_bar){.name = "Wall time, native (estimate)",
					.part = {{"wall", (double)n->native_ns}},
					.low_ns = (double)n->least_ns,
					.high_ns = (double)n->most_ns};
	bars[3] = (struct nve_page_bar){.name = "Wall time, emulated",
					.part = {{"wall", (double)n->native_ns},
						 {"delay", (double)(n->wall_ns - n->native_ns)}}};
}

static void put_run_time(const struct nve_page *page)
{
	static const struct nve_page_key keys[] = {
		{"cpu", "computing"},
		{"ro", "stalled on read-only misses"},
		{"wb", "stalled on write-back misses"},
		{"wall", "wall time without delay"},
		{"delay", "delay of the emulation"},
	};
	struct nve_page_bar rows[4];

	fill_bars(page, rows);
	nve_page_put_bars(
		page->out,
		&(struct nve_page_bars){
			.id = "run-time",
			.title = "Native and emulated",
			.about =
				page->native.alone
					? "One thread: what was added to it is what the run is "
					  "longer by."
					: "Threads overlap, and no report tells which of them "
					  "waited "
					  "for which: the whisker spans from all delay in a row to "
					  "all of it at the same time.",
			.keys = keys,
			.key_count = NVE_ARRAY_SIZE(keys),
			.first = "time",
			.parts = {"computing, or wall time", "stalled, read-only",
				  "stalled, write-back", "delay"},
			.rows = rows,
			.count = NVE_ARRAY_SIZE(rows),
		});
}

static void put_links(const struct nve_page *page)
{
	const struct {
		const char *to, *text;
		bool there;
	} links[] = {
		{"time", "Run time", true},
		{"course", "Over time", nve_page_has_course(page)},
		{"prediction", "Prediction", nve_page_has_curve(page)},
		{"regions", "Regions", page->regions.count > 0},
		{"sites", "Memory", page->heat.processes > 0},
		{"traffic", "Bandwidth", nve_page_has_traffic(page)},
		{"processes", "Processes", page->view->count > 1},
		{"threads", "Threads", nve_page_has_threads(page)},
		{"sources", "Settings, sources, uncertainty", true},
	};

	nve_html_put(page->out, "<nav aria-label=\"Parts of the page\">");
	for (size_t i = 0; i < NVE_ARRAY_SIZE(links); i++)
		if (links[i].there)
			nve_html_print(page->out, "<a href=\"#%s\">%s</a>\n", links[i].to,
				       links[i].text);
	nve_html_put(page->out, "</nav>\n");
}

void nve_page_summary(const struct nve_page *page)
{
	struct nve_html *h = page->out;

	nve_html_put(h, "<header><p class=\"mark\">nvmemu report</p>\n<h1><bdi>");
	nve_html_text(h, page->view->processes[0].program);
	nve_html_put(h, "</bdi></h1>\n");
	put_target(page);
	put_facts(page);
	nve_html_put(h, "</header>\n<dl class=\"tiles\">\n");
	put_slowdown(page);
	put_model(page);
	nve_html_put(h, "</dl>\n");
	put_remarks(page);
	put_links(page);
	nve_html_put(h, "<section><h2 id=\"time\">Run time</h2>\n");
	put_run_time(page);
	nve_html_put(h, "</section>\n");
}
