/*
 * From a call of an allocation function to its site: by the call paths that the thread came by
 * last, else by unwinding.
 *
 * A path in the cache is found by its caller and frame, and believed only if all of its return
 * addresses stand where they stood. That is as good as unwinding but for an address left over on
 * the stack from earlier that was taken for the real one when the path was kept.
 *
 * For small blocks the innermost addresses must do: with caller and frame they nearly always tell
 * paths apart. One allocation in some 64 is looked at closely: paths that have been taken for each
 * other are compared whole from then on. A part of those is unwound, and the report has the count
 * of answers that were wrong.
 */
#ifndef NVE_HEAP_CALLER_H
#define NVE_HEAP_CALLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "heap/shard.h"

struct nve_caller {
	uint64_t address; /* where the call returns to */
	uint64_t frame;   /* the caller's stack pointer */
};

/* Of the function that it stands in, which must not be inlined. */
#define NVE_CALLER()                                                                               \
	{                                                                                          \
		.address = (uint64_t)(uintptr_t)__builtin_return_address(0),                       \
		.frame = (uint64_t)(uintptr_t)__builtin_dwarf_cfa(),                               \
	}

void nve_caller_setup(uint32_t depth);

/* The path's number is not in the cache. */
uint32_t nve_caller_site_slowly(struct nve_shard *s, struct nve_caller caller);

/* The site of a call that maps memory, always unwound. */
uint32_t nve_caller_mapped(struct nve_shard *s, struct nve_caller caller);

/* Looks closely at what the cache has said; unwinds: most closely. */
void nve_caller_check(struct nve_shard *s, struct nve_caller caller, bool unwinds, uint32_t *site);

static inline struct nve_shard_path *nve_caller_path(struct nve_shard *s, struct nve_caller caller)
{
	uint64_t key = (caller.address ^ caller.frame << 7) * 0x9e3779b97f4a7c15ull;

	return &s->path[key >> 54];
}

static inline bool nve_caller_is(const struct nve_shard_path *path, struct nve_caller caller)
{
	const uint64_t *stack = (const uint64_t *)(uintptr_t)caller.frame;

	if (path->caller != caller.address || path->frame != caller.frame)
		return false;
	for (uint32_t i = 0; i < path->checks; i++) {
		if (stack[path->slot[i]] != path->address[i])
			return false;
	}
	return true;
}

/* As far as it goes for a small block; false: it takes the whole. */
static inline bool nve_caller_is_likely(const struct nve_shard_path *path, struct nve_caller caller)
{
	const uint64_t *stack = (const uint64_t *)(uintptr_t)caller.frame;

	if (nve_unlikely(path->caller != caller.address || path->frame != caller.frame ||
			 !path->quick))
		return false;
	return stack[path->slot[0]] == path->address[0] &&
	       stack[path->slot[1]] == path->address[1] && stack[path->slot[2]] == path->address[2];
}

/* The site of the call. The shard is busy. */
static inline uint32_t nve_caller_site(struct nve_shard *s, struct nve_caller caller)
{
	const struct nve_shard_path *path = nve_caller_path(s, caller);

	if (nve_unlikely(!nve_caller_is(path, caller)))
		return nve_caller_site_slowly(s, caller);
	return path->site;
}

#endif
