/*
 * Arenas: who carves blocks out of the memory of blocks.h. They are jemalloc's, in a
 * library of its own.
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

/* jemalloc's functions, of its manual. */
struct nve_arena_functions {
	void *(*malloc)(size_t size);
	void *(*mallocx)(size_t size, int flags);
	void (*sdallocx)(void *p, size_t size, int flags);
	size_t (*nallocx)(size_t size, int flags);
	int (*mallctl)(const char *name, void *old, size_t *old_size, void *new, size_t new_size);
	int (*mallctlnametomib)(const char *name, size_t *mib, size_t *length);
	int (*mallctlbymib)(const size_t *mib, size_t length, void *old, size_t *old_size,
			    void *new, size_t new_size);
};

extern struct nve_arena_functions nve_arena_functions;

/* Once, after nve_blocks_setup(). 0 or -errno. */
int nve_arena_setup(const struct nve_arena_functions *functions);

/* A new arena; site: of kind ARENA_SITE. 0: there is none to be had. Slow. */
uint32_t nve_arena_new(enum nve_heap_arena_kind kind, uint32_t site);

/* The calling thread's blocks without flags come from that arena. */
void nve_arena_enter(uint32_t arena);

/* Flags of an arena without cache, and with a new one; where there is none to be had, without. */
int nve_arena_flags(uint32_t arena);
int nve_arena_flags_cached(uint32_t arena);

/* Around a fork. */
void nve_arena_before_fork(void);
void nve_arena_after_fork(void);

/* size: not 0. */
static inline void *nve_arena_take(size_t size)
{
	return nve_arena_functions.malloc(size);
}

static inline void *nve_arena_take_from(size_t size, int flags)
{
	return nve_arena_functions.mallocx(size, flags);
}

/* bytes: its size as rounded. flags: 0 for a block without. */
static inline void nve_arena_give(void *p, size_t bytes, int flags)
{
	nve_arena_functions.sdallocx(p, bytes, flags);
}

/* Flags for a block of that size: alignment a power of two, 0 for the usual. Large ones begin at a
 * page. 0: none are needed. */
int nve_arena_flags_for(size_t size, size_t alignment, bool zeroed);

/* What a block of that size and those flags takes; 0: too large. */
size_t nve_arena_rounded(size_t size, int flags);

#endif
