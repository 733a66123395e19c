/*
 * Which of a window's new lines the program must fetch from memory, or write back to it.
 *
 * Lines whose timed touch missed did come from there. But prefetchers run ahead of a stream: all of
 * its lines may be in the cache when they are touched. So lines that one instruction touches at
 * even distances are taken together, and lines some KiB further on, beyond what a prefetcher has
 * fetched, tell where the stream comes from.
 *
 * Pure.
 */
#ifndef NVE_AHEAD_REACH_H
#define NVE_AHEAD_REACH_H

#include <stdbool.h>
#include <stdint.h>

#include "count/ahead/lines.h"
#include "count/ahead/stream.h"

enum nve_reach_line { NVE_REACH_UNKNOWN, NVE_REACH_CACHED, NVE_REACH_MISSED };

/* The world beyond the window: reads a line, by its id, and tells where it came from; not at all
 * where it may not be read. random: any number; it decides where probes go. */
struct nve_reach_world {
	enum nve_reach_line (*probe)(void *ctx, uint64_t id);
	/* Does what is moved there count? NULL: everywhere. */
	bool (*counts)(uint64_t addr);
	void *ctx;
	uint64_t random;
};

/* A line of a stream that nothing of its loop has been to yet, where its instruction accesses addr.
 * random: any number; it decides which. */
uint64_t nve_reach_ahead(const struct nve_stream_head *head, uint64_t addr, uint64_t random);

/* Counts lines first touched from first_step on and before last_step. Signal-safe. */
void nve_reach_count(const struct nve_lines *lines, uint32_t first_step, uint32_t last_step,
		     const struct nve_reach_world *world, struct nve_stream_lines *out);

#endif
