/*
 * The timelines of a process: of all its threads together, and of those that were busiest. Threads
 * come by the thousand; of the others only the sum is kept. Under the registry's lock, but for
 * nve_timelines_start and nve_timelines_origin_ns.
 */
#ifndef NVE_TIMELINES_H
#define NVE_TIMELINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/timeline.h"
#include "report/snapshot.h"

/* A process (or a forked child) begins, with no timelines. started_ns: of CLOCK_MONOTONIC. */
void nve_timelines_start(uint64_t started_ns);
uint64_t nve_timelines_origin_ns(void);

/* From here to nve_timelines_fill() come those of live threads, which stay their own. */
void nve_timelines_begin(void);

/*
 * One thread's; live: between begin and fill. of: its timeline, as it is filled up to settled_ns;
 * NULL: not to be had. totals: what its sums must be.
 */
struct nve_timelines_thread {
	int tid;
	bool live;
	char name[16];
	const struct nve_timeline *of;
	uint64_t settled_ns;
	const uint64_t *totals;
};

void nve_timelines_put(const struct nve_timelines_thread *thread);

/* The snapshot points to static memory afterwards. */
void nve_timelines_fill(struct nve_timeline_snapshot *s);

#endif
