/*
 * Who wants to know what the windows of look-ahead have waited for: placement. Both are called in
 * the handler, on the thread whose window it was, outside the fault guard: signal-safe, no lock
 * that may be held by what was interrupted.
 */
#ifndef NVE_COUNT_WAITS_H
#define NVE_COUNT_WAITS_H

#include <stdint.h>

struct nve_waits_sink {
	/* A line that the window has waited for, as modelled. accesses: for how long, over the
	 * line's latency, in a unit of the window's own; dirty: probability that the line gets
	 * written before it is evicted, 0 to 1. */
	void (*wait)(uint64_t addr, double accesses, double dirty);
	/* That was all; the share of the window's time that was stall, 0 to 1. */
	void (*end_window)(double stall_share);
};

#endif
