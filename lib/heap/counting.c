#include "heap/counting.h"

void nve_counting_publish(struct nve_shard *s, struct nve_shard_counts *c, uint32_t site)
{
	struct nve_sites_entry *e = nve_sites_entry(site);
	int64_t held = nve_counting_held(c), more = held - c->published_bytes;
	int64_t live, peak, high = c->high_bytes - c->published_bytes;

	c->published_bytes = c->high_bytes = held;
	if (!e)
		return;
	live = atomic_fetch_add(&e->live_bytes, more);
	peak = atomic_load(&e->peak_bytes);
	while (peak < live + high &&
	       !atomic_compare_exchange_weak(&e->peak_bytes, &peak, live + high))
		;
	nve_shard_settle(s, c, e, site);
}
