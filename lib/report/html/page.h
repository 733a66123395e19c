/*
 * A report as one HTML page that needs nothing else: no network, no script to be read (a small one
 * adds reading of values, sorting and searching). Pure: a view into a sink. For the command alone,
 * like report/read.h.
 */
#ifndef NVE_REPORT_HTML_PAGE_H
#define NVE_REPORT_HTML_PAGE_H

#include "report/json.h"
#include "report/read.h"

/*
 * The view must be finished. version: of the program that makes the page. 0; what the sink
 * returned; -ENOMEM; or, with the reason in *why, -EINVAL where a section of a report is not as
 * reports are.
 */
int nve_html_write(const struct nve_view *view, const char *version,
		   const struct nve_report_sink *sink, struct nve_read_message *why);

#endif
