/*
 * A report as one HTML page that needs nothing else: no network, no script to be read (a small one
 * adds reading of values, sorting and searching). Pure: a view into a sink. For the command alone,
 * like report/read.h.
 */
#ifndef NVE_REPORT_HTML_PAGE_H
#define NVE_REPORT_HTML_PAGE_H

#include "report/json.h"
#include "report/read.h"
#include "report/read_heat.h"

enum { NVE_HTML_NAME_BYTES = 512 };

struct nve_html_options {
	const char *version; /* of the program that makes the page */
	void *ctx;           /* for the two below */
	/* A site in one line. */
	void (*site)(void *ctx, const struct nve_view_site *site, char text[NVE_HTML_NAME_BYTES]);
	/* Function i of its call path, the innermost being 0; false: there are no more. */
	bool (*frame)(void *ctx, const struct nve_view_site *site, size_t i,
		      char text[NVE_HTML_NAME_BYTES]);
};

/*
 * The view must be finished. 0; what the sink returned; -ENOMEM; or, with the reason in *why,
 * -EINVAL or -ENOENT where a section of a report is not as reports are.
 */
int nve_html_write(const struct nve_view *view, const struct nve_html_options *options,
		   const struct nve_report_sink *sink, struct nve_read_message *why);

#endif
