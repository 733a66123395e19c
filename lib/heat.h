/*
 * Heat over the life of a process: the stream of misses goes into a table of each thread, those of
 * threads that end into the process's, and all of them into reports. The runtime's eye on emu, heap
 * and count.
 */
#ifndef NVE_HEAT_H
#define NVE_HEAT_H

#include <stdbool.h>

#include "base/options.h"
#include "emu/thread.h"
#include "report/snapshot.h"

/* Before the first thread begins. Without NVM_HEAT, or without memory for the tables, there is no
 * heat. */
void nve_heat_begin(const struct nve_options *options);

/* Under the registry's lock. */
void nve_heat_ended(const struct nve_thread *t);

/* A forked child starts with no heat. */
void nve_heat_after_fork(void);

/* totals: of the process, already filled; live: under the registry's lock, so that those of live
 * threads can be had. The snapshot asks static memory afterwards. */
void nve_heat_fill(struct nve_heat_snapshot *s, const struct nve_totals *totals, bool live);

#endif
