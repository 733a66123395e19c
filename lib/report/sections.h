/* The sections of a report that have files of their own. Each writes one member of the document. */
#ifndef NVE_REPORT_SECTIONS_H
#define NVE_REPORT_SECTIONS_H

#include "report/json.h"
#include "report/snapshot.h"

/* The key of a row of buckets. */
const char *nve_report_timeline_key(enum nve_timeline_quantity quantity);

/* Where each quantity comes from, how it is read, why not better and what mends that. */
void nve_report_sources(struct nve_json *j, const struct nve_snapshot *s);

void nve_report_timeline(struct nve_json *j, const struct nve_timeline_snapshot *s);

#endif
