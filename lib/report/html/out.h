/*
 * HTML, written piece by piece into a sink. Markup comes from the page's own code; whatever comes
 * from a report is text, and goes through nve_html_text. Errors of the sink stick: what follows
 * does nothing.
 */
#ifndef NVE_REPORT_HTML_OUT_H
#define NVE_REPORT_HTML_OUT_H

#include <stddef.h>

#include "report/json.h"

enum { NVE_HTML_BUFFER = 16384 };

struct nve_html {
	const struct nve_report_sink *sink;
	int error;
	size_t used;
	char buffer[NVE_HTML_BUFFER];
};

void nve_html_start(struct nve_html *h, const struct nve_report_sink *sink);
int nve_html_finish(struct nve_html *h);

/* Markup. */
void nve_html_put(struct nve_html *h, const char *markup);

/* The same with numbers in it; any text that it is given must be the page's own. */
void nve_html_print(struct nve_html *h, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Text of anybody's, fit for the inside of elements and of quoted attributes. What could reorder,
 * hide or end text (control characters, marks of direction, bytes that are no UTF-8) is replaced by
 * something that is seen.
 */
void nve_html_text(struct nve_html *h, const char *text);

/* An element with nothing but such a text in it. */
void nve_html_element(struct nve_html *h, const char *name, const char *text);

#endif
