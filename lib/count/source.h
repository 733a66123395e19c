/*
 * The contract between those who count and those who emulate: what a provider knows of one thread
 * over one epoch. Times are nanoseconds of the program's own CPU time (the emulator's taken out).
 */
#ifndef NVE_COUNT_SOURCE_H
#define NVE_COUNT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

enum {
	NVE_SOURCE_WHY_BYTES = 300,
	NVE_SOURCE_MEND_BYTES = 200,
	NVE_SOURCE_HOW_BYTES = 1200, /* the events of two kinds of cores */
};

struct nve_epoch {
	uint64_t cpu_ns;   /* length of the epoch */
	uint64_t stall_ns; /* LLC_STALL */
	uint64_t
		stall_wb_ns; /* the part of it on misses that cost a write-back; at most stall_ns */
	uint64_t
		latency_ps; /* of a miss as the program sees it: converts stall time into a count */
	uint64_t dram_lat_ps; /* of DRAM alone, now: what equation 5 subtracts */
	/* standard errors of this epoch's stall time, of the dirty fraction and of the latency; 0:
	 * not known */
	uint64_t stall_se_ns, dirty_se_ppm, latency_se_ps;
	/* of look-ahead, for counters that take over the rest: the thread's dirty fraction, and the
	 * time that the handler waited for its own touches beyond what they spare the program */
	uint32_t dirty_ppm;
	uint64_t looked_ns;
	uint32_t region; /* of a replay: the lane (emu/regions.h) that it belongs to */
	/* placement: the part of the read-only and of the write-back stall time on memory that is
	 * placed on DRAM and earns no delay, and their standard errors. 0: all is on NVM */
	uint32_t dram_ro_ppm, dram_wb_ppm, dram_ro_se_ppm, dram_wb_se_ppm;
	/* moved between memory and the caches, with standard errors; 0: nothing, or not counted.
	 * What the emulated device's bandwidth delays that by, with all other threads' */
	uint64_t read_bytes, written_bytes, read_se_bytes, written_se_bytes;
	uint64_t bandwidth_ns;
};

/* What the model is fed with; each comes from its best source, whatever the others do. */
enum nve_quantity {
	NVE_QUANTITY_STALL,
	NVE_QUANTITY_DIRTY,
	NVE_QUANTITY_LATENCY,
	NVE_QUANTITY_ADDRESSES,
	NVE_QUANTITY_TRAFFIC,
	NVE_QUANTITIES
};

/* Why something is not better, and what mends that; empty texts where there is nothing to be told.
 */
struct nve_reason {
	char why[NVE_SOURCE_WHY_BYTES], mend[NVE_SOURCE_MEND_BYTES];
};

/* name: "hardware counters", "look-ahead", "none", ...; how: by what and of which events it is
 * read, or empty. NULL and empty where nobody has decided. */
struct nve_source {
	const char *name;
	char how[NVE_SOURCE_HOW_BYTES];
	struct nve_reason no_better;
};

struct nve_sources {
	struct nve_source of[NVE_QUANTITIES];
};

/* "stall_time", as in reports; "stall time", for people. */
const char *nve_quantity_key(enum nve_quantity quantity);
const char *nve_quantity_label(enum nve_quantity quantity);

/* Set a source, without a reason; or a reason. What is too long is cut. */
void nve_source_set(struct nve_source *source, const char *name, const char *how);
void nve_reason_set(struct nve_reason *reason, const char *why, const char *mend);

/* "why; mend", for one line. */
void nve_reason_join(const struct nve_reason *reason, char *buf, size_t size);

#endif
