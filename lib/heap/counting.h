/*
 * What is counted of a site in a shard, which is busy. Live bytes become the site's in portions.
 */
#ifndef NVE_HEAP_COUNTING_H
#define NVE_HEAP_COUNTING_H

#include <stdint.h>

#include "base/base.h"
#include "base/clock.h"
#include "heap/shard.h"

enum {
	NVE_COUNTING_PUBLISH = 64 << 10,
	NVE_COUNTING_BIRTH_SHIFT = 12, /* ticks of a birth: microseconds or so */
};

/* Adds what the shard has on its own to the site's total, which is compared with its peak. */
void nve_counting_publish(struct nve_shard *s, struct nve_shard_counts *c, uint32_t site);

static inline int64_t nve_counting_held(const struct nve_shard_counts *c)
{
	return (int64_t)(c->bytes - c->freed_bytes);
}

static inline void nve_counting_taken(struct nve_shard *s, struct nve_shard_counts *c,
				      uint32_t site, uint64_t bytes)
{
	int64_t held;

	c->allocations++;
	c->bytes += bytes;
	held = nve_counting_held(c);
	if (held <= c->high_bytes)
		return;
	c->high_bytes = held;
	if (nve_unlikely(held - c->published_bytes > NVE_COUNTING_PUBLISH))
		nve_counting_publish(s, c, site);
}

static inline void nve_counting_given(struct nve_shard *s, struct nve_shard_counts *c, uint64_t tag,
				      uint64_t bytes)
{
	c->frees++;
	c->freed_bytes += bytes;
	if (nve_unlikely(c->published_bytes - nve_counting_held(c) > NVE_COUNTING_PUBLISH))
		nve_counting_publish(s, c, nve_blocks_site(tag));
	if (nve_unlikely(tag & NVE_BLOCKS_TIMED)) {
		uint64_t age =
			(nve_tsc() >> NVE_COUNTING_BIRTH_SHIFT) - (tag >> NVE_BLOCKS_BIRTH_SHIFT);

		c->lifetimes++;
		c->lifetime_ticks += (age << NVE_BLOCKS_BIRTH_SHIFT >> NVE_BLOCKS_BIRTH_SHIFT)
				     << NVE_COUNTING_BIRTH_SHIFT;
	}
}

#endif
