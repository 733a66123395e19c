/*
 * Decides at the start where each quantity comes from, and why not from a better source.
 */
#ifndef NVE_COUNTERS_H
#define NVE_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "count/calibration.h"
#include "count/calstore.h"
#include "count/miss.h"
#include "count/pmu/encode.h"
#include "count/source.h"
#include "count/waits.h"

/* What there is to decide by. */
struct nve_counters_world {
	const struct nve_options *options;
	struct nve_calstore *store;
	uint64_t dram_lat_ps, llc_lat_ps; /* in force */
	const char *no_ahead;             /* why there is no look-ahead here; NULL: there is */
	/* loads libpfm4 where NVM_PMU_EVENTS needs it; NULL: there is none */
	const struct nve_pfm *(*load_pfm)(void);
};

/*
 * Before calibration: can there be a source of stall time at all? Opens events where counters are a
 * must, and closes them. Needs no latencies. Returns 0, or as nve_counters_start.
 */
int nve_counters_check(const struct nve_counters_world *world, char *why, size_t size);

/*
 * Sets hardware counters up where the options ask for them or leave the choice, and tells of all
 * quantities. *calibration gets the events' rates, which are kept in the store. Returns 0; -EINVAL
 * where NVM_PMU_EVENTS is wrong; or -ENODEV where nothing counts, or not what the options want;
 * both with the reason in why. Uses the calling thread for up to 200 ms, the first time.
 */
int nve_counters_start(const struct nve_counters_world *world, struct nve_calibration *calibration,
		       struct nve_sources *sources, char *why, size_t size);

/* Who wants to know which lines the stall time stands for (count/miss.h, count/waits.h): they are
 * told by sampled loads, or else by look-ahead. After nve_counters_start, before the first thread.
 */
void nve_counters_set_miss_sink(const struct nve_miss_sink *sink);
void nve_counters_set_waits_sink(const struct nve_waits_sink *sink);

/* Where all comes from one source, a replay, or from none; addresses then do not come. */
void nve_counters_tell_all(struct nve_sources *sources, const char *name);

/* What a report says of the events: the row's name, or an empty text where none counts stall time.
 */
const char *nve_counters_events(void);

#endif
