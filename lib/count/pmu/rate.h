/*
 * What a stall event counts in a millisecond of nothing but misses: its clock, its cycles a
 * nanosecond, and the part of a miss's latency that it sees (some begin to count only once the
 * miss is known). With it a pointer chase has a stall share of one, whatever the event. It is also
 * the proof that the event counts at all: in virtual machines some open, and stay at zero.
 */
#ifndef NVE_COUNT_PMU_RATE_H
#define NVE_COUNT_PMU_RATE_H

#include <stdint.h>

#include "count/pmu/pmu.h"

/* A stall event that counts slower than this in a chase does not see its misses: a fifth of the
 * time at 1 GHz. Faster than that: it counts something else. Both per millisecond. */
enum { NVE_PMU_RATE_MIN = 200000, NVE_PMU_RATE_MAX = 8000000 };

/*
 * Walks a list of cache misses under the counters of each set of the plan, on a core of its kind;
 * some 100 ms. counts_per_ms: as nve_pmu_config has them. Returns 0; -ERANGE where a set counted
 * too little or too much (*counts_per_ms tells what); or -errno.
 */
int nve_pmu_rate_measure(const struct nve_perf *perf, const struct nve_pmu_plan *plan,
			 const struct nve_pmu_weights *weights,
			 uint64_t counts_per_ms[NVE_PMU_KINDS]);

/* Is that a rate at which a stall event can count misses? Pure. */
int nve_pmu_rate_check(uint64_t counts_per_ms);

#endif
