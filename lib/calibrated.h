/* The calibration that a process starts with: the one that is kept, or a fresh one. */
#ifndef NVE_CALIBRATED_H
#define NVE_CALIBRATED_H

#include "count/calibration.h"
#include "count/calstore.h"
#include "report/snapshot.h"

enum { NVE_CALIBRATED_CPU_BYTES = 64 };

/* Measures where nothing good is kept; of many processes that start at once, one does and the
 * others wait. 0 or -errno. envp: says where it is kept. */
int nve_calibrated_load(struct nve_calibration *cal, char *const envp[]);

/* Where it is kept; for figures that are added to it. */
struct nve_calstore *nve_calibrated_store(char *const envp[]);

/* What the CPU is called. */
void nve_calibrated_cpu(char cpu[NVE_CALIBRATED_CPU_BYTES], char *const envp[]);

/* What a report says of the machine, but for the CPU's name; the latencies are those in force. */
void nve_calibrated_fill(const struct nve_calibration *c, const struct nve_options *options,
			 uint64_t dram_lat_ps, uint64_t llc_lat_ps, struct nve_machine_snapshot *m);

#endif
