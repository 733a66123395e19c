/* How far the core runs ahead of a load that misses: its reorder window. */
#ifndef NVE_COUNT_RUN_AHEAD_H
#define NVE_COUNT_RUN_AHEAD_H

#include <stddef.h>
#include <stdint.h>

/*
 * lines: addresses of lines that are not in the cache once flushed; count >= 512. Gives the least
 * of the tried distances (96 to 1,024) that the core does not reach over: in instructions of any
 * kind, and in instructions that write a general register.
 */
void nve_run_ahead_measure(void **lines, size_t count, uint32_t *instructions, uint32_t *writers);

#endif
