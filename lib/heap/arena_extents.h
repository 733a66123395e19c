/* How arenas grow: jemalloc's hooks for it, and what they tell us. */
#ifndef NVE_HEAP_ARENA_EXTENTS_H
#define NVE_HEAP_ARENA_EXTENTS_H

#ifndef JEMALLOC_NO_RENAME
#define JEMALLOC_NO_RENAME
#endif
#include <jemalloc/jemalloc.h>
#include <stdint.h>

extern extent_hooks_t nve_arena_extents;

/* An arena has so many bytes more. */
void nve_arena_grown(uint32_t arena, uint64_t bytes);

#endif
