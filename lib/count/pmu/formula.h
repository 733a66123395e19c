/*
 * From counts to the quantities of the model: equations 3, 7, 8 and 9 of Koshiba et al. (see
 * emu/model.h) and their variants for CPUs that count other things. Pure integer arithmetic.
 */
#ifndef NVE_COUNT_PMU_FORMULA_H
#define NVE_COUNT_PMU_FORMULA_H

#include <stdbool.h>
#include <stdint.h>

#include "count/pmu/rows.h"

/* What one thread's events counted, by role; has: bit i where role i is counted at all. */
struct nve_pmu_counts {
	uint64_t role[NVE_PMU_ROLES];
	uint32_t has;
};

/* Latencies that weigh what served a load; w1, w2, w3 of the formulas. W is dram / llc. */
struct nve_pmu_weights {
	uint64_t l2_ps, llc_ps, dram_ps;
};

/* Roles without which a formula says nothing; those that make it exact. Bits as in counts. */
uint32_t nve_pmu_formula_needs(enum nve_pmu_formula formula);
uint32_t nve_pmu_formula_wants(enum nve_pmu_formula formula);

/* Does its stall event count all of a load's wait, page walk included? */
bool nve_pmu_formula_sees_walks(enum nve_pmu_formula formula);

/*
 * LLC_STALL (equation 3 or its variant), in the unit of the stall event, or ns where the formula
 * has none. A ratio of which nothing has been counted is 0. *clamps: quantities that had to be
 * forced into their range are added.
 */
uint64_t nve_pmu_formula_stall(enum nve_pmu_formula formula, const struct nve_pmu_counts *counts,
			       const struct nve_pmu_weights *weights, uint64_t *clamps);

/*
 * The dirty fraction of all misses of a socket, parts per million: what equation 9 multiplies a
 * thread's misses with, and 7 its stall time. written: lines written back; all: lines fetched,
 * prefetches included. Above one: clamped and counted; -1: nothing was fetched, so nothing is
 * known.
 */
int32_t nve_pmu_formula_dirty_ppm(uint64_t written, uint64_t all, uint64_t *clamps);

/* Equation 7: the part of a stall time on misses that cost a write-back; 8 is the rest. */
uint64_t nve_pmu_formula_stall_wb(uint64_t stall_ns, uint32_t dirty_ppm);

/* Counts of a stall event as time, where counts_per_ms of them are a millisecond of pure stall. */
uint64_t nve_pmu_formula_ns(uint64_t counts, uint64_t counts_per_ms);

#endif
