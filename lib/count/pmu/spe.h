/*
 * What Arm's Statistical Profiling Extension writes: a packet for each thing that it tells of a
 * sampled operation, records of packets one behind the other (Arm Architecture Reference Manual,
 * DDI 0487, chapter D17 "Statistical Profiling Extension Sample Record Specification"; what a data
 * source means: Linux, tools/perf/util/arm-spe-decoder). Any memory may be read: what is no packet
 * is noticed, never followed. Pure; signal-safe.
 */
#ifndef NVE_COUNT_PMU_SPE_H
#define NVE_COUNT_PMU_SPE_H

#include <stdbool.h>
#include <stdint.h>

/* Memory that is written around its end; positions count on and on. bytes: a power of two. */
struct nve_spe_area {
	const uint8_t *data;
	uint64_t bytes;
};

enum nve_spe_kind {
	NVE_SPE_PAD,  /* of bytes, or up to an alignment */
	NVE_SPE_END,  /* of a record */
	NVE_SPE_TIME, /* ends a record, too */
	NVE_SPE_EVENTS,
	NVE_SPE_SOURCE,
	NVE_SPE_CONTEXT,
	NVE_SPE_OPERATION, /* index: its class */
	NVE_SPE_ADDRESS,   /* index: of what */
	NVE_SPE_COUNTER,   /* index: of what */
};

struct nve_spe_packet {
	enum nve_spe_kind kind;
	unsigned index, payload_bytes;
	uint64_t payload;
};

/* One operation, as far as its packets told. */
struct nve_spe_record {
	bool has_addr, has_source, has_operation, has_events;
	uint64_t pc;     /* 0: not told */
	uint64_t addr;   /* virtual, without a tag */
	uint64_t events; /* bits */
	uint64_t source;
	bool is_load;
	uint64_t cycles; /* from its issue to its completion; 0: not told */
};

/* The packet at *at, which moves behind it. 1; 0: none before end; -EBADMSG: there is none, or not
 * all of it: *at is end. */
int nve_spe_next_packet(const struct nve_spe_area *area, uint64_t end, uint64_t *at,
			struct nve_spe_packet *packet);

/* The same for a record: packets up to its end. -EBADMSG also where end comes first. */
int nve_spe_next(const struct nve_spe_area *area, uint64_t end, uint64_t *at,
		 struct nve_spe_record *record);

/*
 * Is it a load that was executed for good and that memory has served, here or elsewhere? By its
 * data source, of which Neoverse cores tell; without one, by the event "last-level cache miss". A
 * source "remote" does not tell memory from a cache of the other socket, and counts.
 */
bool nve_spe_is_memory_load(const struct nve_spe_record *record);

#endif
