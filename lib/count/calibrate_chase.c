/* Calibration where there is no look-ahead: the chase alone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/clock.h"
#include "count/calibrate.h"
#include "count/chase_list.h"

/* Long turns, since the counter may be a coarse one: 50 ticks at the very least. */
enum { STEPS = 512, TURNS_MAX = 4096, LLC_TURNS = 256 };

static uint64_t now_ns(void)
{
	return nve_clock_ns(CLOCK_MONOTONIC_RAW);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Mean ticks of a step, over the turns without interruption: those near the median. */
static double mean_step(uint64_t *ticks, size_t turns)
{
	uint64_t sum = 0;
	size_t n = 0;

	qsort(ticks, turns, sizeof(*ticks), by_size);
	while (n < turns && ticks[n] <= ticks[turns / 2] * 3 / 2)
		sum += ticks[n++];
	return (double)sum / (double)n / STEPS;
}

static double dram_step(struct nve_chase_list *list, uint64_t *ticks, uint64_t deadline_ns)
{
	struct nve_chase_node *at;
	size_t most, turns = 0;

	nve_chase_list_link(list, list->bytes);
	most = NVE_MIN((size_t)TURNS_MAX, list->nodes / STEPS);
	at = list->node[0];
	do {
		at = nve_chase_list_walk(at, STEPS, &ticks[turns++]);
	} while (turns < most && now_ns() < deadline_ns);
	return mean_step(ticks, turns);
}

static double llc_step(struct nve_chase_list *list, uint64_t *ticks, uint64_t llc_bytes)
{
	struct nve_chase_node *at;

	nve_chase_list_link(list, nve_chase_list_llc_footprint(list, llc_bytes));
	at = nve_chase_list_walk(list->node[0], 2 * list->nodes, &ticks[0]);
	for (size_t turn = 0; turn < LLC_TURNS; turn++)
		at = nve_chase_list_walk(at, STEPS, &ticks[turn]);
	return mean_step(ticks, LLC_TURNS);
}

int nve_calibrate(struct nve_calibration *c, uint64_t limit_ns)
{
	static uint64_t ticks[TURNS_MAX];
	uint64_t start_ns = now_ns(), start_tsc = nve_tsc();
	struct nve_chase_list *list = nve_chase_list_new(start_ns, limit_ns);
	const char *field;
	double dram, llc;

	if (!list)
		return -ENOMEM;
	memset(c, 0, sizeof(*c));
	c->llc_bytes = nve_chase_list_llc_bytes();
	c->footprint_bytes = nve_chase_list_round(list->bytes);
	c->huge_pages = nve_chase_list_huge_pages(list);
	dram = dram_step(list, ticks, start_ns + limit_ns * 90 / 100);
	llc = llc_step(list, ticks, c->llc_bytes);
	c->tsc_khz =
		(uint64_t)((double)(nve_tsc() - start_tsc) * 1e6 / (double)(now_ns() - start_ns) +
			   0.5);
	c->dram_lat_ps = (uint32_t)(dram * 1e9 / (double)c->tsc_khz);
	c->llc_lat_ps = (uint32_t)(llc * 1e9 / (double)c->tsc_khz);
	c->measured_at_s = (uint64_t)time(NULL);
	nve_chase_list_delete(list);
	return nve_calibration_check(c, &field);
}
