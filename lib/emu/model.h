/*
 * The write-back-aware delay model of Koshiba, Hirofuchi, Takano and Namiki, "A Software-based NVM
 * Emulator Supporting Read/Write Asymmetric Latencies", IEICE Trans. Inf. & Syst. E102-D no. 12,
 * 2019; equation numbers are the paper's. Pure integer arithmetic: no clock, no state but what is
 * passed in; what does not fill a nanosecond or a whole access is carried to the next epoch.
 */
#ifndef NVE_EMU_MODEL_H
#define NVE_EMU_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "count/source.h"

struct nve_model_target {
	uint64_t rlat_ps, wlat_ps; /* emulated latencies; 0: DRAM's own */
	uint64_t own_ps;           /* DRAM's, in force: a target that equals it is DRAM's own,
				    * whatever that drifts to; 0: none does */
	bool symmetric;            /* equation 1: every miss costs the read latency, or the write
				    * latency where that is the only one given */
};

/* Remainders carried from epoch to epoch; starts zeroed. */
struct nve_model_carry {
	uint64_t ro_ps, wb_ps;         /* stall time that did not make a whole access */
	uint64_t nvm_ro_ps, nvm_wb_ps; /* the same of the part on NVM */
	uint64_t delay_ps;             /* delay below a nanosecond */
};

struct nve_model_delay {
	uint64_t ma_ro, ma_wb;         /* equation 6, whole accesses */
	uint64_t nvm_ma_ro, nvm_ma_wb; /* the part of them on memory placed on NVM */
	uint64_t delay_ns;             /* equation 5, over these */
	uint64_t larger_ns;            /* that, or what bandwidth asks for: the larger demand */
	uint32_t clamps; /* inputs or results that had to be forced into their range */
};

/* Equations 5 and 6 (or 1) for one epoch, and the floor that bandwidth sets. A target below the
 * DRAM latency of the moment earns no delay and counts as a clamp: delays cannot be negative. */
struct nve_model_delay nve_model_delay(const struct nve_model_target *target,
				       const struct nve_epoch *epoch,
				       struct nve_model_carry *carry);

#endif
