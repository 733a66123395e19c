/*
 * When a thread's handler runs: a one-shot timer on its own CPU clock, which takes a slot of
 * RLIMIT_SIGPENDING. Where none is to be had, a software event of the kernel does the same: its
 * descriptor is in the file table of the thread's monitor, where the program does not meet it.
 */
#ifndef NVE_EMU_TICK_H
#define NVE_EMU_TICK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "emu/thread.h"

enum nve_tick {
	NVE_TICK_NONE, /* the signal is not ours */
	NVE_TICK_USUAL,
	NVE_TICK_EARLY, /* ours, but of no use */
	NVE_TICK_FINE,  /* of a second timer, on the monotonic clock (emu/bandwidth.h) */
};

enum { NVE_TICK_SIGNAL = SIGURG };

/* For the calling thread; its first tick is after_ns ahead. 0 or -errno of the timer, where there
 * is no event either, or no monitor to hold it: -EAGAIN is RLIMIT_SIGPENDING. */
int nve_tick_start(struct nve_thread *t, uint64_t after_ns);

/* Also another's. */
void nve_tick_stop(struct nve_thread *t);

/* The next tick comes after so much of the calling thread's CPU time. Signal-safe. */
void nve_tick_arm(struct nve_thread *t, uint64_t after_ns);

/* The next finer tick; without a timer to be had, there is none. Signal-safe. */
void nve_tick_arm_fine(struct nve_thread *t, uint64_t after_ns);

/* What a signal that has come to the calling thread is; asked once for each. Signal-safe. */
enum nve_tick nve_tick_kind(const siginfo_t *info);

/* By the thread's monitor, whenever it is woken, and at its end: opens and closes the event. own_
 * files: it has a file table of its own. */
void nve_tick_monitor(struct nve_thread *t, bool own_files);
void nve_tick_monitor_end(struct nve_thread *t);

/* What ticks come from in this process, for the report. A process in which an event has stood in
 * for one timer says so for all. */
const char *nve_tick_source(void);

#endif
