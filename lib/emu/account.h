/* A thread's traffic, brought to the emulated device's account. In the thread's handler, or with
 * its handlers off. */
#ifndef NVE_EMU_ACCOUNT_H
#define NVE_EMU_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "emu/thread.h"

/* The time that is to be accounted for. */
struct nve_account {
	const ucontext_t *uc; /* where it ends; NULL: the thread does not run any more */
	struct nve_bandwidth_stretch time;
	bool in_kernel;
};

/* What the thread has moved meanwhile. Returns the delay that this adds, ns: none in a region where
 * nothing is emulated, or without a limit. */
uint64_t nve_account_moved(struct nve_thread *t, const struct nve_account *a);

/* The same at a tick of the thread: finer ones have accounted for a part of its time. */
uint64_t nve_account_tick(struct nve_thread *t, struct nve_account *a);

/* May it move more than the device does, so that it is to be looked at more often? */
bool nve_account_wants_fine(const struct nve_thread *t);

/* Has the thread run for so long since its last tick that one must have missed it? Threads that
 * work for less than a tick at a time may do so in between for long. sample_ns: from one to the
 * next. */
bool nve_account_lost_tick(const struct nve_thread *t, uint64_t ran_ns, uint64_t sample_ns);

/* How long after such a look the next one is due, of wall time: longer where a row of them has
 * found the thread waiting (so many), or moving nothing. */
uint64_t nve_account_fine_ns(const struct nve_thread *t, uint32_t waits);

#endif
