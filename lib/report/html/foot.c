/* The foot of the page: settings, sources, uncertainty. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "report/html/parts.h"

static void row(struct nve_html *h, const char *name, const char *value)
{
	nve_html_put(h, "<tr>");
	nve_html_element(h, "th scope=\"row\"", name);
	nve_html_element(h, "td", value && value[0] ? value : "–");
	nve_html_put(h, "</tr>\n");
}

static void row_latency(struct nve_html *h, const char *name, uint64_t ps, const char *more)
{
	char text[400];

	snprintf(text, sizeof(text), "%.1f ns%s%.100s", (double)ps / 1e3, more[0] ? ", " : "",
		 more);
	row(h, name, text);
}

static void row_time(struct nve_html *h, const char *name, uint64_t ns)
{
	char text[NVE_UNITS_BYTES];

	nve_units_put_time(text, (double)ns);
	row(h, name, text);
}

static void row_count(struct nve_html *h, const char *name, uint64_t n)
{
	char text[NVE_UNITS_BYTES];

	nve_units_put_count(text, (double)n);
	row(h, name, text);
}

static void open_card(struct nve_html *h, const char *title)
{
	nve_html_put(h, "<div class=\"card\">");
	nve_html_element(h, "h3", title);
	nve_html_put(h, "<table><tbody>\n");
}

static void close_card(struct nve_html *h)
{
	nve_html_put(h, "</tbody></table></div>\n");
}

static void put_uncertainty(struct nve_html *h, const struct nve_totals *t)
{
	char text[160];

	open_card(h, "Uncertainty");
	snprintf(text, sizeof(text), "%.4f ± %.4f", t->stall_share_ppm / 1e6,
		 t->stall_share_se_ppm / 1e6);
	row(h, "stall share", text);
	snprintf(text, sizeof(text), "%.4f ± %.4f", t->dirty_ppm / 1e6, t->dirty_se_ppm / 1e6);
	row(h, "dirty fraction", text);
	snprintf(text, sizeof(text), "± %.1f ns", (double)t->latency_se_ps / 1e3);
	row_latency(h, "latency of a miss", t->latency_ps, text);
	row_latency(h, "DRAM meanwhile", t->dram_lat_ps, "mean");
	row_count(h, "samples", t->samples);
	row_count(h, "of these in the program", t->samples_user);
	row_count(h, "in the kernel", t->samples_kernel);
	row_count(h, "without an answer", t->samples_no_answer);
	row_count(h, "ticks lost", t->samples_lost);
	row_count(h, "windows looked ahead", t->windows);
	row_count(h, "misses seen in them", t->misses);
	row_count(h, "values clamped", t->clamps);
	close_card(h);
}

static void put_cost(struct nve_html *h, const struct nve_totals *t)
{
	open_card(h, "Delay and cost");
	row_time(h, "delay owed", t->delay_owed_ns);
	row_time(h, "paid", t->delay_paid_ns);
	row_time(h, "of that before hand-overs", t->delay_handover_ns);
	row_time(h, "dropped", t->delay_dropped_ns);
	row_count(h, "epochs", t->epochs);
	row_time(h, "handler, in the program's threads", t->handler_ns);
	row_time(h, "which spared them", t->saved_ns);
	row_time(h, "monitors", t->monitor_ns);
	close_card(h);
}

static void put_note(struct nve_html *h, const char *before, const char *text)
{
	if (!text || !text[0])
		return;
	nve_html_put(h, "<p class=\"why\">");
	nve_html_put(h, before);
	nve_html_text(h, text);
	nve_html_put(h, "</p>");
}

static void put_source(struct nve_html *h, const char *name, const struct nve_view_source *s)
{
	nve_html_put(h, "<tr>");
	nve_html_element(h, "th scope=\"row\"", name);
	nve_html_put(h, "<td>");
	nve_html_text(h, s->name && s->name[0] ? s->name : "none");
	put_note(h, "read: ", s->how);
	put_note(h, "no better: ", s->why);
	put_note(h, "mend: ", s->mend);
	nve_html_put(h, "</td></tr>\n");
}

static void put_sources(struct nve_html *h, const struct nve_view_process *p)
{
	open_card(h, "Sources");
	for (int q = 0; q < NVE_QUANTITIES; q++)
		put_source(h, nve_quantity_label((enum nve_quantity)q), &p->sources.of[q]);
	put_source(h, "timer", &(struct nve_view_source){.name = p->sources.timer});
	if (p->sources.counter_events[0])
		put_source(h, "counter events",
			   &(struct nve_view_source){.name = p->sources.counter_events});
	if (p->replay[0])
		put_source(h, "replay of", &(struct nve_view_source){.name = p->replay});
	close_card(h);
}

static void put_machine(struct nve_html *h, const struct nve_view_process *p)
{
	const struct nve_view_machine *m = &p->machine;
	char text[NVE_UNITS_BYTES];

	open_card(h, "Machine");
	row(h, "processor", m->cpu);
	row_latency(h, "DRAM", m->dram_lat_ps, m->dram_lat_origin);
	row_latency(h, "last-level cache", m->llc_lat_ps, m->llc_lat_origin);
	snprintf(text, sizeof(text), "%.1f MiB", (double)m->llc_bytes / (1 << 20));
	row(h, "its size", text);
	snprintf(text, sizeof(text), "%.3f GHz", (double)m->tsc_khz / 1e6);
	row(h, "time-stamp counter", text);
	row(h, "calibrated with", m->huge_pages ? "huge pages" : "small pages");
	close_card(h);
}

static void put_settings(struct nve_html *h, const struct nve_view_process *p)
{
	open_card(h, "Settings");
	for (size_t i = 0; i < p->setting_count; i++) {
		nve_html_put(h, nve_view_is_default(&p->settings[i]) ? "<tr class=\"default\">"
								     : "<tr>");
		nve_html_element(h, "th scope=\"row\"", p->settings[i].name);
		nve_html_element(h, "td", p->settings[i].value);
		nve_html_put(h, "</tr>\n");
	}
	close_card(h);
}

void nve_page_foot(const struct nve_page *page)
{
	const struct nve_view_process *first = &page->view->processes[0];
	struct nve_html *h = page->out;

	nve_html_put(h, "<section class=\"foot\"><h2 id=\"sources\">Settings, sources, "
			"uncertainty</h2>\n<div class=\"cards\">\n");
	put_uncertainty(h, &page->view->totals);
	put_sources(h, first);
	put_cost(h, &page->view->totals);
	put_machine(h, first);
	put_settings(h, first);
	nve_html_put(h, "</div></section>\n<footer><p>Made by nvmemu ");
	nve_html_text(h, page->options->version);
	if (page->view->count > 1)
		nve_html_put(h, ". Sources, machine and settings are the first process's");
	nve_html_put(h,
		     ". The delay model is that of Koshiba, Hirofuchi, Takano and Namiki, IEICE "
		     "Transactions on Information and Systems E102-D no. 12, 2019.</p></footer>\n");
}
