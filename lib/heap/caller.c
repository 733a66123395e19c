#include "heap/caller.h"

#include "heap/unwind.h"

_Static_assert(NVE_SHARD_PATHS == 1 << (64 - 54), "as many as nve_caller_path() tells apart");

static uint32_t depth = 1;

void nve_caller_setup(uint32_t given)
{
	depth = given;
}

static uint32_t by_caller(struct nve_shard *s, struct nve_caller caller)
{
	s->tally.by_caller++;
	return nve_sites_of_path(NVE_HEAP_BLOCK, &caller.address, 1);
}

/* Where on the stack the return addresses stand. False: not all of them were found. */
static bool find_slots(const struct nve_shard *s, struct nve_shard_path *path, uint32_t count)
{
	const uint64_t *stack = (const uint64_t *)(uintptr_t)path->frame;
	uint64_t end = (s->stack_high - path->frame) / sizeof(*stack), word = 0;

	end = NVE_MIN(end, (uint64_t)UINT16_MAX);
	for (uint32_t i = 0; i < count; i++, word++) {
		while (word < end && stack[word] != path->address[i])
			word++;
		if (word == end)
			return false;
		path->slot[i] = (uint16_t)word;
	}
	return true;
}

/* caller, the key that readers see first, is written last: a fork may come in between. */
static void keep(struct nve_shard *s, struct nve_caller caller, const uint64_t *address,
		 uint32_t count, uint32_t site)
{
	struct nve_shard_path *path = nve_caller_path(s, caller);
	volatile uint64_t *key = &path->caller;

	path->ambiguous =
		path->caller == caller.address && path->frame == caller.frame && path->site != site;
	*key = 0;
	if (!site || count > NVE_SHARD_PATH_DEPTH)
		return;
	path->frame = caller.frame;
	path->site = site;
	for (uint32_t i = 1; i < count; i++)
		path->address[i - 1] = address[i];
	if (!find_slots(s, path, count - 1))
		return;
	path->checks = (uint16_t)(count - 1);
	for (uint32_t i = count - 1; path->checks && i < NVE_SHARD_PATH_QUICK; i++) {
		path->address[i] = path->address[i - 1];
		path->slot[i] = path->slot[i - 1];
	}
	path->quick = !path->ambiguous && path->checks;
	*key = caller.address;
}

/* Frames of other stacks (coroutines) are not looked for: what is above them is not known. */
static bool may_unwind(const struct nve_shard *s, struct nve_caller caller)
{
	return !s->in_loader && caller.frame - s->stack_low < s->stack_high - s->stack_low;
}

uint32_t nve_caller_site_slowly(struct nve_shard *s, struct nve_caller caller)
{
	uint64_t address[NVE_HEAP_DEPTH_MAX];
	uint32_t count = 0, site;
	struct nve_sites_entry *e;

	address[0] = caller.address;
	if (may_unwind(s, caller))
		count = depth == 1 ? 1 : nve_unwind(caller.address, address, depth);
	site = count ? nve_sites_of_path(NVE_HEAP_BLOCK, address, count) : by_caller(s, caller);
	if (count) {
		s->tally.by_unwinding[count]++;
		keep(s, caller, address, count, site);
	}
	s->tally.unattributed += !site;
	e = nve_sites_entry(site);
	if (e)
		nve_shard_settle(s, nve_shard_counts(s, site), e, site);
	return site;
}

uint32_t nve_caller_mapped(struct nve_shard *s, struct nve_caller caller)
{
	uint64_t address[NVE_HEAP_DEPTH_MAX] = {caller.address};
	uint32_t count = may_unwind(s, caller) ? nve_unwind(caller.address, address, depth) : 1;

	return nve_sites_of_path(NVE_HEAP_MAPPED, address, NVE_MAX(count, 1u));
}

void nve_caller_check(struct nve_shard *s, struct nve_caller caller, bool unwinds, uint32_t *site)
{
	struct nve_shard_path *path = nve_caller_path(s, caller);
	uint64_t address[NVE_HEAP_DEPTH_MAX];
	uint32_t count, unwound;

	if (s->generation != nve_sites_generation()) {
		s->generation = nve_sites_generation();
		for (uint32_t i = 0; i < NVE_SHARD_PATHS; i++)
			s->path[i].caller = 0;
		return;
	}
	if (!unwinds || path->site != *site || !path->checks || !nve_caller_is(path, caller))
		return;
	count = nve_unwind(caller.address, address, depth);
	unwound = count ? nve_sites_of_path(NVE_HEAP_BLOCK, address, count) : NVE_HEAP_SITE_NONE;
	s->tally.checked++;
	if (!unwound || unwound == *site)
		return;
	s->tally.wrong++;
	path->caller = 0;
	*site = unwound;
}
