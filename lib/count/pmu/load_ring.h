/*
 * The loads that one sampling event has seen, in the order in which it has written them: as records
 * of the kernel's in a ring, or as the hardware's own packets in an area beside it, of which
 * records in the ring tell from where to where.
 */
#ifndef NVE_COUNT_PMU_LOAD_RING_H
#define NVE_COUNT_PMU_LOAD_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "count/pmu/perf.h"
#include "count/pmu/ring.h"
#include "count/pmu/sampled.h"
#include "count/pmu/spe.h"

/* Over a thread's life. */
struct nve_pmu_load_sums {
	uint64_t taken;     /* loads with an address in memory's */
	uint64_t elsewhere; /* without an address, or that a cache served */
	uint64_t lost;      /* no room, or one began before another had ended; at least so many */
	uint64_t throttled; /* times that the kernel has held the event back */
	uint64_t damaged;   /* ends of what could be read */
	uint64_t refused;   /* 1: no ring was to be had for this thread */
};

struct nve_pmu_load {
	uint64_t ip, addr, weight;
};

/* Whoever opens it owns the descriptor, whoever reads it the rest. */
struct nve_pmu_load_ring {
	struct nve_pmu_ring ring;
	struct nve_spe_area area; /* data NULL: none, loads are in the ring */
	_Atomic int fd;           /* -1: none is kept */
	_Atomic bool stopped;     /* found full: the kernel has stopped the event */
};

/* One pass over what is there now; it sees the same however often it is begun anew from its copy.
 */
struct nve_pmu_load_cursor {
	uint64_t at, head;               /* in the ring */
	uint64_t packet_at, packets_end; /* of the record that was read last */
	uint64_t area_done;              /* up to where the area has been read */
	bool partial;                    /* the last packets are cut */
};

/*
 * Opens the event on a thread, with its ring and area, and starts it. The mapping keeps the event:
 * no descriptor stays open, but where keep asks for that and packets are written, which stop for
 * good where nobody makes room in time. 0, or -errno: nothing is open; -ENOLCK: no more memory may
 * be locked for rings.
 */
int nve_pmu_load_ring_open(struct nve_pmu_load_ring *r, const struct nve_perf *perf,
			   const struct nve_pmu_sampled *event, int tid, bool keep);
void nve_pmu_load_ring_close(struct nve_pmu_load_ring *r, const struct nve_perf *perf);

/* By the owner of the descriptor: starts an event that has been stopped; closes the descriptor. */
void nve_pmu_load_ring_restart(struct nve_pmu_load_ring *r, const struct nve_perf *perf);
void nve_pmu_load_ring_release(struct nve_pmu_load_ring *r, const struct nve_perf *perf);

/* Signal-safe, as all that follows. filling: whether half of the room is taken. */
struct nve_pmu_load_cursor nve_pmu_load_ring_begin(const struct nve_pmu_load_ring *r,
						   bool *filling);

/* The next load; false: none. What else there is is counted where sums is not NULL. */
bool nve_pmu_load_ring_next(struct nve_pmu_load_ring *r, struct nve_pmu_load_cursor *c,
			    struct nve_pmu_load_sums *sums, struct nve_pmu_load *load);

/* What the cursor has come past may be written over. */
void nve_pmu_load_ring_done(struct nve_pmu_load_ring *r, const struct nve_pmu_load_cursor *c);

/* Stopped, and nobody here can start it again? */
bool nve_pmu_load_ring_is_dead(const struct nve_pmu_load_ring *r);

#endif
