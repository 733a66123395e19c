/* Processes and threads, one row each. */
#include "base/base.h"
#include "report/html/parts.h"

static const char *const names[] = {
	"CPU time",          "stalled",    "write-back share", "read-only misses",
	"write-back misses", "delay paid", "miss latency",
};

/* search: what the field above the table says. */
static void open_table(struct nve_html *h, const char *first, const char *second,
		       const char *search)
{
	nve_html_print(h,
		       "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"%s\">"
		       "<table class=\"sortable\" data-search=\"%s\"><thead><tr>",
		       search, search);
	nve_html_element(h, "th scope=\"col\"", first);
	nve_html_element(h, "th scope=\"col\"", second);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(names); i++)
		nve_html_element(h, "th scope=\"col\"", names[i]);
	nve_html_put(h, "</tr></thead><tbody>\n");
}

static void open_row(struct nve_html *h, const char *name, int number)
{
	nve_html_put(h, "<tr><th scope=\"row\"><bdi>");
	nve_html_text(h, name);
	nve_html_print(h, "</bdi></th><td data-n=\"%d\">%d</td>", number, number);
}

static void put_totals(struct nve_html *h, const struct nve_totals *t, double most_paid_ns)
{
	double paid = (double)t->delay_paid_ns;
	char text[NVE_UNITS_BYTES];

	nve_page_cell_time(h, (double)t->cpu_ns);
	nve_page_cell_share(h, t->stall_share_ppm / 1e6);
	nve_page_cell_share(h, t->dirty_ppm / 1e6);
	nve_page_cell_count(h, (double)t->ma_ro);
	nve_page_cell_count(h, (double)t->ma_wb);
	nve_units_put_time(text, paid);
	nve_html_print(h, "<td class=\"bar\" style=\"--v:%.3f\" data-n=\"%.4g\">%s</td>",
		       most_paid_ns > 0 ? paid / most_paid_ns : 0, paid, paid > 0 ? text : "0");
	nve_html_print(h, "<td data-n=\"%.4g\">%.0f ns</td></tr>\n", (double)t->latency_ps / 1e3,
		       (double)t->latency_ps / 1e3);
}

static void close_table(struct nve_html *h)
{
	nve_html_put(h, "</tbody></table></div>\n");
}

static double most_paid(const struct nve_page *page)
{
	const struct nve_view *v = page->view;
	uint64_t most = 0;

	for (size_t i = 0; i < v->count; i++)
		for (size_t k = 0; k < v->processes[i].thread_count; k++)
			most = NVE_MAX(most, v->processes[i].threads[k].totals.delay_paid_ns);
	return (double)most;
}

static void put_processes(const struct nve_page *page)
{
	const struct nve_view *v = page->view;
	struct nve_html *h = page->out;
	uint64_t most = 0;

	for (size_t i = 0; i < v->count; i++)
		most = NVE_MAX(most, v->processes[i].totals.delay_paid_ns);
	nve_html_print(h, "<section><h2 id=\"processes\">Processes</h2><p>%zu</p>\n", v->count);
	open_table(h, "program", "process", "Search processes");
	for (size_t i = 0; i < v->count; i++) {
		open_row(h, v->processes[i].program, v->processes[i].pid);
		put_totals(h, &v->processes[i].totals, (double)most);
	}
	close_table(h);
	nve_html_put(h, "</section>\n");
}

bool nve_page_has_threads(const struct nve_page *page)
{
	for (size_t i = 0; i < page->view->count; i++)
		if (page->view->processes[i].threads_total)
			return true;
	return false;
}

void nve_page_threads(const struct nve_page *page)
{
	const struct nve_view *v = page->view;
	struct nve_html *h = page->out;
	uint64_t total = 0, unlisted = 0;
	double most = most_paid(page);

	if (v->count > 1)
		put_processes(page);
	for (size_t i = 0; i < v->count; i++) {
		total += v->processes[i].threads_total;
		unlisted += v->processes[i].threads_not_listed;
	}
	if (!nve_page_has_threads(page))
		return;
	nve_html_put(h, "<section><h2 id=\"threads\">Threads</h2>\n");
	nve_html_print(h, "<p>%llu in all", (unsigned long long)total);
	if (unlisted)
		nve_html_print(h, ", of which %llu are in the sums only",
			       (unsigned long long)unlisted);
	nve_html_put(h, ".</p>\n");
	open_table(h, "thread", "id", "Search threads");
	for (size_t i = 0; i < v->count; i++) {
		for (size_t k = 0; k < v->processes[i].thread_count; k++) {
			const struct nve_view_thread *t = &v->processes[i].threads[k];

			open_row(h, t->name, t->tid);
			put_totals(h, &t->totals, most);
		}
	}
	close_table(h);
	nve_html_put(h, "</section>\n");
}
