/*
 * The hardware-counter provider: stall time, dirty fraction and addresses of a thread, or those of
 * them that its plan has events for, from what the kernel counts and samples for it. Each monitor
 * opens its thread's events in its own file table and reads them when it settles epochs; the
 * program's handler has nothing to do with them.
 *
 * Counters cannot tell the program from the handler in the same thread. The handler's spinning
 * touches no memory that misses; what it does miss are look-ahead's touches, which are timed one by
 * one: their sum, less what they spare the program, is taken out (nve_epoch.looked_ns).
 */
#ifndef NVE_COUNT_PMU_PMU_H
#define NVE_COUNT_PMU_PMU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "count/pmu/formula.h"
#include "count/pmu/group.h"
#include "count/pmu/loads.h"
#include "count/pmu/plan.h"
#include "count/pmu/uncore.h"
#include "count/source.h"

/* counts_per_ms: of each set's stall counts in a millisecond of nothing but misses; see rate.h. */
struct nve_pmu_config {
	const struct nve_perf *perf;
	const struct nve_pmu_plan *plan; /* kept */
	uint64_t counts_per_ms[NVE_PMU_KINDS];
	struct nve_pmu_weights weights;
	uint64_t epoch_ns;
	bool uncore; /* the dirty fraction comes from the plan's boxes */
	bool loads;  /* addresses come from the plan's sampled loads */
};

/* Sums over a thread's life. */
struct nve_pmu_sums {
	struct nve_pmu_reads reads;
	uint64_t epochs;    /* whose stall time is the counters' */
	uint64_t clamps;    /* figures that had to be forced into their range */
	uint64_t looked_ns; /* the handler's own stalls, taken out */
	uint64_t ahead_stall_ns, ahead_stall_wb_ns; /* what look-ahead said of the same epochs */
	uint64_t uncounted; /* 1: no counters were to be had for this thread, or not any longer */
	struct nve_pmu_load_sums loads; /* the thread's own */
};

/* Of one thread; starts zeroed. All but the flag and the loads belongs to its monitor. */
struct nve_pmu {
	_Atomic bool open;
	bool in_own_table;
	int tid;
	struct nve_pmu_group group[NVE_PMU_KINDS];
	struct nve_uncore_set uncore;
	unsigned unread;  /* in a row */
	uint64_t pool_ns; /* stall time counted and not yet given to an epoch */
	struct nve_pmu_loads loads;
	struct nve_pmu_sums sums;
};

/* Once per process, before the first thread; without it nothing below does anything. */
void nve_pmu_setup(const struct nve_pmu_config *config);

/* Has it been set up? And with sampled loads? */
bool nve_pmu_is_on(void);
bool nve_pmu_samples_loads(void);

/*
 * Opens the plan's groups on the calling thread and closes them again. 0; or -errno, with the role
 * of the event that was refused.
 */
int nve_pmu_probe(const struct nve_perf *perf, const struct nve_pmu_plan *plan,
		  enum nve_pmu_role *refused);

/* The same of its sampled loads, with their rings. */
int nve_pmu_probe_loads(const struct nve_perf *perf, const struct nve_pmu_plan *plan);

/*
 * Opens the thread's counters; in the monitor. in_own_table: whether its descriptors are out of the
 * program's reach. 0, or -errno: then the thread is not counted, which is logged once a process.
 */
int nve_pmu_open(struct nve_pmu *p, int tid, bool in_own_table);

/* Epochs that wait to be settled. */
struct nve_pmu_pending {
	uint64_t cpu_ns, looked_ns; /* sums */
};

/*
 * Reads the counters for the epochs that are pending. 0: nve_pmu_apply for each of them must
 * follow, in order. -EAGAIN: the counters tell nothing now; the epochs had better wait. Else the
 * counters are given up and closed: the epochs stay as they are. last: they cannot wait.
 */
int nve_pmu_read(struct nve_pmu *p, struct nve_pmu_pending pending, bool last);

/* Replaces in *epoch what the counters know better, and takes it out of *pending. */
void nve_pmu_apply(struct nve_pmu *p, struct nve_pmu_pending *pending, struct nve_epoch *epoch);

void nve_pmu_close(struct nve_pmu *p);

/* nve_pmu_loads_take() of the thread's; in its handler, or by itself without one. */
void nve_pmu_take_loads(struct nve_pmu *p, bool last);

/* The thread is no more, and neither is its monitor. */
void nve_pmu_end(struct nve_pmu *p);

/* Are the thread's epochs counted? Then its monitor alone settles them. Signal-safe. */
static inline bool nve_pmu_is_open(const struct nve_pmu *p)
{
	return atomic_load_explicit(&p->open, memory_order_relaxed);
}

/* In a forked child: the parent's thread is none of its own, nor are the keepers of socket-wide
 * events. */
void nve_pmu_forget(struct nve_pmu *p);
void nve_pmu_after_fork(void);

/* Of the process: reads of the socket-wide events, fractions above one, failures. */
void nve_pmu_uncore_counts(uint64_t *reads, uint64_t *clamps, uint64_t *failures);

#endif
