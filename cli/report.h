/* nvmemu report: the forms that a view of reports can take. Each returns 0 or -errno; what the
 * stream did not take shows in its error flag. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdio.h>

#include "report/read.h"

int report_write_text(FILE *out, const struct nve_view *view);
int report_write_csv(FILE *out, const struct nve_view *view);
int report_write_json(FILE *out, const struct nve_view *view);
int report_write_html(FILE *out, const struct nve_view *view);

/* What `nvmemu run` says afterwards; file is where the report lies, or NULL. */
int report_write_summary(FILE *out, const struct nve_view *view, const char *file);

/* Copies text to out with '?' for what would move a terminal's cursor or change its state. */
void report_put_clean(FILE *out, const char *text, size_t size);

#endif
