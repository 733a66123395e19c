/*
 * Did something else run on the core just before a sample?
 *
 * Samples come with the kernel's tick. Where that tick is late, because the host had taken the core
 * away or because an interrupt was at work, part of the program's lines have been pushed out, and a
 * window would meet misses that the program hardly ever has. Ticks are due at regular times, so it
 * shows how late one is. Of all samples the earliest third is undisturbed enough for windows: there
 * are more samples than windows anyway.
 *
 * Pure; one thread's. Zeroed: no tick has been seen.
 */
#ifndef NVE_AHEAD_LATENESS_H
#define NVE_AHEAD_LATENESS_H

#include <stdbool.h>
#include <stdint.h>

struct nve_lateness {
	uint64_t phase_ns; /* when ticks are due, within a tick's length */
	bool known;
	double usual_ns; /* how late a third of them are at most, followed step by step */
};

/* A sample has come at now_ns (CLOCK_MONOTONIC); ticks are tick_ns apart. Is it later than usual?
 */
bool nve_lateness_is_late(struct nve_lateness *l, uint64_t now_ns, uint64_t tick_ns);

#endif
