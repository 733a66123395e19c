/* Registers of an interrupted thread, as the kernel leaves them in a signal frame. */
#ifndef NVE_AHEAD_CPU_CONTEXT_H
#define NVE_AHEAD_CPU_CONTEXT_H

#include "count/ahead/interp.h"

/* Learns where the parts of the extended state lie. */
void nve_cpu_context_setup(void);

/* Vector state out of an XSAVE area in standard format, of which bytes may be read. */
void nve_cpu_from_xsave(struct nve_cpu *cpu, const void *area, size_t bytes);

/* The reverse, for tests that set a traced thread's registers. */
void nve_cpu_to_xsave(const struct nve_cpu *cpu, void *area, size_t bytes);

#endif
