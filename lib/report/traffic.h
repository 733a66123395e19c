/* What a report tells of bandwidth. */
#ifndef NVE_REPORT_TRAFFIC_H
#define NVE_REPORT_TRAFFIC_H

#include <stdint.h>

#include "count/ahead/stream.h"
#include "report/json.h"

/* Of a thread or of the process: moved between memory and the caches, with standard errors. */
struct nve_traffic_totals {
	uint64_t read_bytes, written_bytes, read_se_bytes, written_se_bytes;
	uint64_t delay_ns; /* owed in epochs in which bandwidth asked for more */
	/* CPU time by the way in which its traffic is known, and of which nothing is */
	uint64_t ns[NVE_STREAM_BYS], unknown_ns;
};

/* Of the machine: bytes per second, of one thread and of all processors; 0: not measured. */
struct nve_traffic_machine {
	uint64_t read, write, all_read, all_write;
};

/* Key "bandwidth": what the machine can do, GB/s; null where it was not measured. */
void nve_report_machine_bandwidth(struct nve_json *j, const struct nve_traffic_machine *m);

/* Key "traffic": of a thread or of the process. */
void nve_report_traffic(struct nve_json *j, const struct nve_traffic_totals *t);

#endif
