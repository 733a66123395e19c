/*
 * Faults while the program's memory is looked at: a mapping may vanish between the question whether
 * it is readable and the read. While at least one thread looks, SIGSEGV and SIGBUS are ours. Faults
 * that are not the look-ahead's wait until nobody looks and then happen again, under the program's
 * own action: it sees them as if we were not there.
 *
 * Signal-safe, thread-safe.
 */
#ifndef NVE_EMU_GUARD_H
#define NVE_EMU_GUARD_H

#include <stdbool.h>

#include "emu/action.h"

/* change: libc's own sigaction, not the hook. Once, before the first look. */
void nve_guard_setup(nve_sigaction_fn *change);

/* Begin and end of a look, in a handler that blocks all signals but faults. Looks nest over
 * threads, not within one. */
void nve_guard(bool begin);

/* sigaction() for SIGSEGV and SIGBUS, as the program means it. */
int nve_guard_change(int sig, const struct sigaction *act, struct sigaction *old);

/* In a forked child: only the calling thread exists, and it does not look; the others may have been
 * anywhere. */
void nve_guard_after_fork(void);

#endif
