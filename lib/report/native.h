/*
 * How long a run would have taken natively, from what its reports say. Pure.
 *
 * What the tool put into a thread is the delay it paid or, where that is more, the handler's time
 * less what that spared the thread. Of a run of one thread this is what the run time is longer by.
 * Threads and processes overlap, and no report says which of them waited for which: the estimate
 * takes delay to overlap as their CPU time did,
 *
 *   native = wall - added / max(1, (cpu + added) / wall)
 *
 * and least and most are the bounds: nothing of it overlapped, all of it did.
 */
#ifndef NVE_REPORT_NATIVE_H
#define NVE_REPORT_NATIVE_H

#include "report/read.h"

struct nve_native {
	uint64_t wall_ns;  /* as it ran */
	uint64_t added_ns; /* to all threads together */
	uint64_t native_ns, least_ns, most_ns;
	bool alone; /* one thread: the three are the same */
};

/* The view must be finished. */
void nve_native_estimate(const struct nve_view *view, struct nve_native *native);

#endif
