/*
 * The stream of misses: which lines the stall time of a thread stands for. What heat and placement
 * are made of.
 *
 * Every sample with stall time passes it on, spread over lines that the sampled instruction has
 * waited for lately. What no line explains is left out: the thread's stall time less the sum of
 * stall_ns is unattributed.
 */
#ifndef NVE_COUNT_MISS_H
#define NVE_COUNT_MISS_H

#include <stddef.h>
#include <stdint.h>

struct nve_miss {
	uint64_t addr;     /* of the line: a multiple of its size */
	uint64_t ip;       /* of the instruction that missed it */
	uint64_t place;    /* what the sink's locate() said of it when it was seen */
	uint64_t stall_ns; /* stall time of the program that it stands for */
	float dirty;       /* probability that the line gets written before it is evicted, 0 to 1 */
};

/* Both are called in the handler, on the thread whose misses they are, outside the fault guard:
 * signal-safe, no lock that may be held by what was interrupted. */
struct nve_miss_sink {
	/* A window or a sample has seen the program stand still for this line: whose is it? Asked
	 * then, since the memory may be another's by the time that stall falls to the line. 0:
	 * nobody's that is known. NULL: place is 0. */
	uint64_t (*locate)(uint64_t addr);
	void (*take)(const struct nve_miss *misses, size_t count);
};

#endif
