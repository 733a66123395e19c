/* nvmemu report: what was moved, where a bandwidth was emulated. */
#ifndef CLI_REPORT_TRAFFIC_H
#define CLI_REPORT_TRAFFIC_H

#include <stdint.h>
#include <stdio.h>

#include "report/read.h"

/* Lines after labels of that width: the limits; bytes, bandwidth and delay of all, with their
 * source. Nothing where no traffic was counted. */
void report_put_traffic(FILE *out, const struct nve_view *view, int label);

/* A table of at most so many threads, those that moved most first; nothing of less than two. 0 or
 * -ENOMEM. */
int report_put_thread_traffic(FILE *out, const struct nve_view *view, size_t rows);

#endif
