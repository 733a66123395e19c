/* POSIX timers that signal the calling thread, by raw calls: libc's keep a table of their own for
 * timers, and allocate. Signal-safe. */
#ifndef NVE_EMU_TIMER_H
#define NVE_EMU_TIMER_H

#include <stdint.h>
#include <time.h>

/* One of the calling thread: it gets the signal, with value in si_value. 0 or -errno. */
int nve_timer_make(clockid_t clock, int signal, void *value, int *id);

/* Once, after so many ns; what it was armed for before is forgotten. 0 or -errno. */
int nve_timer_arm(int id, uint64_t after_ns);

void nve_timer_delete(int id);

#endif
