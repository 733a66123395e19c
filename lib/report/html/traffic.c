/* Bytes moved, where a bandwidth was emulated. */
#include "base/base.h"
#include "report/html/parts.h"
#include "report/read_traffic.h"

bool nve_page_has_traffic(const struct nve_page *page)
{
	return *nve_view_traffic_of_all(page->view);
}

static void cell(struct nve_html *h, double n, const char *unit)
{
	nve_html_print(h, "<td data-n=\"%.6g\">%.3f %s</td>", n, n, unit);
}

static void put_row(struct nve_html *h, const char *name, int number,
		    const struct nve_view_traffic *t)
{
	nve_html_put(h, "<tr><th scope=\"row\"><bdi>");
	nve_html_text(h, name);
	nve_html_print(h, "</bdi></th><td data-n=\"%d\">%d</td>", number, number);
	cell(h, t->read_gb, "GB");
	cell(h, t->written_gb, "GB");
	cell(h, t->read_gb_per_s, "GB/s");
	cell(h, t->written_gb_per_s, "GB/s");
	nve_page_cell_time(h, t->delay_s * 1e9);
	nve_html_put(h, "</tr>\n");
}

static void put_threads(struct nve_html *h, const struct nve_view_process *p)
{
	struct nve_view_traffic t;

	for (size_t i = 0; i < p->thread_count; i++) {
		nve_view_traffic_thread(&p->threads[i], &t);
		put_row(h, p->threads[i].name, p->threads[i].tid, &t);
	}
}

static void put_sum(const struct nve_page *page)
{
	const struct nve_view_process *first = &page->view->processes[0];
	struct nve_html *h = page->out;
	struct nve_view_traffic t;
	char delay[NVE_UNITS_BYTES];

	nve_view_traffic_sum(page->view, page->native.wall_ns, &t);
	nve_units_put_time(delay, t.delay_s * 1e9);
	nve_html_put(h, "<p>Limits: reads ");
	nve_html_text(h, nve_view_traffic_limit(first, false));
	nve_html_put(h, ", writes ");
	nve_html_text(h, nve_view_traffic_limit(first, true));
	nve_html_print(h,
		       ". In all <b>%.3f GB</b> were read, %.3f GB/s of run time, and <b>%.3f "
		       "GB</b> written, %.3f GB/s; the delay for it is %s. Bytes are those "
		       "between memory and caches; source: ",
		       t.read_gb, t.read_gb_per_s, t.written_gb, t.written_gb_per_s, delay);
	nve_html_text(h, nve_view_traffic_of_all(page->view));
	nve_html_put(h, ".</p>\n");
}

void nve_page_traffic(const struct nve_page *page)
{
	static const char *const names[] = {
		"thread", "id", "read", "written", "read GB/s", "write GB/s", "delay",
	};
	struct nve_html *h = page->out;

	if (!nve_page_has_traffic(page))
		return;
	nve_html_put(h, "<section><h2 id=\"traffic\">Bandwidth</h2>\n");
	put_sum(page);
	nve_html_put(
		h,
		"<p>A thread's bandwidth is over its CPU time and the delay that it paid.</p>\n"
		"<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Bandwidth of "
		"threads\"><table class=\"sortable\" data-search=\"Search bandwidth\"><thead><tr>");
	for (size_t i = 0; i < NVE_ARRAY_SIZE(names); i++)
		nve_html_element(h, "th scope=\"col\"", names[i]);
	nve_html_put(h, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < page->view->count; i++) {
		if (*nve_view_traffic_source(&page->view->processes[i]))
			put_threads(h, &page->view->processes[i]);
	}
	nve_html_put(h, "</tbody></table></div>\n</section>\n");
}
