#include "heap/heap.h"

#include <errno.h>

#include "base/base.h"
#include "heap/alloc.h"
#include "heap/arena_extents.h"
#include "heap/blocks.h"
#include "heap/mapped.h"
#include "heap/shard.h"
#include "heap/sites.h"

bool nve_heap_is_on(void)
{
	return nve_blocks.bytes != 0;
}

void nve_heap_set_placer(const struct nve_heap_placer *placer)
{
	nve_sites_on_new(placer->met);
	nve_arena_on_grown(placer->grown);
}

static void find_block(uint64_t addr, struct nve_heap_place *place)
{
	struct nve_blocks_block block;
	int rc = nve_blocks_find(addr, &block);

	place->arena = block.arena;
	place->kind = NVE_HEAP_LOOSE;
	if (rc)
		return;
	place->kind = NVE_HEAP_BLOCK;
	place->site = nve_blocks_site(block.tag);
	place->start = block.start;
	place->bytes = block.bytes;
}

int nve_heap_find(uint64_t addr, struct nve_heap_place *place)
{
	struct nve_range range;

	*place = (struct nve_heap_place){.kind = NVE_HEAP_NOWHERE};
	if (nve_blocks_holds(addr)) {
		find_block(addr, place);
		return 0;
	}
	if (nve_mapped_find(addr, &range))
		return -ENOENT;
	place->kind = range.kind;
	place->site = range.site;
	place->start = range.start;
	place->bytes = range.end - range.start;
	return 0;
}

void nve_heap_site_counts(uint32_t id, struct nve_heap_counts *counts)
{
	const struct nve_sites_entry *e = nve_sites_entry(id);
	struct nve_shard_sums sum;
	int64_t live, peak;

	nve_shard_sum(id, &sum);
	live = sum.live_bytes + (e ? atomic_load(&e->live_bytes) : 0);
	peak = sum.high_bytes + (e ? atomic_load(&e->live_bytes) : 0);
	peak = NVE_MAX(peak, e ? atomic_load(&e->peak_bytes) : live);
	*counts = (struct nve_heap_counts){
		.allocations = sum.allocations,
		.frees = sum.frees,
		.bytes = sum.bytes,
		.live_bytes = (uint64_t)NVE_MAX(live, (int64_t)0),
		.peak_bytes = (uint64_t)NVE_MAX(peak, (int64_t)0),
		.lifetimes = sum.lifetimes,
		.lifetime_ns = nve_alloc_ticks_to_ns(sum.lifetime_ticks),
	};
}

int nve_heap_pin(uint64_t hash)
{
	return nve_sites_pin(hash);
}
