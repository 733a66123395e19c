/*
 * What one thread needs to allocate without asking others: counters of sites, the call paths that
 * it came by last, its arena, and its caches of sites' arenas. When the thread ends, its shard
 * waits for another one; the counts stay, for sums over all shards.
 *
 * A shard is used by its thread alone, while busy is set; a signal handler that finds it busy keeps
 * out. Others read counters, as they are.
 */
#ifndef NVE_HEAP_SHARD_H
#define NVE_HEAP_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap/arena.h"
#include "heap/bins.h"
#include "heap/heap.h"
#include "heap/sites.h"

enum {
	NVE_SHARD_PATHS = 1024,
	NVE_SHARD_PATH_QUICK = 3, /* made of small blocks of most paths; the last may be repeated */
	NVE_SHARD_PATH_DEPTH = 17, /* deeper paths are unwound each time */
	NVE_SHARD_DEFERRED = 128,
};

struct nve_shard_counts {
	uint64_t allocations, frees, bytes, freed_bytes;
	/* bytes less freed bytes: how much was, when it was published, and the most since */
	int64_t published_bytes, high_bytes;
	uint64_t lifetime_ticks;
	uint32_t lifetimes;
	int flags; /* of the site's arena; 0: the thread's is used */
} __attribute__((aligned(64)));

/* Of all shards. Bytes: not yet published, and the most that this was. */
struct nve_shard_sums {
	uint64_t allocations, frees, bytes, lifetimes, lifetime_ticks;
	int64_t live_bytes, high_bytes;
};

/* A call path: where on the stack its return addresses stand, and what they were. It is the same
 * again when caller and frame are, and all of these. */
struct nve_shard_path {
	uint64_t caller, frame; /* frame: the caller's stack pointer at the call */
	uint32_t site;
	uint16_t checks;
	bool quick;     /* enough addresses, and not ambiguous: */
	bool ambiguous; /* caller and frame have been seen with other return addresses as well */
	uint16_t slot[NVE_SHARD_PATH_DEPTH - 1]; /* in words above frame */
	uint64_t address[NVE_SHARD_PATH_DEPTH - 1];
} __attribute__((aligned(64)));

struct nve_shard {
	volatile bool busy;
	bool in_loader; /* the thread may hold the loader's locks */
	uint32_t tick;  /* allocations until the next one that is looked at closely */
	uint32_t random;
	uint32_t generation; /* of the paths; looked at now and then */
	uint32_t arena;
	uint64_t stack_low, stack_high; /* of the thread */
	struct nve_shard *next;         /* of all */
	struct nve_shard *next_free;
	struct nve_shard_counts *_Atomic chunk[NVE_SITES_MAX / NVE_SITES_CHUNK];
	struct nve_shard_counts nowhere; /* where there is no memory for counters */
	struct nve_heap_tally tally;
	uint32_t deferred; /* blocks that handlers freed while it was busy */
	void *deferred_block[NVE_SHARD_DEFERRED];
	int arena_flags[NVE_ARENA_MAX]; /* with a cache of this thread; 0: none yet */
	struct nve_shard_path path[NVE_SHARD_PATHS];
	struct nve_bin bin[NVE_BINS];
};

extern __thread struct nve_shard *nve_shard_self;

int nve_shard_setup(void);

/* The calling thread's, made if need be, and busy; NULL: it has one that is busy, it is ending, or
 * there is no memory. */
struct nve_shard *nve_shard_take(void);

/* One for a moment, for a thread that is ending; give it back by nve_shard_return(). NULL: no
 * memory. */
struct nve_shard *nve_shard_borrow(void);
void nve_shard_return(struct nve_shard *s);

/* Counters of a site; always some. */
struct nve_shard_counts *nve_shard_counts_slowly(struct nve_shard *s, uint32_t site);

static inline struct nve_shard_counts *nve_shard_counts(struct nve_shard *s, uint32_t site)
{
	struct nve_shard_counts *chunk =
		atomic_load_explicit(&s->chunk[site / NVE_SITES_CHUNK], memory_order_relaxed);

	return nve_likely(chunk != NULL) ? chunk + site % NVE_SITES_CHUNK
					 : nve_shard_counts_slowly(s, site);
}

/* A site that has become big gets its arena, and the shard hears of it. */
void nve_shard_settle(struct nve_shard *s, struct nve_shard_counts *c, struct nve_sites_entry *e,
		      uint32_t site);

/* Around a fork. */
void nve_shard_before_fork(void);
void nve_shard_after_fork(bool child);

/* Is addr on the stack of a thread that has allocated? Signal-safe. */
bool nve_shard_is_stack(uint64_t addr, uint64_t *start, uint64_t *end);

void nve_shard_sum(uint32_t site, struct nve_shard_sums *sums);

#endif
