/*
 * How much shorter a thread's time would be without its misses, in parts of the time for which
 * lines from beyond the second-level cache hold up retirement. Below 1 where work that runs in
 * their shadow would then take that time itself: labels alone do not tell. From the core model
 * (core.h), over windows, fading. Misses and lines of the last-level cache are taken away together,
 * and what that gains is theirs in proportion to the waits for each, as equation 3 has it: one or
 * the other alone would leave the rest to be waited for in full.
 *
 * Pure; one thread's.
 */
#ifndef NVE_AHEAD_EXPOSED_H
#define NVE_AHEAD_EXPOSED_H

#include "count/ahead/window.h"

/* Sums, core cycles; zeroed: nothing is known. */
struct nve_exposed {
	double held, gained;
};

void nve_exposed_window(struct nve_exposed *e, const struct nve_window_result *r);

/* 0 to 1; 1 while nothing is known. */
double nve_exposed(const struct nve_exposed *e);

#endif
