/*
 * What differs from processor to processor, for those who measure. The build chooses arch_NAME.c;
 * the functions that stand in the middle of a measurement are inline, in arch_NAME.h:
 *
 *   uint64_t nve_arch_ticks(void)      the counter that nve_tsc() reads, at once
 *   void nve_arch_pause(void)          in a loop that waits for another thread or for time
 *   void nve_arch_fence_loads(void)    loads before are complete, and nothing after has begun
 *   void nve_arch_fence(void)          the same of loads, stores and flushes
 *   void nve_arch_flush(const void *p) line of p out of all caches; complete after nve_arch_fence()
 *
 * NVE_ARCH_NAME is the processor's kind as the kernel calls it (uname -m). NVE_ARCH_SIGSTACK_BYTES
 * is the least signal stack that the kernel accepts. NVE_ARCH_TICKS_KHZ_MIN is the slowest rate of
 * the counter.
 *
 * A new processor is a pair of such files, and the three files named after it elsewhere (see
 * NVMEMU_ARCH in the CMake files).
 */
#ifndef NVE_BASE_ARCH_H
#define NVE_BASE_ARCH_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include "base/arch_x86_64.h"
#elif defined(__aarch64__)
#include "base/arch_aarch64.h"
#else
#error "libnvmemu knows x86-64 and AArch64 only"
#endif

/* The processor's name as it tells it itself, unedited (blanks and all); empty where it does not.
 * At most size - 1 bytes. Of the CPU that the caller runs on. */
void nve_arch_cpu_name(char *buf, size_t size);

#endif
