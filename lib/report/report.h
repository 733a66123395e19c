/*
 * The report: one JSON document, "schema": "nvmemu-report". Pure: reads the snapshot, writes into
 * the sink. No malloc, no stdio, about 2 KiB of stack.
 *
 * A key that is there in one report is there in all of the same version; the version grows when a
 * key goes or changes its meaning, not when one is added.
 */
#ifndef NVE_REPORT_REPORT_H
#define NVE_REPORT_REPORT_H

#include "report/json.h"
#include "report/snapshot.h"

#define NVE_REPORT_SCHEMA "nvmemu-report"
enum { NVE_REPORT_VERSION = 1 };

/* Returns 0, or what the sink returned. */
int nve_report_write(const struct nve_snapshot *s, const struct nve_report_sink *sink);

/* The keys of "totals" into the object that is open: for sums over reports. */
void nve_report_put_totals(struct nve_json *j, const struct nve_totals *t);

#endif
