/*
 * A signal to a thread each time that it has used so much CPU time, by a software event of the
 * kernel: where no timer is to be had, since each takes a slot of RLIMIT_SIGPENDING. It comes while
 * the thread runs code of its own: what is used in the kernel counts, but is told when it has come
 * back from there.
 */
#ifndef NVE_COUNT_PMU_TICKS_H
#define NVE_COUNT_PMU_TICKS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* For a thread of this process. Returns the event's descriptor, or -errno. */
int nve_pmu_ticks_open(int tid, int signal, uint64_t period_ns);

void nve_pmu_ticks_close(int fd);

/* Is a signal from the event with that descriptor? Signal-safe. */
bool nve_pmu_ticks_sent(const siginfo_t *info, int fd);

#endif
