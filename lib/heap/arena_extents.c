/*
 * Where jemalloc's arenas have their memory from. The signatures are jemalloc's.
 */
#define JEMALLOC_NO_RENAME
#include "heap/arena_extents.h"

#include <sys/mman.h>

#include "heap/arena.h"
#include "heap/blocks.h"

static void *grow(extent_hooks_t *hooks, void *wanted, size_t size, size_t alignment, bool *zero,
		  bool *commit, unsigned index)
{
	void *p;

	(void)hooks;
	if (wanted || index + 1 >= NVE_ARENA_MAX)
		return NULL;
	p = nve_blocks_grow(size, alignment, index + 1);
	if (!p)
		return NULL;
	*zero = true;
	*commit = true;
	nve_arena_grown(index + 1, size);
	return p;
}

/* Arenas keep what they have. */
static bool keep(extent_hooks_t *hooks, void *p, size_t size, bool committed, unsigned index)
{
	(void)hooks;
	(void)p;
	(void)size;
	(void)committed;
	(void)index;
	return true;
}

static bool purge(extent_hooks_t *hooks, void *p, size_t size, size_t offset, size_t length,
		  unsigned index)
{
	(void)hooks;
	(void)size;
	(void)index;
	return madvise((char *)p + offset, length, MADV_DONTNEED) != 0;
}

static bool split(extent_hooks_t *hooks, void *p, size_t size, size_t first, size_t second,
		  bool committed, unsigned index)
{
	(void)hooks;
	(void)p;
	(void)size;
	(void)first;
	(void)second;
	(void)committed;
	(void)index;
	return false;
}

/* Neighbours within an arena: all are of one reservation. */
static bool merge(extent_hooks_t *hooks, void *first, size_t first_size, void *second,
		  size_t second_size, bool committed, unsigned index)
{
	(void)hooks;
	(void)first;
	(void)first_size;
	(void)second;
	(void)second_size;
	(void)committed;
	(void)index;
	return false;
}

extent_hooks_t nve_arena_extents = {
	.alloc = grow,
	.dalloc = keep,
	.purge_forced = purge,
	.split = split,
	.merge = merge,
};
