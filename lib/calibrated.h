/* The calibration that a process starts with: the one that is kept, or a fresh one. */
#ifndef NVE_CALIBRATED_H
#define NVE_CALIBRATED_H

#include "count/calibration.h"
#include "count/calstore.h"

enum { NVE_CALIBRATED_CPU_BYTES = 64 };

/* Measures where nothing good is kept; of many processes that start at once, one does and the
 * others wait. 0 or -errno. envp: says where it is kept. */
int nve_calibrated_load(struct nve_calibration *cal, char *const envp[]);

/* Where it is kept; for figures that are added to it. */
struct nve_calstore *nve_calibrated_store(char *const envp[]);

/* What the CPU is called. */
void nve_calibrated_cpu(char cpu[NVE_CALIBRATED_CPU_BYTES], char *const envp[]);

#endif
