/*
 * Reads of the program's memory that survive a mapping that vanishes: plain copies, and the timed
 * first touch of a line. A fault inside them is answered by nve_touch_fixup(), which the owner of
 * the fault signals calls; they then return an error instead of the data.
 *
 * Signal-safe, thread-safe.
 */
#ifndef NVE_AHEAD_TOUCH_H
#define NVE_AHEAD_TOUCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define NVE_TOUCH_FAULT UINT64_MAX

/* Reads one byte at addr between fences and two readings of the time-stamp counter. Returns TSC
 * ticks, fences included, or NVE_TOUCH_FAULT. */
uint64_t nve_touch_timed(uint64_t addr);

/* Can the processor fetch an address's translation and leave the line where it is? (clwb) */
bool nve_touch_can_translate(void);

/* Does so: a timed read after it is without a page walk. 0 or -EFAULT. */
int nve_touch_translate(uint64_t addr);

/* Copies size bytes. Returns 0 or -EFAULT. */
int nve_touch_copy(void *dst, uint64_t addr, size_t size);

/* In a handler of SIGSEGV or SIGBUS: was it one of the reads above? Then *uc is changed so that the
 * read returns its error, and true is returned. */
bool nve_touch_fixup(ucontext_t *uc);

#endif
