/* Totals of the run so far, for the program itself. */
#ifndef NVE_STATS_H
#define NVE_STATS_H

struct nvmemu_stats;

/* See nvmemu_stats() in nvmemu.h. */
int nve_stats(struct nvmemu_stats *stats);

#endif
