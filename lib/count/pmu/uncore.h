/*
 * Socket-wide events, for the dirty fraction: one set of them per process, whoever reads. A set is
 * read at most once an epoch, whatever the number of threads, and the fraction that it gave is
 * everybody's until the next.
 *
 * Descriptors are in the file table of one thread, and monitors have tables of their own: so the
 * set has a keeper, the monitor that opened it. When its thread sleeps, another becomes the keeper
 * and opens a set of its own; the old one closes its set as soon as it sees that.
 */
#ifndef NVE_COUNT_PMU_UNCORE_H
#define NVE_COUNT_PMU_UNCORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "count/pmu/perf.h"
#include "count/pmu/plan.h"

/* The process's fraction, and who keeps the set. Starts zeroed. */
struct nve_uncore {
	const struct nve_perf *perf;
	const struct nve_pmu_plan *plan;
	uint64_t epoch_ns;
	_Atomic uint64_t keeper;  /* number of the set in charge; 0: none */
	_Atomic uint64_t keepers; /* so far */
	_Atomic uint64_t read_at_ns;
	_Atomic int32_t dirty_ppm; /* -1: not known yet */
	_Atomic uint64_t reads, clamps, failures;
};

/* A monitor's own part. Starts zeroed. */
struct nve_uncore_set {
	uint64_t number;       /* 0: nothing open */
	bool away_from_low;    /* as in struct nve_pmu_group_plan */
	int *fd;               /* plan->boxes of them */
	uint64_t written, all; /* as read last */
};

void nve_uncore_init(struct nve_uncore *u, const struct nve_perf *perf,
		     const struct nve_pmu_plan *plan, uint64_t epoch_ns);

/* Tries to open the first event. 0 or -errno. */
int nve_uncore_probe(const struct nve_perf *perf, const struct nve_pmu_plan *plan);

/*
 * The dirty fraction at the end of an epoch, ppm; -1 while it is not known. Reads the set where it
 * is the caller's, or makes it so where nobody has read for a while. Called by monitors, which may
 * map memory. now_ns: CLOCK_MONOTONIC.
 */
int32_t nve_uncore_dirty_ppm(struct nve_uncore *u, struct nve_uncore_set *set, uint64_t now_ns);

/* The caller's set, if it has one, is no more. */
void nve_uncore_leave(struct nve_uncore *u, struct nve_uncore_set *set);

/* A forked child: the parent's keepers are not there. */
void nve_uncore_after_fork(struct nve_uncore *u);

#endif
