/*
 * Sampled addresses: every so-manieth load that misses leaves a record with its address in a ring
 * of its thread. Its monitor makes the rings; the thread itself reads them in its handler, and
 * hands the stall time that its counters have told of to the lines found there.
 *
 * What is handed out is the counters' stall time to the nanosecond: each epoch's goes to the loads
 * that are found when its counts have come in, in proportion to their weights.
 */
#ifndef NVE_COUNT_PMU_LOADS_H
#define NVE_COUNT_PMU_LOADS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "count/miss.h"
#include "count/pmu/load_ring.h"
#include "count/pmu/perf.h"
#include "count/pmu/sampled.h"
#include "count/waits.h"

enum { NVE_PMU_LOADS_KEPT = 16 };

/* Of one thread; starts zeroed. The monitor writes open, rings and the sums counted, the thread the
 * rest; it closes what nobody can start again. */
struct nve_pmu_loads {
	_Atomic bool open;
	unsigned count;
	struct nve_pmu_load_ring ring[NVE_PMU_KINDS];
	_Atomic uint64_t counted_ns, counted_wb_ns;
	uint64_t handed_ns, handed_wb_ns;
	struct nve_pmu_load kept[NVE_PMU_LOADS_KEPT]; /* the last ones */
	unsigned kept_count, kept_at;
};

/* Who wants them; NULL: nobody. Before the first thread. */
void nve_pmu_loads_set_sink(const struct nve_miss_sink *sink);
void nve_pmu_loads_set_waits_sink(const struct nve_waits_sink *sink);

/* Does anybody? */
bool nve_pmu_loads_wanted(void);

/* Opens the count events on a thread, each with its ring. 0, or -errno: nothing is open. keep: as
 * in nve_pmu_load_ring_open. */
int nve_pmu_loads_open(struct nve_pmu_loads *l, const struct nve_perf *perf,
		       const struct nve_pmu_sampled *events, unsigned count, int tid, bool keep);
void nve_pmu_loads_close(struct nve_pmu_loads *l, const struct nve_perf *perf);

/* By the monitor: once an epoch; and when it ends, with its descriptors. */
void nve_pmu_loads_restart(struct nve_pmu_loads *l, const struct nve_perf *perf);
void nve_pmu_loads_release(struct nve_pmu_loads *l, const struct nve_perf *perf);

/*
 * Hands the stall time counted and not yet handed out to the loads in the rings. Without loads it
 * waits for the next ones. In the handler, or where the thread has none any more: then last says
 * that none will come, and what is left goes to the latest. epoch_ns: what placement measures stall
 * by.
 */
void nve_pmu_loads_take(struct nve_pmu_loads *l, const struct nve_perf *perf, uint64_t epoch_ns,
			bool last, struct nve_pmu_load_sums *sums);

#endif
