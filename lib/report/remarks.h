/*
 * What a reader of reports must know before the figures are believed: what was not emulated or not
 * seen, and what is uncertain. Pure.
 */
#ifndef NVE_REPORT_REMARKS_H
#define NVE_REPORT_REMARKS_H

#include "report/read.h"

/*
 * Calls put for each remark, one line without a newline; the gravest first. The view must be
 * finished. Returns how many there were.
 */
size_t nve_remarks(const struct nve_view *view, void (*put)(void *ctx, const char *text),
		   void *ctx);

#endif
