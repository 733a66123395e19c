#include "emu/region_watch.h"

#include "base/base.h"

enum { READ_AFTER_NS = 100000 }; /* reading it takes some 200 ns */

void nve_region_watch_start(struct nve_region_watch *w, uint64_t tsc, uint64_t cpu_ns)
{
	w->tsc = tsc;
	w->cpu_ns = cpu_ns;
	w->longest_ticks = 0;
}

bool nve_region_watch_is_due(const struct nve_region_watch *w, double tick_ns, uint64_t tsc)
{
	return w->tsc && tsc > w->tsc && (double)(tsc - w->tsc) * tick_ns > READ_AFTER_NS;
}

void nve_region_watch_stretch(struct nve_region_watch *w, uint32_t lane, uint64_t since,
			      uint64_t tsc)
{
	since = NVE_MAX(since, w->tsc);
	if (tsc <= since || tsc - since <= w->longest_ticks)
		return;
	w->longest_ticks = tsc - since;
	w->longest_lane = lane;
}

uint64_t nve_region_watch_lost(struct nve_region_watch *w, double tick_ns, uint64_t tsc,
			       uint64_t cpu_ns, uint32_t *lane)
{
	uint64_t lost = 0, ran;

	*lane = w->longest_lane;
	if (w->tsc && tsc > w->tsc && cpu_ns >= w->cpu_ns) {
		ran = (uint64_t)((double)(cpu_ns - w->cpu_ns) / tick_ns);
		lost = tsc - w->tsc - NVE_MIN(ran, tsc - w->tsc);
	}
	lost = NVE_MIN(lost, w->longest_ticks);
	nve_region_watch_start(w, tsc, cpu_ns);
	return lost;
}
