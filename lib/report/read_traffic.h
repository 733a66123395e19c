/* What reports tell of bandwidth, as texts and pages show it. Pure. */
#ifndef NVE_REPORT_READ_TRAFFIC_H
#define NVE_REPORT_READ_TRAFFIC_H

#include <stdbool.h>

#include "report/read.h"

struct nve_view_traffic {
	double read_gb, written_gb;
	double read_gb_per_s, written_gb_per_s;
	double delay_s; /* owed in epochs in which bandwidth asked for more than the latencies */
};

/* Where its traffic was counted from; "": it was not. */
const char *nve_view_traffic_source(const struct nve_view_process *process);

/* Of the first process that counted; "": none did. */
const char *nve_view_traffic_of_all(const struct nve_view *view);

/* The limit that NVM_RBW (or NVM_WBW: writes) had, as the report has it. */
const char *nve_view_traffic_limit(const struct nve_view_process *process, bool writes);

/* Figures of all processes, over the run time. */
void nve_view_traffic_sum(const struct nve_view *view, uint64_t run_ns,
			  struct nve_view_traffic *traffic);

/* Of a thread, over its CPU time and the delay that it paid. */
void nve_view_traffic_thread(const struct nve_view_thread *thread,
			     struct nve_view_traffic *traffic);

#endif
