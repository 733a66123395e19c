/* How far the core runs ahead of a load that misses: its reorder window, in instructions. */
#ifndef NVE_COUNT_RUN_AHEAD_H
#define NVE_COUNT_RUN_AHEAD_H

#include <stddef.h>
#include <stdint.h>

/* lines: addresses of lines that are not in the cache once flushed; count >= 512. Returns the least
 * of the tried distances (160 to 1,024) that the core does not reach over. */
uint32_t nve_run_ahead_measure(void **lines, size_t count);

#endif
