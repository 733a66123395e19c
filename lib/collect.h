/*
 * Sums what the threads know into the totals of a report: the runtime's eye on emu and count.
 */
#ifndef NVE_COLLECT_H
#define NVE_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/thread.h"
#include "report/snapshot.h"

/* injects: whether delay is injected at all (not with NVM_INJECT=off). started_ns: of
 * CLOCK_MONOTONIC, from where the timeline counts. Once, before any thread. */
void nve_collect_setup(bool injects, uint64_t started_ns);

/* A thread that ends: called under the registry's lock. */
void nve_collect_ended(const struct nve_thread *t);

/* What one thread knows, now. */
void nve_collect_thread(const struct nve_thread *t, struct nve_thread_snapshot *s);

/* Fills totals, threads and stop names. Not reentrant: the thread list is static. */
void nve_collect_fill(struct nve_snapshot *s);

/* Is there anything to tell: has any thread been sampled? */
bool nve_collect_any(void);

/* A forked child starts with nothing counted, at started_ns. */
void nve_collect_after_fork(uint64_t started_ns);

#endif
