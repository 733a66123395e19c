/*
 * Where a thread was when it slept or lost its core: the time-stamp counter, by which its regions'
 * times are taken, goes on then, and the thread's CPU clock does not. Markers read that clock when
 * it was not read for a while, so what is missing was lost in the longest stretch since then, which
 * alone is as long as a thread without a core is kept waiting. Pure.
 *
 * All of it belongs to the thread and its handler.
 */
#ifndef NVE_EMU_REGION_WATCH_H
#define NVE_EMU_REGION_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct nve_region_watch {
	uint64_t tsc, cpu_ns; /* when the CPU clock was read; tsc 0: never */
	uint64_t longest_ticks;
	uint32_t longest_lane;
	uint64_t reads; /* by markers */
};

/* The clock shows cpu_ns now. What was before is nobody's. */
void nve_region_watch_start(struct nve_region_watch *w, uint64_t tsc, uint64_t cpu_ns);

/* Was it read so long ago that it should be read now? */
bool nve_region_watch_is_due(const struct nve_region_watch *w, double tick_ns, uint64_t tsc);

/* A lane (emu/regions.h) has run from since to tsc. */
void nve_region_watch_stretch(struct nve_region_watch *w, uint32_t lane, uint64_t since,
			      uint64_t tsc);

/* The clock shows cpu_ns now: ticks in which the thread did not run, of *lane. Starts anew. */
uint64_t nve_region_watch_lost(struct nve_region_watch *w, double tick_ns, uint64_t tsc,
			       uint64_t cpu_ns, uint32_t *lane);

#endif
