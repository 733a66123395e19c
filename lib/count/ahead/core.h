/*
 * A small model of an out-of-order core: how long a stretch of instructions takes with the misses
 * that were measured, and how long without. What time samples cannot tell is how much of the work
 * would be hidden in the shadow of a miss and comes to light without it; the difference of both
 * times tells. Without: neither memory nor the last-level cache are waited for; what that gains is
 * shared by both in proportion to the waits for them.
 *
 * In-order dispatch and retirement of a few instructions a cycle, a reorder window, a store buffer,
 * data flow through registers, a number of misses that can be outstanding (measured). Which
 * branches are mispredicted the caller says. Pure; times are core cycles.
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
	bool far;      /* a line from the last-level cache */
	float latency; /* of its slowest line, cycles; below: of lines that are neither missing nor
			  far */
	float resident_latency;
	/* when a missed line arrives, as modelled, kept with the line: written by the access that
	 * misses, read by those that follow. NULL: the line is there */
	float *filled;
};

/* One course of time. */
struct nve_core_course {
	float ready[NVE_CORE_REGISTERS];
	float asked_ready[NVE_CORE_REGISTERS]; /* the same, had all branches been predicted */
	float retired[NVE_CORE_WINDOW_MAX];    /* ring: when instruction i retired */
	float freed[NVE_CORE_WINDOW_MAX];      /* ring: when writer i retired */
	float drained[NVE_CORE_STORES];        /* ring: when store i left the buffer */
	bool waits;                            /* the last access, for a line from memory */
	float refilled; /* when what follows the last mispredicted branch comes in */
	float empty;    /* for how long the last instruction had not come in, for that reason */
	float dispatched, asked, now; /* last dispatch; the same, likewise; last retirement */
	float reading[NVE_CORE_SLOTS], writing[NVE_CORE_SLOTS]; /* when each slot is free again */
};

struct nve_core {
	struct nve_core_machine machine;
	struct nve_core_course real, resident;
	uint32_t instructions, stores, writers;
	bool fuses; /* the last instruction, with a conditional branch */
	/* cycles in which the oldest instruction was one with a missing access, with a far one */
	float waited, waited_far;
};

void nve_core_start(struct nve_core *core, const struct nve_core_machine *machine);
/* mispredicted: a branch that went another way than the core went on. Returns for how long
 * retirement stood still at the instruction, cycles; core->real.waits tells whether for a line from
 * memory. Before that, for core->real.empty cycles, there was nothing to retire. */
float nve_core_step(struct nve_core *core, const struct nve_flow *flow,
		    const struct nve_core_access *access, bool mispredicted);

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
