#define JEMALLOC_NO_RENAME
#include "heap/arena.h"

#include <errno.h>
#include <jemalloc/jemalloc.h>
#include <stdatomic.h>
#include <string.h>

#include "base/base.h"
#include "heap/arena_extents.h"
#include "heap/blocks.h"
#include "heap/lock.h"

struct nve_arena_functions nve_arena_functions;

static struct {
	struct nve_lock lock;
	_Atomic uint32_t count; /* arenas are numbered from 1: one more than jemalloc's */
	uint32_t of_sites;
	struct {
		enum nve_heap_arena_kind kind;
		uint32_t site;
		_Atomic uint64_t mapped_bytes;
	} arena[NVE_ARENA_MAX];
	size_t page_bytes, large_bytes; /* jemalloc's page, and the least block of whole ones */
	size_t thread_arena[2], tcache_create[2], arenas_create[2]; /* mibs */
} state;

static void (*on_grown)(uint32_t arena, void *start, uint64_t bytes);

void nve_arena_on_grown(void (*grown)(uint32_t arena, void *start, uint64_t bytes))
{
	on_grown = grown;
}

void nve_arena_grown(uint32_t arena, void *start, uint64_t bytes)
{
	atomic_fetch_add(&state.arena[arena].mapped_bytes, bytes);
	if (on_grown)
		on_grown(arena, start, bytes);
}

static int find_mib(const char *name, size_t mib[2])
{
	size_t length = 2;

	return -nve_arena_functions.mallctlnametomib(name, mib, &length);
}

static size_t value_of(const char *name)
{
	size_t value = 0, size = sizeof(value);

	nve_arena_functions.mallctl(name, &value, &size, NULL, 0);
	return value;
}

/* Our tables know sizes without asking. */
static int check_sizes(void)
{
	for (uint32_t size = NVE_BLOCKS_UNIT; size <= NVE_BLOCKS_SMALL_MAX; size += 8) {
		if (nve_arena_functions.nallocx(size, 0) != nve_blocks_rounded(size))
			return -ENOTSUP;
	}
	return 0;
}

int nve_arena_setup(const struct nve_arena_functions *functions)
{
	extent_hooks_t *ours = &nve_arena_extents;
	int rc;

	nve_arena_functions = *functions;
	rc = -functions->mallctl("arena.0.extent_hooks", NULL, NULL, &ours, sizeof(ours));

	state.count = 2;
	state.page_bytes = value_of("arenas.page");
	state.large_bytes = value_of("arenas.lextent.0.size");
	state.arena[1].kind = NVE_HEAP_ARENA_THREAD;
	if (!rc)
		rc = find_mib("thread.arena", state.thread_arena);
	if (!rc)
		rc = find_mib("tcache.create", state.tcache_create);
	if (!rc)
		rc = find_mib("arenas.create", state.arenas_create);
	return rc ? rc : check_sizes();
}

static bool reserve(enum nve_heap_arena_kind kind)
{
	bool site = kind == NVE_HEAP_ARENA_SITE, granted;

	nve_lock_take(&state.lock);
	granted = !site || state.of_sites < NVE_ARENA_SITES;
	state.of_sites += granted && site;
	nve_lock_release(&state.lock);
	return granted;
}

void nve_arena_before_fork(void)
{
	nve_lock_take(&state.lock);
}

void nve_arena_after_fork(void)
{
	nve_lock_release(&state.lock);
}

uint32_t nve_arena_new(enum nve_heap_arena_kind kind, uint32_t site)
{
	extent_hooks_t *ours = &nve_arena_extents;
	unsigned index;
	size_t size = sizeof(index);
	uint32_t id, count;

	if (!reserve(kind) || atomic_load(&state.count) >= NVE_ARENA_MAX - 1 ||
	    nve_arena_functions.mallctlbymib(state.arenas_create, 2, &index, &size, &ours,
					     sizeof(ours)) ||
	    index + 1 >= NVE_ARENA_MAX)
		return 0;
	id = index + 1;
	state.arena[id].kind = kind;
	state.arena[id].site = site;
	count = atomic_load(&state.count);
	while (count < id + 1 && !atomic_compare_exchange_weak(&state.count, &count, id + 1))
		;
	return id;
}

void nve_arena_enter(uint32_t arena)
{
	unsigned index = arena - 1;

	nve_arena_functions.mallctlbymib(state.thread_arena, 2, NULL, NULL, &index, sizeof(index));
}

int nve_arena_flags(uint32_t arena)
{
	return MALLOCX_ARENA((int)arena - 1) | MALLOCX_TCACHE_NONE;
}

int nve_arena_flags_cached(uint32_t arena)
{
	unsigned cache;
	size_t size = sizeof(cache);

	if (nve_arena_functions.mallctlbymib(state.tcache_create, 2, &cache, &size, NULL, 0))
		return nve_arena_flags(arena);
	return MALLOCX_ARENA((int)arena - 1) | MALLOCX_TCACHE((int)cache);
}

/* A block of whole pages without alignment would begin somewhere in its first page. */
int nve_arena_flags_for(size_t size, size_t alignment, bool zeroed)
{
	if (nve_arena_functions.nallocx(size, alignment ? MALLOCX_ALIGN(alignment) : 0) >=
	    state.large_bytes)
		alignment = NVE_MAX(alignment, state.page_bytes);
	return (alignment ? MALLOCX_ALIGN(alignment) : 0) | (zeroed ? MALLOCX_ZERO : 0);
}

size_t nve_arena_rounded(size_t size, int flags)
{
	return nve_arena_functions.nallocx(size, flags);
}

uint32_t nve_heap_arena_count(void)
{
	return atomic_load(&state.count);
}

int nve_heap_arena(uint32_t id, struct nve_heap_arena *arena)
{
	if (!id || id >= atomic_load(&state.count))
		return -ENOENT;
	arena->kind = state.arena[id].kind;
	arena->site = state.arena[id].site;
	arena->mapped_bytes = atomic_load(&state.arena[id].mapped_bytes);
	return 0;
}
