/* Waiting as a stalled core does: busy. The calling thread's; signal-safe. */
#ifndef NVE_EMU_SPIN_H
#define NVE_EMU_SPIN_H

#include <stdint.h>

#include "emu/corewait.h"

enum { NVE_SPIN_SLACK_NS = 300 }; /* a shorter rest is left for the next time */

/* By the thread's CPU clock, since it may lose its core meanwhile. The clock has shown now_ns;
 * returns what it shows at the end. tsc_khz: of the time-stamp counter. */
uint64_t nve_spin_cpu(uint64_t now_ns, uint64_t end_ns, uint64_t tsc_khz);

/* A delay of which device_ns are waiting for the device, which goes on while the thread has no
 * core. What it had no core for beyond that is left in *wait. Returns what was served, ns. */
uint64_t nve_spin_device(struct nve_corewait *wait, uint64_t delay_ns, uint64_t device_ns,
			 uint64_t tsc_khz);

#endif
