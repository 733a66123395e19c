/*
 * The allocation family itself, with the behaviour of the C library's, for those whose hooks are
 * called instead of it. Each block's site is the call path of the function's caller.
 *
 * What is not ours (blocks from before the start, or of another allocator) goes to the functions
 * given at setup, and so does everything that we cannot serve: in a signal handler that has
 * interrupted one of these, in a thread that is ending, or without memory.
 */
#ifndef NVE_HEAP_ALLOC_H
#define NVE_HEAP_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#include "heap/arena.h"
#include "heap/unwind.h"

/* The functions behind ours. */
struct nve_alloc_next {
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t count, size_t size);
	void *(*realloc)(void *p, size_t size);
	void (*free)(void *p);
	void *(*memalign)(size_t alignment, size_t size);
	size_t (*malloc_usable_size)(void *p);
};

struct nve_alloc_config {
	struct nve_alloc_next next;
	struct nve_arena_functions arenas;
	nve_unwind_fn *backtrace; /* NULL: sites are callers alone */
	uint32_t depth;           /* frames of a site, 1 to NVE_HEAP_DEPTH_MAX */
	uint64_t min_bytes;       /* smaller blocks have no site */
	const char *program;      /* full name of the program's file */
};

/* Once, with one thread. 0 or -errno; then nothing of it may be used. */
int nve_alloc_setup(const struct nve_alloc_config *config);

void *nve_alloc_malloc(size_t size);
void *nve_alloc_calloc(size_t count, size_t size);
void *nve_alloc_realloc(void *p, size_t size);
void *nve_alloc_reallocarray(void *p, size_t count, size_t size);
void nve_alloc_free(void *p);
void *nve_alloc_aligned(size_t alignment, size_t size); /* memalign and aligned_alloc */
int nve_alloc_posix_memalign(void **p, size_t alignment, size_t size);
void *nve_alloc_valloc(size_t size);
void *nve_alloc_pvalloc(size_t size);
size_t nve_alloc_usable_size(void *p);

/* malloc() of that caller. */
struct nve_caller;
void *nve_alloc_called(size_t size, const struct nve_caller *caller);

/* The process is about to limit its address space to so many bytes (UINT64_MAX: not): of what we
 * have reserved, as much as such a limit leaves is kept. Blocks beyond that have no sites. */
void nve_alloc_limit(uint64_t bytes);

/* By the rate of the counter since setup. */
uint64_t nve_alloc_ticks_to_ns(uint64_t ticks);

/* The calling thread may hold locks of the loader from now on, and no more: it does not unwind. */
void nve_alloc_in_loader(int enter);

#endif
