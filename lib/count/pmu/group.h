/*
 * A group of events on one thread, counted together and read by one system call. Every read gives
 * what happened since the one before, scaled up where the kernel let the group share the counters
 * with others (multiplexing).
 *
 * A group belongs to one thread at a time, whose file table its descriptors are in.
 */
#ifndef NVE_COUNT_PMU_GROUP_H
#define NVE_COUNT_PMU_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "count/pmu/encode.h"
#include "count/pmu/perf.h"

enum { NVE_PMU_GROUP_EVENTS = 8, NVE_PMU_COUNTER_BITS = 48 };

/* What went on besides counting; sums over the group's life. */
struct nve_pmu_reads {
	uint64_t reads;     /* that gave figures */
	uint64_t unread;    /* that gave none: never on a counter, or in an error state */
	uint64_t wraps;     /* counters that went round at 48 bits */
	uint64_t backwards; /* that went back for no reason: taken for standing still */
	uint64_t enabled_ns, running_ns; /* the thread's time, and that in which it counted */
};

struct nve_pmu_group {
	const struct nve_perf *perf;
	unsigned count; /* events; 0: closed */
	int fd[NVE_PMU_GROUP_EVENTS];
	uint64_t enabled_ns, running_ns, value[NVE_PMU_GROUP_EVENTS]; /* as read last */
};

/* How a group is opened; the codes are count many. */
struct nve_pmu_group_plan {
	const struct nve_pmu_code *codes;
	unsigned count;
	bool away_from_low; /* the descriptors are moved out of the way of the program's */
};

/*
 * Opens and starts a group on a thread. Returns 0, or -errno with *failed the index of the event
 * that the kernel refused; nothing is left open then.
 */
int nve_pmu_group_open(struct nve_pmu_group *g, const struct nve_perf *perf,
		       const struct nve_pmu_group_plan *plan, int tid, unsigned *failed);

/*
 * Reads the group: delta[i] is what event i counted since the last successful read. scale: by the
 * share of the time in which the group was on the counters (not so on a hybrid machine, where the
 * rest of the time belongs to the other kind of core). Returns 0; -ENODATA where the group was not
 * on the counters at all, so that the next read tells of this time too; or -errno.
 */
int nve_pmu_group_read(struct nve_pmu_group *g, bool scale, struct nve_pmu_reads *reads,
		       uint64_t delta[NVE_PMU_GROUP_EVENTS]);

void nve_pmu_group_close(struct nve_pmu_group *g);

/* Moves an event's descriptor out of the way of the program's, which count up from the lowest
 * number. Returns the new one; or closes it where there is no room up there: -EMFILE. */
int nve_pmu_move_high(const struct nve_perf *perf, int fd);

/* What a counter moved by from before to now. Pure. */
uint64_t nve_pmu_counter_delta(uint64_t before, uint64_t now, struct nve_pmu_reads *reads);

#endif
