/*
 * Measures what the estimators need to know of this machine: memory and cache latency; and for
 * look-ahead what a timed read costs, where the threshold between cache and memory lies, how far
 * the core runs ahead.
 *
 * With a pointer chase over lines that were flushed, so that the size of the cache and its other
 * users do not matter. Chase, timed reads and probe (ahead/probe.h) take turns every few
 * microseconds: on a shared host only ratios of readings of the same moment hold.
 */
#ifndef NVE_COUNT_CALIBRATE_H
#define NVE_COUNT_CALIBRATE_H

#include <stdint.h>

#include "count/calibration.h"

/*
 * limit_ns bounds the run time (roughly); 100 ms give about 0.3 % of standard error. Everything but
 * signal_ns is filled. Returns 0, -ENOMEM, or -ERANGE when the readings make no sense (the machine
 * took the core away all the time). Uses the calling thread, maps up to 128 MiB for the time.
 */
int nve_calibrate(struct nve_calibration *calibration, uint64_t limit_ns);

#endif
