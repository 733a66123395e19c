/*
 * The cache lines that one window has touched: when first, how long that took, whether written.
 *
 * A dense array in order of first touch, with a small hash index: a handler starts with all of its
 * own data out of the cache, so every line of ours that a window needs costs a miss. Starting a new
 * window costs nothing. Not thread-safe, signal-safe.
 */
#ifndef NVE_AHEAD_LINES_H
#define NVE_AHEAD_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NVE_LINES_INDEX = 8192, NVE_LINES_MAX = 6000 };

struct nve_line {
	uint64_t id;           /* address / 64 */
	uint64_t first_ip;     /* the instruction that touched it first */
	uint32_t first_step;   /* of that touch */
	uint32_t latency;      /* of that touch, TSC ticks less the fences; 0: not timed */
	uint32_t written_step; /* of the first write; meaningless unless written */
	float filled;          /* core model: when the missed line arrives */
	bool missed;           /* the latency is memory's */
	bool beside; /* it was there, and the other line of its pair had been missed before */
	bool alone;  /* it was there, and nothing had touched the other one */
	bool written;
	bool streaming; /* the first touch was a store past the caches */
	bool unfetched; /* its first touch was a store that does not fetch the line */
};

struct nve_lines {
	uint32_t count, max;
	uint16_t generation;
	uint32_t mask; /* of the part of the index in use */
	struct nve_lines_index {
		uint16_t generation, at;
	} index[NVE_LINES_INDEX];
	struct nve_line line[NVE_LINES_MAX];
};

/* expect: how many lines the window may touch about; more than NVE_LINES_MAX cannot be held. */
void nve_lines_clear(struct nve_lines *lines, uint32_t expect);

/* The line's entry; *fresh tells that this call made it (all zero but id). NULL when full. */
struct nve_line *nve_lines_touch(struct nve_lines *lines, uint64_t id, bool *fresh);

/* The line's entry; NULL where the window has not touched it. */
const struct nve_line *nve_lines_find(const struct nve_lines *lines, uint64_t id);

#endif
