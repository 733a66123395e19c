/* x86-64; the contract is in arch.h. */
#ifndef NVE_BASE_ARCH_X86_64_H
#define NVE_BASE_ARCH_X86_64_H

#include <stdint.h>
#include <x86intrin.h>

#define NVE_ARCH_NAME "x86_64"

enum { NVE_ARCH_SIGSTACK_BYTES = 2048, NVE_ARCH_TICKS_KHZ_MIN = 100000 };

static inline uint64_t nve_arch_ticks(void)
{
	return __rdtsc();
}

static inline void nve_arch_pause(void)
{
	_mm_pause();
}

static inline void nve_arch_fence_loads(void)
{
	_mm_lfence();
}

static inline void nve_arch_fence(void)
{
	_mm_mfence();
	_mm_lfence();
}

static inline void nve_arch_flush(const void *p)
{
	_mm_clflush(p);
}

#endif
