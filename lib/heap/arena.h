/*
 * Arenas: who carves blocks out of the memory of blocks.h. They are jemalloc's, built into ours.
 *
 * A thread's own arena is used through jemalloc's own thread cache, the fastest way. Blocks of a
 * site's arena must not meet those: they go by flags, which name the arena and a cache that is
 * only for it, or no cache. The inline functions are what jemalloc's own names would be.
 */
#ifndef NVE_HEAP_ARENA_H
#define NVE_HEAP_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap/heap.h"

enum {
	NVE_ARENA_MAX = 512,           /* arenas are numbered below */
	NVE_ARENA_SITES = 256,         /* of sites, at most */
	NVE_ARENA_THREADS = 128,       /* of threads; more share them */
	NVE_ARENA_BIG_BYTES = 4 << 20, /* a site with more live bytes gets its own */
};

/* Once, after nve_blocks_setup(). 0 or -errno. */
int nve_arena_setup(void);

/* A new arena; site: of kind ARENA_SITE. 0: there is none to be had. Slow. */
uint32_t nve_arena_new(enum nve_heap_arena_kind kind, uint32_t site);

/* The calling thread's blocks without flags come from that arena. */
void nve_arena_enter(uint32_t arena);

/* Flags of an arena without cache, and with a new one; where there is none to be had, without. */
int nve_arena_flags(uint32_t arena);
int nve_arena_flags_cached(uint32_t arena);

void *je_malloc(size_t size);
void *je_mallocx(size_t size, int flags);
void je_sdallocx(void *p, size_t size, int flags);

/* size: not 0. */
static inline void *nve_arena_take(size_t size)
{
	return je_malloc(size);
}

static inline void *nve_arena_take_from(size_t size, int flags)
{
	return je_mallocx(size, flags);
}

/* bytes: its size as rounded. flags: 0 for a block without. */
static inline void nve_arena_give(void *p, size_t bytes, int flags)
{
	je_sdallocx(p, bytes, flags);
}

/* Flags for a block of that size: alignment a power of two, 0 for the usual. Large ones begin at a
 * page. 0: none are needed. */
int nve_arena_flags_for(size_t size, size_t alignment, bool zeroed);

/* What a block of that size and those flags takes; 0: too large. */
size_t nve_arena_rounded(size_t size, int flags);

#endif
