/*
 * Threads that depend on each other: what a thread owes is served before a call that may let
 * another one go on, and before one that may block. The hooks of such calls ask
 * nve_handover_armed, and only where it has their bit set call in here.
 *
 * Signal-safe. A call from a signal handler that has interrupted another one does nothing.
 */
#ifndef NVE_EMU_HANDOVER_H
#define NVE_EMU_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "emu/thread.h"

/* The last: at the markers of regions, so that delay is served where it was earned. */
enum { NVE_HANDOVER_SYNC = 1, NVE_HANDOVER_IO = 2, NVE_HANDOVER_REGION = 4 };

/* Kinds of hooks that have something to do in the calling thread: none as long as it owes nothing.
 */
extern __thread uint32_t nve_handover_armed;

/* Once. */
void nve_handover_setup(const struct nve_options *options, uint64_t tsc_khz);

/* The calling thread, at its birth and at its death. In the first, what a hook costs is measured:
 * it is part of the tool's own cost. */
void nve_handover_begin(struct nve_thread *t);
void nve_handover_end(void);

/* The process is about to have another thread, or a child, which may share its locks. Before that
 * there is no hand-over at locks. */
void nve_handover_company(void);

/* What a region's begin and end, or a pause and its end, take together. Once it is known. */
void nve_handover_set_marker_cost(double marker_ns);

/* No thread does anything at hooks any more: system calls of ours may be forbidden. */
void nve_handover_off(void);

/* In hooks, with the address that they return to. A call that cannot block: */
void nve_handover_pass(uint64_t address);
/* Before and after one that may: */
void nve_handover_before_wait(void);
void nve_handover_after_wait(uint64_t address);

/* In the handler of a tick. Is the interrupted thread just serving delay? Then it is not to be
 * sampled. */
bool nve_handover_is_busy(struct nve_thread *t);

/* At its start; takes the hooks' cost out of *ran_ns, the program's time. Returns whether the
 * program itself was running: not in a call that may block. */
bool nve_handover_enter_tick(struct nve_thread *t, uint64_t cpu_ns, uint64_t *ran_ns);

/* The sample says that of time_ns so much was stall, of which the model makes so many times as much
 * delay as of the thread's. */
void nve_handover_learn(struct nve_thread *t, bool running, double time_ns, double stall_ns,
			double factor);

/* Do hooks serve what the thread owes, so that the tick need not? */
bool nve_handover_serves(const struct nve_thread *t, uint64_t cpu_ns);

/* At its end. */
void nve_handover_leave_tick(struct nve_thread *t, bool running, uint64_t cpu_ns);

#endif
