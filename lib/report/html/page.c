#include "report/html/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/html/assets.h"
#include "report/html/parts.h"

static uint64_t busy_ns(const struct nve_view_process *p)
{
	return p->totals.cpu_ns + p->totals.delay_paid_ns;
}

static int busier_first(const void *a, const void *b)
{
	const struct nve_page_process *x = a, *y = b;

	return (busy_ns(x->of) < busy_ns(y->of)) - (busy_ns(x->of) > busy_ns(y->of));
}

static int read_sections(struct nve_page *page, struct nve_read_message *why)
{
	const struct nve_view *v = page->view;
	struct nve_page_process *all = calloc(v->count + 1, sizeof(all[0]));
	int err = 0;

	page->processes = all;
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < v->count; i++)
		all[i].of = &v->processes[i];
	qsort(all, v->count, sizeof(all[0]), busier_first);
	for (size_t i = 0; i < NVE_MIN(v->count, (size_t)NVE_PAGE_COURSES) && !err; i++) {
		err = nve_view_read_timeline(all[i].of, &all[i].timeline, why);
		page->process_count = i + 1;
	}
	if (!err)
		err = nve_view_read_regions(v, &page->regions, why);
	return err ? err : nve_heat_view_read(v, &page->heat, why);
}

static void free_sections(struct nve_page *page)
{
	for (size_t i = 0; i < page->process_count; i++)
		nve_view_free_timeline(&page->processes[i].timeline);
	free(page->processes);
	nve_view_free_regions(&page->regions);
	nve_heat_view_free(&page->heat);
	nve_predict_free(&page->predict);
}

/* As the attribute of a policy wants it: of the digest's digits in hexadecimal. */
static void put_base64(struct nve_html *h, const char *hex)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t length = strlen(hex);

	for (size_t i = 0; i < length; i += 6) {
		char three[7] = "000000", four[5] = "====";
		size_t taken = NVE_MIN(length - i, (size_t)6);
		unsigned long bits;

		memcpy(three, hex + i, taken);
		bits = strtoul(three, NULL, 16);
		for (size_t k = 0; k <= taken * 4 / 6; k++)
			if (k < 4)
				four[k] = digits[bits >> (18 - 6 * k) & 63];
		nve_html_put(h, four);
	}
}

static void put_head(const struct nve_page *page)
{
	struct nve_html *h = page->out;

	nve_html_put(h,
		     "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		     "style-src 'unsafe-inline'; script-src 'sha256-");
	put_base64(h, NVE_PAGE_SCRIPT_SHA256);
	nve_html_put(h, "'; base-uri 'none'; form-action 'none'\">\n"
			"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			"<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	nve_html_text(h, page->view->processes[0].program);
	nve_html_put(h, " – nvmemu report</title>\n<style>\n");
	nve_html_put(h, nve_page_style);
	nve_html_put(h, "</style>\n</head>\n<body>\n");
	/* What areas of delay are filled with, in whatever colour they have. */
	nve_html_put(h, "<svg width=\"0\" height=\"0\" class=\"defs\" aria-hidden=\"true\"><defs>"
			"<pattern id=\"hatch\" width=\"6\" height=\"6\" "
			"patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
			"<path class=\"hatch-ground\" d=\"M0 0H6V6H0Z\"/>"
			"<path class=\"hatch-line\" d=\"M0 0V6\"/></pattern></defs></svg>\n");
}

static int put_body(const struct nve_page *page)
{
	struct nve_html *h = page->out;
	int err;

	nve_html_put(h, "<main>\n");
	nve_page_summary(page);
	err = nve_page_course(page);
	nve_page_curve(page);
	nve_page_regions(page);
	err = err ? err : nve_page_sites(page);
	nve_page_traffic(page);
	nve_page_threads(page);
	nve_page_foot(page);
	nve_html_put(h, "</main>\n<script>");
	nve_html_put(h, nve_page_script);
	nve_html_put(h, "</script>\n</body>\n</html>\n");
	return err;
}

int nve_html_write(const struct nve_view *view, const struct nve_html_options *options,
		   const struct nve_report_sink *sink, struct nve_read_message *why)
{
	struct nve_html *out = malloc(sizeof(*out));
	struct nve_page page = {
		.out = out,
		.view = view,
		.options = options,
		.dram_lat_ns = (double)view->processes[0].machine.dram_lat_ps / 1e3,
	};
	int err;

	if (!out)
		return -ENOMEM;
	nve_html_start(out, sink);
	nve_native_estimate(view, &page.native);
	err = read_sections(&page, why);
	if (!err)
		err = nve_page_forecast(&page);
	if (!err) {
		put_head(&page);
		err = put_body(&page);
	}
	if (!err)
		err = nve_html_finish(out);
	free_sections(&page);
	free(out);
	return err;
}
