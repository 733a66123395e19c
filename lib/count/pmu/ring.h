/*
 * The ring into which the kernel writes the records of a sampling event. Any memory in which
 * records lie may be read: what is none of the kernel's is noticed, never followed. Signal-safe.
 */
#ifndef NVE_COUNT_PMU_RING_H
#define NVE_COUNT_PMU_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

enum { NVE_PMU_RECORD_BODY = 56 };

struct nve_pmu_ring {
	struct perf_event_mmap_page *page; /* shared with the kernel; NULL: none */
	const uint8_t *data;
	uint64_t bytes; /* of data: a power of two */
};

/* One record, in one piece; of a longer one its beginning. */
struct nve_pmu_record {
	uint32_t type; /* enum perf_event_type */
	size_t length; /* of the body */
	uint64_t body[NVE_PMU_RECORD_BODY / sizeof(uint64_t)];
};

/* A mapping of that many bytes, its first page included. -EINVAL: it holds no ring. */
int nve_pmu_ring_begin(struct nve_pmu_ring *r, void *mapped, size_t bytes);

/* Where the oldest record is, and up to where they reach. */
uint64_t nve_pmu_ring_tail(const struct nve_pmu_ring *r);
uint64_t nve_pmu_ring_head(const struct nve_pmu_ring *r);

/* The record at *at, which moves behind it. 1; 0: none before head; -EBADMSG: there is no record,
 * and nobody knows where the next one is: *at is head. */
int nve_pmu_ring_next(const struct nve_pmu_ring *r, uint64_t head, uint64_t *at,
		      struct nve_pmu_record *record);

/* All before at has been read: the kernel may write there. */
void nve_pmu_ring_done(const struct nve_pmu_ring *r, uint64_t at);

/*
 * Beside the ring, an area of so many bytes (a power of two) into which the hardware writes what
 * the kernel has no records for. Asks for it, at an offset of the event's mapping, which is
 * returned: then it can be mapped there.
 */
uint64_t nve_pmu_ring_plan_area(const struct nve_pmu_ring *r, uint64_t bytes);

/* As those of records: from where to where it is filled, and up to where it has been read. */
uint64_t nve_pmu_ring_area_tail(const struct nve_pmu_ring *r);
uint64_t nve_pmu_ring_area_head(const struct nve_pmu_ring *r);
void nve_pmu_ring_area_done(const struct nve_pmu_ring *r, uint64_t at);

#endif
