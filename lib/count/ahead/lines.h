/*
 * The cache lines that one window has touched: when first, how long that took, whether written.
 * An open-addressed table in the thread's state; starting a new window costs nothing. Not
 * thread-safe, signal-safe.
 */
#ifndef NVE_AHEAD_LINES_H
#define NVE_AHEAD_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NVE_LINES_SLOTS = 8192, NVE_LINES_MAX = 6000 };

struct nve_line {
	uint64_t id;       /* address / 64 */
	uint64_t first_ip; /* the instruction that touched it first */
	uint32_t generation;
	uint32_t first_step;   /* of that touch */
	uint32_t latency;      /* of that touch, TSC ticks less the fences; 0: not timed */
	uint32_t written_step; /* of the first write; meaningless unless written */
	bool missed;           /* the latency is memory's */
	bool timed;
	bool written;
};

struct nve_lines {
	uint32_t generation, count;
	uint16_t order[NVE_LINES_MAX]; /* slots in order of first touch */
	struct nve_line slot[NVE_LINES_SLOTS];
};

void nve_lines_clear(struct nve_lines *lines);

/* The line's entry; *fresh tells that this call made it (all zero but id). NULL when full. */
struct nve_line *nve_lines_touch(struct nve_lines *lines, uint64_t id, bool *fresh);

/* The i-th line touched, i < lines->count. */
static inline const struct nve_line *nve_lines_at(const struct nve_lines *lines, uint32_t i)
{
	return &lines->slot[lines->order[i]];
}

#endif
