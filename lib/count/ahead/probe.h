/*
 * DRAM's own latency, now: on a shared host it moves by tens of per cent within seconds. A few
 * lines of a small buffer of ours, flushed long before, are timed now and then. Calibration did the
 * same beside a pointer chase, so the ratio of both readings carries the chase's latency over to
 * now.
 *
 * Process-wide, thread-safe, signal-safe.
 */
#ifndef NVE_AHEAD_PROBE_H
#define NVE_AHEAD_PROBE_H

#include <stdbool.h>
#include <stdint.h>

enum { NVE_PROBE_BYTES = 2 << 20 };

/* Maps and flushes the buffer, which takes some tenths of a millisecond; for the first who asks.
 * Others go without until he is done. 0 or -errno. */
int nve_probe_setup(void);
bool nve_probe_is_set_up(void);

/* In the child: who was setting up is not there any more. */
void nve_probe_after_fork(void);

/* Times count lines. Returns how many readings are good, and adds their TSC ticks, fences included,
 * to *ticks. Readings above outlier_ticks (interrupted) are left out. */
uint32_t nve_probe_read(uint32_t count, uint64_t outlier_ticks, uint64_t *ticks);

/* A fading mean of readings, TSC ticks, fences included. It starts with what one took at
 * calibration; each further call times a few lines more. */
void nve_probe_start_mean(double then_ticks);
void nve_probe_go_on(uint64_t outlier_ticks);
double nve_probe_mean(void);

#endif
