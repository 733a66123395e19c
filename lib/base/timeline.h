/*
 * What happened when: sums per stretch of wall time, in a fixed number of buckets that double in
 * width whenever the run outgrows them. Pure: no clock, no malloc; signal-safe. The caller keeps
 * two from changing one timeline at a time.
 *
 * All timelines begin with the same width and have bucket 0 at the same moment, so that the buckets
 * of any two can be added. Nothing is lost: the sum over the buckets is what was put in, to the
 * nanosecond.
 */
#ifndef NVE_BASE_TIMELINE_H
#define NVE_BASE_TIMELINE_H

#include <stdint.h>

enum { NVE_TIMELINE_BUCKETS = 128 };

#define NVE_TIMELINE_FIRST_WIDTH_NS UINT64_C(10000000)

enum nve_timeline_quantity {
	NVE_TIMELINE_CPU_NS, /* of the program itself */
	NVE_TIMELINE_STALL_NS,
	NVE_TIMELINE_STALL_WB_NS, /* part of the former */
	NVE_TIMELINE_MA_RO,
	NVE_TIMELINE_MA_WB,
	NVE_TIMELINE_OWED_NS,
	NVE_TIMELINE_PAID_NS,
	NVE_TIMELINE_QUANTITIES
};

/* Zeros are an empty one. */
struct nve_timeline {
	uint64_t width_ns; /* 0: nothing put in yet */
	uint32_t used;     /* buckets up to the last that was put into */
	uint64_t sum[NVE_TIMELINE_QUANTITIES];
	uint64_t bucket[NVE_TIMELINE_BUCKETS][NVE_TIMELINE_QUANTITIES];
};

/*
 * Spreads amounts evenly over the time from from_ns to to_ns (counted from the process's start);
 * to_ns before from_ns is taken for from_ns. Times up to 2^60 ns.
 */
void nve_timeline_add(struct nve_timeline *t, uint64_t from_ns, uint64_t to_ns,
		      const uint64_t amounts[NVE_TIMELINE_QUANTITIES]);

/* Makes the buckets at least as wide as another's, whose width is width_ns; 0: of an empty one. */
void nve_timeline_widen(struct nve_timeline *t, uint64_t width_ns);

/* Adds all of another's; t is as wide as the wider of both afterwards. */
void nve_timeline_merge(struct nve_timeline *t, const struct nve_timeline *other);

/* Makes the sums equal to totals: what is missing is spread from from_ns to to_ns, what is too much
 * is taken from the last buckets that have it. */
void nve_timeline_settle(struct nve_timeline *t, uint64_t from_ns, uint64_t to_ns,
			 const uint64_t totals[NVE_TIMELINE_QUANTITIES]);

#endif
