/* Why the kernel does not let somebody count, and what mends it: for people. Pure. */
#ifndef NVE_COUNT_PMU_WHY_H
#define NVE_COUNT_PMU_WHY_H

#include <stdbool.h>

#include "count/source.h"

enum nve_pmu_scope {
	NVE_PMU_SCOPE_THREAD, /* own threads, user space only: perf_event_paranoid up to 2 */
	NVE_PMU_SCOPE_WHOLE,  /* own threads, in the kernel too: up to 1, or CAP_PERFMON */
	NVE_PMU_SCOPE_SOCKET, /* everybody's, by socket: up to 0, or CAP_PERFMON */
};

/* What is known of the machine besides the error. */
struct nve_pmu_world {
	int paranoid; /* kernel.perf_event_paranoid; -1 is its lowest level */
	bool paranoid_known;
	bool hypervisor; /* the CPU says that it is a virtual one */
};

/* What -errno of perf_event_open or read means, and what mends it. */
void nve_pmu_why(int error, enum nve_pmu_scope scope, const struct nve_pmu_world *world,
		 struct nve_reason *reason);

#endif
