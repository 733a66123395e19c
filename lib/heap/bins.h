/*
 * Blocks that a thread has freed and will want again: by site and size, so that a block comes back
 * to the site whose tag it has. Neither the allocator nor the shadow's geometry is asked then.
 *
 * A shard has a fixed number of bins of a few blocks. A bin belongs to the site and size that used
 * it last while it was empty; who finds it in use by others does without.
 */
#ifndef NVE_HEAP_BINS_H
#define NVE_HEAP_BINS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "heap/shadow.h"

enum {
	NVE_BINS_SHIFT = 8,
	NVE_BINS = 1 << NVE_BINS_SHIFT,
	NVE_BINS_BLOCKS = 63,
	NVE_BINS_BYTES = 512, /* the largest blocks that are kept */
};

struct nve_shard_counts;

struct nve_bin {
	struct nve_shard_counts *counts; /* of the key's site */
	uint32_t key;
	uint32_t count;
	struct {
		void *block;
		_Atomic uint64_t *where; /* its tag stands; not live meanwhile */
	} kept[NVE_BINS_BLOCKS];
};

_Static_assert(sizeof(struct nve_bin) == 1024, "found by a shift");

/* Of a site and a size in units of 16 bytes. */
static inline uint32_t nve_bins_key(uint32_t site, uint32_t units)
{
	return site << 6 | units;
}

/* Multiples of the golden ratio: keys next to each other lie apart (Knuth, TAOCP 3, 6.4). */
static inline struct nve_bin *nve_bins_of(struct nve_bin *bins, uint32_t key)
{
	return &bins[key * 0x9e3779b1u >> (32 - NVE_BINS_SHIFT)];
}

/* May one more be kept? */
static inline bool nve_bins_takes(const struct nve_bin *bin, uint32_t key)
{
	return bin->key == key && bin->count < NVE_BINS_BLOCKS;
}

/* The block's tag is not live from now on. */
static inline void nve_bins_put(struct nve_bin *bin, void *block, _Atomic uint64_t *where,
				uint64_t tag)
{
	bin->kept[bin->count].block = block;
	bin->kept[bin->count].where = where;
	bin->count++;
	atomic_store_explicit(where, tag & ~NVE_BLOCKS_LIVE, memory_order_relaxed);
}

static inline bool nve_bins_has(const struct nve_bin *bin, uint32_t key)
{
	return bin->key == key && bin->count;
}

/* tag: what its tag gets besides: that it is live, at least. */
static inline void *nve_bins_get(struct nve_bin *bin, uint64_t tag)
{
	uint32_t last = --bin->count;
	_Atomic uint64_t *where = bin->kept[last].where;
	uint64_t old = atomic_load_explicit(where, memory_order_relaxed);

	atomic_store_explicit(where, old | tag, memory_order_relaxed);
	return bin->kept[last].block;
}

#endif
