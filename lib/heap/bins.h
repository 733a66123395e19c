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

enum {
	NVE_BINS = 256,
	NVE_BINS_BLOCKS = 63,
	NVE_BINS_BYTES = 512,    /* the largest blocks that are kept */
	NVE_BINS_SITE_STEP = 37, /* more than there are sizes: sites after each other do not meet */
};

struct nve_bin {
	uint32_t key;
	uint32_t count;
	struct {
		void *block;
		_Atomic uint64_t *where; /* its tag stands */
		uint64_t tag;
	} kept[NVE_BINS_BLOCKS];
};

/* Of a site and a size in units of 16 bytes. */
static inline uint32_t nve_bins_key(uint32_t site, uint32_t units)
{
	return site << 6 | units;
}

static inline struct nve_bin *nve_bins_of(struct nve_bin *bins, uint32_t site, uint32_t units)
{
	return &bins[(site * NVE_BINS_SITE_STEP + units) % NVE_BINS];
}

/* May one more be kept? */
static inline bool nve_bins_takes(const struct nve_bin *bin, uint32_t key)
{
	return !bin->count || (bin->key == key && bin->count < NVE_BINS_BLOCKS);
}

/* The block's tag is not live from now on. */
static inline void nve_bins_put(struct nve_bin *bin, uint32_t key, void *block,
				_Atomic uint64_t *where, uint64_t tag)
{
	bin->key = key;
	bin->kept[bin->count].block = block;
	bin->kept[bin->count].where = where;
	bin->kept[bin->count].tag = tag;
	bin->count++;
}

/* The block's tag is live again. */
static inline void *nve_bins_get(struct nve_bin *bin)
{
	uint32_t last = --bin->count;

	atomic_store_explicit(bin->kept[last].where, bin->kept[last].tag, memory_order_relaxed);
	return bin->kept[last].block;
}

#endif
