/*
 * AArch64; the contract is in arch.h. The counter is the generic timer's, which every Linux lets
 * programs read: 1 GHz from Armv8.6 on, 24 to 125 MHz on most older processors. That is too coarse
 * for one access to memory, and good for a chain of them.
 */
#ifndef NVE_BASE_ARCH_AARCH64_H
#define NVE_BASE_ARCH_AARCH64_H

#include <stdint.h>

#define NVE_ARCH_NAME "aarch64"

enum { NVE_ARCH_SIGSTACK_BYTES = 5120, NVE_ARCH_TICKS_KHZ_MIN = 1000 };

static inline uint64_t nve_arch_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

static inline void nve_arch_pause(void)
{
	__asm__ volatile("yield");
}

/* The barrier waits for the loads, isb keeps what follows (the counter's reading, too) from going
 * ahead. */
static inline void nve_arch_fence_loads(void)
{
	__asm__ volatile("dsb ishld\n\tisb" : : : "memory");
}

static inline void nve_arch_fence(void)
{
	__asm__ volatile("dsb ish\n\tisb" : : : "memory");
}

/* Allowed to programs by Linux (SCTLR_EL1.UCI). */
static inline void nve_arch_flush(const void *p)
{
	__asm__ volatile("dc civac, %0" : : "r"(p) : "memory");
}

#endif
