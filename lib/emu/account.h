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

#endif
