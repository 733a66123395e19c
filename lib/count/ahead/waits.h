/*
 * Tells what a window has waited for, line by line: whose memory the accesses go to that stall the
 * thread. Every wait is told; a window of usual length has some hundred.
 *
 * Pure. Signal-safe.
 */
#ifndef NVE_AHEAD_WAITS_H
#define NVE_AHEAD_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include "count/ahead/dirty.h"
#include "count/ahead/misses.h"
#include "count/ahead/window.h"
#include "count/waits.h"

/* A window that has ended. */
struct nve_waits_window {
	const struct nve_wait *wait;
	size_t count;
	const struct nve_lines *lines;
	uint32_t steps;
	double stall_share; /* of its time, 0 to 1 */
};

void nve_waits_tell(const struct nve_waits_sink *sink, const struct nve_waits_window *w,
		    struct nve_dirty_table *dirty);

/* The same of the window that has just been taken. */
void nve_waits_tell_window(const struct nve_waits_sink *sink, struct nve_window *window,
			   const struct nve_window_result *r, struct nve_dirty_table *dirty);

#endif
