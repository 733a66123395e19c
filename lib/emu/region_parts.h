/*
 * An epoch that has been in several regions, cut into parts: one for each lane (emu/regions.h) that
 * it was in. Pure.
 */
#ifndef NVE_EMU_REGION_PARTS_H
#define NVE_EMU_REGION_PARTS_H

#include <stdint.h>

#include "count/source.h"

enum { NVE_REGION_PARTS = 24 }; /* of an epoch, at most */

/* A lane's part of an epoch: relative weights. */
struct nve_region_part {
	uint32_t lane;
	double time, ro, wb; /* of CPU time, and of stall time of either kind */
	/* of bytes moved, and of the delay that bandwidth asks for */
	double read, written, bandwidth;
	uint64_t foreseen_ns; /* delay, as its samples have it, or its traffic */
};

/*
 * Fits the weights of an epoch's parts to its stall time, of either kind: who counts may know that
 * better than samples do. Stall time is shared out as the weights have it; so that as much of it is
 * written as the epoch says, the odds of all parts' dirty fractions are multiplied by one factor.
 */
void nve_region_parts_fit(const struct nve_epoch *whole, struct nve_region_part *parts,
			  uint32_t count);

/* Part i of count of an epoch, fitted: sums of all parts are the whole, to the nanosecond. */
void nve_region_parts_take(const struct nve_epoch *whole, const struct nve_region_part *parts,
			   uint32_t count, uint32_t i, struct nve_epoch *part);

#endif
