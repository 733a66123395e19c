/*
 * Regions in the report: what threads know of them as rows of the snapshot. Part of collect.h,
 * whose rules hold: the registry's lock, no second caller at a time.
 */
#ifndef NVE_REGION_ROWS_H
#define NVE_REGION_ROWS_H

#include <stdbool.h>

#include "emu/thread.h"
#include "report/snapshot.h"

/* Takes up a thread that ends, or that lives on. paid_ns: what of its delay has been paid. rows:
 * get its own, which live threads keep until nve_region_rows_begin(); NULL: it is not listed. */
void nve_region_rows_take(const struct nve_thread *t, bool alive, uint64_t paid_ns,
			  struct nve_region_rows *rows);

/* Before the live threads of a snapshot are taken up: forgets those of the one before. */
void nve_region_rows_begin(void);

/* After that. */
void nve_region_rows_fill(struct nve_regions_snapshot *s);

/* A forked child starts with nothing counted. */
void nve_region_rows_after_fork(void);

#endif
