/*
 * The contract between those who count and those who emulate: what a provider knows of one thread
 * over one epoch. Times are nanoseconds of the program's own CPU time (the emulator's taken out).
 */
#ifndef NVE_COUNT_SOURCE_H
#define NVE_COUNT_SOURCE_H

#include <stdint.h>

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
};

#endif
