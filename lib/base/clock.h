/*
 * Time: nanoseconds of the kernel's clocks and ticks of the processor's counter that programs may
 * read: the time-stamp counter (TSC), whose name stands for those of other processors (arch.h) as
 * well. All of it is signal-safe.
 */
#ifndef NVE_BASE_CLOCK_H
#define NVE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "base/arch.h"

static inline uint64_t nve_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The kernel's tick, of which samples come; it is what the coarse clock advances by. */
static inline uint64_t nve_clock_tick_ns(void)
{
	struct timespec ts;

	clock_getres(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t nve_tsc(void)
{
	return nve_arch_ticks();
}

/* Conversions with a rate in kHz: exact to a tick, no overflow for any run below 200 days. */
static inline uint64_t nve_tsc_to_ns(uint64_t ticks, uint64_t tsc_khz)
{
	return (uint64_t)((unsigned __int128)ticks * 1000000u / tsc_khz);
}

static inline uint64_t nve_ns_to_tsc(uint64_t ns, uint64_t tsc_khz)
{
	return (uint64_t)((unsigned __int128)ns * tsc_khz / 1000000u);
}

/* Measures the TSC's rate against CLOCK_MONOTONIC_RAW over at least wait_ns. In kHz. */
uint64_t nve_clock_tsc_khz(uint64_t wait_ns);

/* Spins until the TSC has reached deadline. */
static inline void nve_spin_until(uint64_t deadline)
{
	while (nve_tsc() < deadline)
		nve_arch_pause();
}

#endif
