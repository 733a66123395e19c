/*
 * The document of a run: "schema": "nvmemu-run". It holds the documents of the processes as they
 * are, in "processes", the sums over them, with the keys of a process's "totals", and what the
 * command knows of the run.
 */
#ifndef NVE_REPORT_RUN_H
#define NVE_REPORT_RUN_H

#include "report/json.h"
#include "report/read.h"

#define NVE_RUN_SCHEMA "nvmemu-run"
enum { NVE_RUN_VERSION = 1 };

/* The view must be finished. Returns 0, -ENOMEM, or what the sink returned. */
int nve_run_write(const struct nve_view *view, const struct nve_report_sink *sink);

#endif
