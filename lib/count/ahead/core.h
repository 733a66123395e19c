/*
 * A small model of an out-of-order core: how long a stretch of instructions takes with the misses
 * that were measured, and how long without. What time samples cannot tell is how much of the work
 * would be hidden in the shadow of a miss and comes to light without it; the difference of both
 * times tells.
 *
 * In-order dispatch and retirement of a few instructions a cycle, a reorder window, a store buffer,
 * data flow through registers, a number of misses that can be outstanding (measured). Branches are
 * predicted. Pure; times are core cycles.
 */
#ifndef NVE_AHEAD_CORE_H
#define NVE_AHEAD_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "count/ahead/interp.h"

enum {
	NVE_CORE_REGISTERS = 57,
	NVE_CORE_WINDOW_MAX = 1024,
	NVE_CORE_STORES = 64,
	NVE_CORE_SLOTS = 64
};

/* Of the machine. */
struct nve_core_machine {
	float cycle_ticks;                /* TSC ticks of a core cycle */
	uint32_t read_slots, write_slots; /* misses of loads and of stores outstanding at most */
	uint32_t window;                  /* instructions in the reorder window */
	uint32_t writers;                 /* of them those that write a general register */
};

/* What one instruction does to memory, all accesses together. */
struct nve_core_access {
	bool loads, stores, missing;
	float latency; /* of its slowest line, cycles; the same without misses below */
	float resident_latency;
	/* when a missed line arrives, as modelled, kept with the line: written by the access that
	 * misses, read by those that follow. NULL: the line is there */
	float *filled;
};

/* One course of time. */
struct nve_core_course {
	float ready[NVE_CORE_REGISTERS];
	float retired[NVE_CORE_WINDOW_MAX]; /* ring: when instruction i retired */
	float freed[NVE_CORE_WINDOW_MAX];   /* ring: when writer i retired */
	float drained[NVE_CORE_STORES];     /* ring: when store i left the buffer */
	bool waits;                         /* the last access, for a line from memory */
	float dispatched, now;              /* last dispatch, last retirement */
	float reading[NVE_CORE_SLOTS], writing[NVE_CORE_SLOTS]; /* when each slot is free again */
};

struct nve_core {
	struct nve_core_machine machine;
	struct nve_core_course real, resident;
	uint32_t instructions, stores, writers;
	float waited; /* cycles in which the oldest instruction was one with a missing access */
};

void nve_core_start(struct nve_core *core, const struct nve_core_machine *machine);
/* Returns for how long retirement stood still at the instruction, cycles; core->real.waits tells
 * whether for a line from memory. */
float nve_core_step(struct nve_core *core, const struct nve_flow *flow,
		    const struct nve_core_access *access);

/* Cycles so far, with misses and without. */
static inline float nve_core_real(const struct nve_core *core)
{
	return core->real.now;
}
static inline float nve_core_resident(const struct nve_core *core)
{
	return core->resident.now;
}

#endif
