/*
 * The markers of regions (nvmemu.h) in the calling thread: clocks, hand-overs and the process-wide
 * tree of names, around the account of emu/regions.h.
 *
 * All markers are signal-safe, make no system call unless delay is served, and do nothing in a
 * thread that is not emulated.
 */
#ifndef NVE_MARKERS_H
#define NVE_MARKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "count/replay.h"
#include "emu/region_table.h"
#include "emu/thread.h"

/* Once, before any thread. only: nothing is emulated outside of regions. */
void nve_markers_setup(bool only, uint64_t tsc_khz);

/* The regions of a record get the numbers that they have here, and its epochs those of lanes. */
void nve_markers_replay(struct nve_replay *r);

/* A thread is born. */
void nve_markers_thread(struct nve_thread *t);

/* In a forked child, before its thread is made anew: that has what the calling one had open. */
void nve_markers_before_child(void);

/* Markers do nothing from now on: the time stamp counter may be out of bounds. */
void nve_markers_off(void);

void nve_markers_begin(const char *name);
void nve_markers_end(void);
void nve_markers_end_named(const char *name);
void nve_markers_pause(void);
void nve_markers_resume(void);

const struct nve_region_table *nve_markers_table(void);

#endif
