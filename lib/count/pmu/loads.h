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
#include "count/pmu/perf.h"
#include "count/pmu/ring.h"
#include "count/pmu/sampled.h"
#include "count/waits.h"

enum { NVE_PMU_LOADS_KEPT = 16 };

/* Over a thread's life. */
struct nve_pmu_load_sums {
	uint64_t taken;     /* loads with an address in memory's */
	uint64_t elsewhere; /* without an address, or that a cache served */
	uint64_t lost;      /* the ring was full */
	uint64_t throttled; /* times that the kernel has held the event back */
	uint64_t damaged;   /* ends of what could be read */
	uint64_t refused;   /* 1: no ring was to be had for this thread */
};

struct nve_pmu_load {
	uint64_t ip, addr, weight;
};

/* Of one thread; starts zeroed. The monitor writes open, rings and the sums counted, the thread the
 * rest. */
struct nve_pmu_loads {
	_Atomic bool open;
	unsigned count;
	struct nve_pmu_ring ring[NVE_PMU_KINDS];
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

/* Opens the count events on a thread, each with its ring. A ring keeps its event: no descriptor is
 * left open. 0, or -errno: nothing is open; -ENOLCK: no more memory may be locked for rings. */
int nve_pmu_loads_open(struct nve_pmu_loads *l, const struct nve_perf *perf,
		       const struct nve_pmu_sampled *events, unsigned count, int tid);
void nve_pmu_loads_close(struct nve_pmu_loads *l, const struct nve_perf *perf);

/*
 * Hands the stall time counted and not yet handed out to the loads in the rings. Without loads it
 * waits for the next ones. In the handler, or where the thread has none any more: then last says
 * that none will come, and what is left goes to the latest. epoch_ns: what placement measures stall
 * by.
 */
void nve_pmu_loads_take(struct nve_pmu_loads *l, uint64_t epoch_ns, bool last,
			struct nve_pmu_load_sums *sums);

#endif
