/*
 * The pointer chase that calibration measures with: one cycle over the lines of a large buffer, in
 * an order that no prefetcher follows. Not thread-safe. No malloc.
 */
#ifndef NVE_COUNT_CHASE_LIST_H
#define NVE_COUNT_CHASE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nve_chase_node {
	struct nve_chase_node *next;
	uint64_t pad[7];
};

enum { NVE_CHASE_LIST_NODES = 16384 };

struct nve_chase_list {
	char *map, *buffer;
	size_t map_bytes, bytes;                           /* bytes: backed by memory */
	size_t nodes;                                      /* in the cycle */
	struct nve_chase_node *node[NVE_CHASE_LIST_NODES]; /* the first of them in order */
};

/*
 * Maps the list and its buffer, of huge pages where to be had, and backs as much of it with memory
 * as fits limit_ns from start_ns (CLOCK_MONOTONIC_RAW) on: 8 to 256 MiB. NULL: no memory.
 */
struct nve_chase_list *nve_chase_list_new(uint64_t start_ns, uint64_t limit_ns);
void nve_chase_list_delete(struct nve_chase_list *list);

/* Links lines all over the first bytes of the buffer (rounded down to a power of two) into a cycle,
 * all of them or as many as twice the cache holds, then flushes them from the caches: as in a
 * program that walks more than the cache holds. */
void nve_chase_list_link(struct nve_chase_list *list, size_t bytes);

/* Walks; adds nothing but the loads between two readings of the clock. */
struct nve_chase_node *nve_chase_list_walk(struct nve_chase_node *node, uint64_t steps,
					   uint64_t *ticks);

/* Is the buffer likely backed by huge pages? */
bool nve_chase_list_huge_pages(const struct nve_chase_list *list);

/* Size of the last-level cache that this CPU can use; 0: unknown. */
uint64_t nve_chase_list_llc_bytes(void);

/* A footprint that the second level cannot hold and the last one can. */
size_t nve_chase_list_llc_footprint(const struct nve_chase_list *list, uint64_t llc_bytes);

/* The largest power of two up to n. */
static inline size_t nve_chase_list_round(size_t n)
{
	return (size_t)1 << (63 - __builtin_clzll(n));
}

#endif
