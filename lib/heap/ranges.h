/*
 * Memory that is no block of ours, by whose it is: sorted, disjoint ranges. Two tables: what the
 * program has mapped (mapped.h), by site; and a snapshot of the process's mappings, which tells
 * stacks, modules' data, the break and the rest.
 *
 * Readers take no lock and are signal-safe: one that meets a change has no answer. Writers take the
 * table's lock; while a snapshot is made, those of sites and modules after it.
 */
#ifndef NVE_HEAP_RANGES_H
#define NVE_HEAP_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap/heap.h"
#include "heap/lock.h"

enum { NVE_RANGES_MAX = 65536 };

struct nve_range {
	uint64_t start, end; /* addresses */
	uint32_t site;
	enum nve_heap_kind kind;
};

struct nve_ranges {
	struct nve_lock lock;
	_Atomic uint32_t changes; /* odd while one is made */
	_Atomic uint32_t count;
	struct nve_range *range; /* NVE_RANGES_MAX, mapped at setup */
};

/* 0 or -ENOMEM. */
int nve_ranges_setup(struct nve_ranges *r);

/* 0 with *found; -ENOENT: in none of them, or not to be told now. */
int nve_ranges_find(const struct nve_ranges *r, uint64_t addr, struct nve_range *found);

/* The i-th of them. 0; -ENOENT: there are not so many, or it is not to be told now. */
int nve_ranges_at(const struct nve_ranges *r, uint32_t i, struct nve_range *found);

/* Takes what lies between start and end out of all ranges; one that goes beyond at both sides
 * becomes two. taken is called for each piece, under the lock; NULL: nobody wants to know. */
void nve_ranges_cut(struct nve_ranges *r, uint64_t start, uint64_t end,
		    void (*taken)(const struct nve_range *piece));

/* The range takes the place of what was there. -ENOSPC: the table is full. */
int nve_ranges_put(struct nve_ranges *r, const struct nve_range *range);

/* For a snapshot: the table is emptied, and gets ranges in ascending order. */
void nve_ranges_begin(struct nve_ranges *r);
void nve_ranges_append(struct nve_ranges *r, const struct nve_range *range);
void nve_ranges_end(struct nve_ranges *r);

/* A line of /proc/PID/maps: what its range is, without site. *path points into line, at its end
 * where there is none. Pure. */
bool nve_ranges_parse(const char *line, struct nve_range *range, const char **path);

#endif
