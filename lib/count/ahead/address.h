/* Addresses by registers alone: nothing is interpreted. */
#ifndef NVE_AHEAD_ADDRESS_H
#define NVE_AHEAD_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "count/ahead/interp.h"

/*
 * The address that the memory operand of the instruction at ip has with these registers. 0;
 * -ENOENT: it has none that these alone tell (of a push, a gather, one in a segment of its own), or
 * the code cannot be read. Not during a run. Signal-safe.
 */
int nve_interp_address(struct nve_interp *in, const struct nve_interp_world *world,
		       const uint64_t gpr[16], uint64_t ip, uint64_t *addr);

/* The same of a string instruction, of the place that it writes to or of the one that it reads. */
int nve_interp_string_address(struct nve_interp *in, const struct nve_interp_world *world,
			      const uint64_t gpr[16], uint64_t ip, bool writes, uint64_t *addr);

#endif
