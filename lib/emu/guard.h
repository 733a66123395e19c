/*
 * Faults while the program's memory is looked at: a mapping may vanish between the question whether
 * it is readable and the read. While at least one thread looks, SIGSEGV and SIGBUS are ours; faults
 * that are not the look-ahead's go to the program's own action, as if we were not there.
 *
 * Signal-safe, thread-safe.
 */
#ifndef NVE_EMU_GUARD_H
#define NVE_EMU_GUARD_H

#include <stdbool.h>

/* Enter and leave nest over threads, not within one. */
void nve_guard(bool enter);

/* In a forked child: only the calling thread exists, and it does not look. */
void nve_guard_after_fork(void);

#endif
