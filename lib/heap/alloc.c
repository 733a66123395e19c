#include "heap/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/log.h"
#include "heap/arena.h"
#include "heap/blocks.h"
#include "heap/caller.h"
#include "heap/counting.h"
#include "heap/shard.h"
#include "heap/sites.h"

enum {
	CACHE_AFTER = 64, /* allocations from a site's arena, before a thread gets a cache of it */
};

static const uint64_t space_bytes = 1ull << 40, space_least = 1ull << NVE_BLOCKS_SEGMENT_SHIFT;

static struct nve_alloc_config config;
static uint64_t started_ticks, started_ns;

/* Of an address space that has a limit, we take a part. */
static uint64_t space_within(uint64_t limit)
{
	uint64_t wanted = space_bytes;

	while (limit != RLIM_INFINITY && wanted > limit / 8)
		wanted /= 2;
	return wanted;
}

static uint64_t space_wanted(void)
{
	struct rlimit limit;

	return space_within(getrlimit(RLIMIT_AS, &limit) ? RLIM_INFINITY : limit.rlim_cur);
}

void nve_alloc_limit(uint64_t bytes)
{
	int error = errno;
	struct nve_shard *s = nve_shard_take();

	/* A handler that has interrupted one of us must not wait for its locks. */
	if (!s)
		return;
	nve_blocks_shrink(space_within(bytes));
	s->busy = false;
	errno = error;
}

int nve_alloc_setup(const struct nve_alloc_config *given)
{
	int rc = nve_sites_setup(given->program);

	config = *given;
	started_ticks = nve_tsc();
	started_ns = nve_clock_ns(CLOCK_MONOTONIC_RAW);
	if (!rc)
		rc = nve_blocks_setup(space_wanted(), space_least);
	if (!rc)
		rc = nve_arena_setup(&config.arenas);
	if (!rc)
		rc = nve_shard_setup();
	if (rc)
		return rc;
	nve_unwind_setup(config.backtrace);
	nve_caller_setup(config.depth);
	return 0;
}

uint64_t nve_alloc_ticks_to_ns(uint64_t ticks)
{
	double elapsed = (double)(nve_tsc() - started_ticks);
	double ns = (double)(nve_clock_ns(CLOCK_MONOTONIC_RAW) - started_ns);

	return (uint64_t)((double)ticks * (elapsed > 0 ? ns / elapsed : 1));
}

/* ---- releasing ---- */

static __attribute__((noreturn)) void die_of(const char *what)
{
	nve_log(NVE_LOG_ERROR, "%s(): invalid pointer", what);
	abort();
}

static int flags_of_block(struct nve_shard *s, uint64_t addr, uint64_t tag)
{
	uint32_t arena;

	if (!(tag & NVE_BLOCKS_OWN))
		return 0;
	arena = (uint32_t)(atomic_load_explicit(&nve_blocks_page(addr)->shape,
						memory_order_relaxed) &
			   0xffff);
	return s->arena_flags[arena] ? s->arena_flags[arena] : nve_arena_flags(arena);
}

/* Small ones wait for their site to ask for them. An empty bin is for whoever comes. */
static inline bool keep(struct nve_shard *s, struct nve_shard_counts *c, void *p, uint64_t bytes,
			uint64_t tag, _Atomic uint64_t *where)
{
	uint32_t key = nve_bins_key(nve_blocks_site(tag), (uint32_t)(bytes / NVE_BLOCKS_UNIT));
	struct nve_bin *bin = nve_bins_of(s->bin, key);

	if (bytes > NVE_BINS_BYTES)
		return false;
	if (!bin->count) {
		bin->key = key;
		bin->counts = c;
	}
	if (!nve_bins_takes(bin, key))
		return false;
	nve_bins_put(bin, p, where, tag & NVE_BLOCKS_KEPT);
	return true;
}

/* The shard is busy. */
static inline __attribute__((always_inline)) void release(struct nve_shard *s, void *p)
{
	uint64_t addr = (uint64_t)(uintptr_t)p, bytes, tag;
	_Atomic uint64_t *where = nve_blocks_where(addr, &bytes);
	struct nve_shard_counts *c;

	tag = atomic_load_explicit(where, memory_order_relaxed);
	if (nve_unlikely(!(tag & NVE_BLOCKS_LIVE)))
		die_of("free");
	atomic_store_explicit(where, 0, memory_order_relaxed);
	c = nve_shard_counts(s, nve_blocks_site(tag));
	nve_counting_given(s, c, tag, bytes);
	if (!keep(s, c, p, bytes, tag, where))
		nve_arena_give(p, bytes, flags_of_block(s, addr, tag));
}

static void release_deferred(struct nve_shard *s)
{
	while (s->deferred)
		release(s, s->deferred_block[--s->deferred]);
}

/* In a handler that has interrupted us; or in a thread that is ending. */
static __attribute__((noinline)) void release_slowly(void *p)
{
	struct nve_shard *s = nve_shard_take();

	if (!s && nve_shard_self) {
		s = nve_shard_self;
		if (s->deferred < NVE_SHARD_DEFERRED)
			s->deferred_block[s->deferred++] = p;
		return;
	}
	if (s) {
		release(s, p);
		s->busy = false;
		return;
	}
	s = nve_shard_borrow();
	if (!s)
		return;
	release(s, p);
	nve_shard_return(s);
}

/* The shard is busy, and no more afterwards. */
static __attribute__((noinline)) void release_normally(struct nve_shard *s, void *p)
{
	release(s, p);
	s->busy = false;
}

/*
 * Most blocks go into a bin. What can be in the way is looked at before anything is changed, and
 * then left to functions that need not come back: so this one needs no stack.
 */
void nve_alloc_free(void *p)
{
	struct nve_shard *s = nve_shard_self;
	uint64_t addr = (uint64_t)(uintptr_t)p, bytes, tag;
	_Atomic uint64_t *where;
	struct nve_bin *bin;
	uint32_t key;

	if (nve_unlikely(!nve_blocks_holds(addr))) {
		config.next.free(p);
		return;
	}
	if (nve_unlikely(!s || s->busy)) {
		release_slowly(p);
		return;
	}
	s->busy = true;
	where = nve_blocks_where(addr, &bytes);
	tag = atomic_load_explicit(where, memory_order_relaxed);
	key = nve_bins_key(nve_blocks_site(tag), (uint32_t)(bytes / NVE_BLOCKS_UNIT));
	bin = nve_bins_of(s->bin, key);
	if (nve_unlikely((tag & (NVE_BLOCKS_LIVE | NVE_BLOCKS_TIMED)) != NVE_BLOCKS_LIVE ||
			 bytes > NVE_BINS_BYTES || !nve_bins_takes(bin, key))) {
		release_normally(s, p);
		return;
	}
	bin->counts->frees++;
	bin->counts->freed_bytes += bytes;
	nve_bins_put(bin, p, where, tag);
	s->busy = false;
}

/* ---- allocating ---- */

struct request {
	size_t size, alignment; /* alignment: 0 for the usual */
	bool zeroed;
};

/* Now and then a block's lifetime is taken, and the answer of the cache of paths looked at. */
static __attribute__((noinline)) uint64_t look_closely(struct nve_shard *s,
						       struct nve_caller caller, uint32_t *site)
{
	s->random = s->random * 1664525 + 1013904223;
	s->tick = 32 + (s->random >> 26);
	if (s->deferred)
		release_deferred(s);
	nve_caller_check(s, caller, s->random >> 28 == 0, site);
	return NVE_BLOCKS_TIMED | (nve_tsc() >> NVE_COUNTING_BIRTH_SHIFT) << NVE_BLOCKS_BIRTH_SHIFT;
}

/* Threads that allocate often enough from a site's arena get a cache of it. */
static int flags_of_site(struct nve_shard *s, struct nve_shard_counts *c, uint32_t site)
{
	uint32_t arena;

	if (!c->flags || c->allocations < CACHE_AFTER)
		return c->flags;
	arena = atomic_load(&nve_sites_entry(site)->arena);
	if (!s->arena_flags[arena])
		s->arena_flags[arena] = nve_arena_flags_cached(arena);
	c->flags = s->arena_flags[arena];
	return c->flags;
}

/* The site of a request, with the block's tag. */
static uint32_t choose_site(struct nve_shard *s, const struct request *r, struct nve_caller caller,
			    uint64_t *tag)
{
	uint32_t site = NVE_HEAP_SITE_NONE;

	*tag = NVE_BLOCKS_LIVE;
	if (r->size >= config.min_bytes)
		site = nve_caller_site(s, caller);
	if (!--s->tick)
		*tag |= look_closely(s, caller, &site);
	*tag |= (uint64_t)site << NVE_BLOCKS_SITE_SHIFT;
	return site;
}

/* A block may be so large that it makes its site big. */
static void settle_before(struct nve_shard *s, struct nve_shard_counts *c, uint32_t site,
			  uint64_t bytes)
{
	if (bytes <= NVE_COUNTING_PUBLISH || c->flags)
		return;
	c->bytes += bytes;
	c->high_bytes = NVE_MAX(c->high_bytes, nve_counting_held(c));
	nve_counting_publish(s, c, site);
	c->bytes -= bytes;
}

static void *take(struct nve_shard *s, const struct request *r, struct nve_caller caller)
{
	int own, flags = nve_arena_flags_for(r->size, r->alignment, r->zeroed);
	size_t bytes = nve_arena_rounded(r->size, flags);
	struct nve_shard_counts *c;
	uint64_t tag;
	uint32_t site;
	void *p;

	if (!bytes)
		return NULL;
	site = choose_site(s, r, caller, &tag);
	c = nve_shard_counts(s, site);
	settle_before(s, c, site, bytes);
	own = flags_of_site(s, c, site);
	p = own | flags ? nve_arena_take_from(r->size, own | flags) : nve_arena_take(r->size);
	if (!p)
		return NULL;
	if (own)
		tag |= NVE_BLOCKS_OWN;
	if (bytes <= NVE_BLOCKS_SMALL_MAX)
		nve_blocks_set((uint64_t)(uintptr_t)p, (uint32_t)bytes, tag);
	else
		nve_blocks_set_pages((uint64_t)(uintptr_t)p, bytes, tag);
	nve_counting_taken(s, c, site, bytes);
	return p;
}

/* Returns NULL where the caller must ask the functions behind. */
static void *allocate(struct request *r, struct nve_caller caller)
{
	struct nve_shard *s = nve_shard_take();
	int error = errno;
	void *p;

	if (!s)
		return NULL;
	r->size = NVE_MAX(r->size, (size_t)NVE_BLOCKS_UNIT);
	p = take(s, r, caller);
	s->busy = false;
	errno = error;
	return p;
}

static __attribute__((noinline)) void *allocate_or(size_t size, struct nve_caller caller)
{
	struct request r = {.size = size};
	void *p = allocate(&r, caller);

	return p ? p : config.next.malloc(size);
}

void *nve_alloc_called(size_t size, const struct nve_caller *caller)
{
	return allocate_or(size, *caller);
}

/* By size in units of 16 bytes, the allocator's, in the same. */
static const uint8_t rounded_units[NVE_BINS_BYTES / NVE_BLOCKS_UNIT + 1] = {
	1,  1,  2,  3,  4,  5,  6,  7,  8,  10, 10, 12, 12, 14, 14, 16, 16,
	20, 20, 20, 20, 24, 24, 24, 24, 28, 28, 28, 28, 32, 32, 32, 32,
};

/* bytes: as rounded. */
static inline void *take_small(struct nve_shard *s, struct nve_shard_counts *c, uint32_t site,
			       uint32_t bytes, uint64_t tag)
{
	uint32_t key = nve_bins_key(site, bytes / NVE_BLOCKS_UNIT);
	struct nve_bin *bin = nve_bins_of(s->bin, key);
	void *p;

	if (bytes <= NVE_BINS_BYTES && nve_bins_has(bin, key))
		return nve_bins_get(bin, tag);
	tag |= (uint64_t)site << NVE_BLOCKS_SITE_SHIFT;
	if (nve_unlikely(c->flags)) {
		p = nve_arena_take_from(bytes, flags_of_site(s, c, site));
		tag |= NVE_BLOCKS_OWN;
	} else {
		p = nve_arena_take(bytes);
	}
	if (nve_likely(p != NULL))
		nve_blocks_set((uint64_t)(uintptr_t)p, bytes, tag);
	return p;
}

static __attribute__((noinline)) void *allocate_small(size_t size, struct nve_caller caller)
{
	struct nve_shard *s = nve_shard_self;
	struct nve_shard_counts *c;
	uint32_t bytes, site;
	uint64_t tag = NVE_BLOCKS_LIVE;
	void *p;

	if (nve_unlikely(size > NVE_BLOCKS_SMALL_MAX || size < config.min_bytes || !s || s->busy))
		return allocate_or(size, caller);
	s->busy = true;
	bytes = nve_blocks_rounded((uint32_t)NVE_MAX(size, (size_t)NVE_BLOCKS_UNIT));
	site = nve_caller_site(s, caller);
	if (nve_unlikely(!--s->tick))
		tag |= look_closely(s, caller, &site);
	c = nve_shard_counts(s, site);
	p = take_small(s, c, site, bytes, tag);
	if (nve_likely(p != NULL))
		nve_counting_taken(s, c, site, bytes);
	s->busy = false;
	return nve_likely(p != NULL) ? p : config.next.malloc(size);
}

/* The site has more than ever since it was published. The shard is busy, and no more afterwards. */
static __attribute__((noinline)) void *note_high(struct nve_shard *s, struct nve_shard_counts *c,
						 uint32_t site, void *p)
{
	c->high_bytes = nve_counting_held(c);
	if (c->high_bytes - c->published_bytes > NVE_COUNTING_PUBLISH)
		nve_counting_publish(s, c, site);
	s->busy = false;
	return p;
}

/* As nve_alloc_free(): most blocks come from a bin. */
void *nve_alloc_malloc(size_t size)
{
	struct nve_caller caller = NVE_CALLER();
	struct nve_shard *s = nve_shard_self;
	const struct nve_shard_path *path;
	struct nve_shard_counts *c;
	struct nve_bin *bin;
	uint32_t units, key;
	void *p;

	if (nve_unlikely(!s || size > NVE_BINS_BYTES || size < config.min_bytes || s->busy))
		return allocate_small(size, caller);
	path = nve_caller_path(s, caller);
	if (nve_unlikely(s->tick == 1 || !nve_caller_is_likely(path, caller)))
		return allocate_small(size, caller);
	s->busy = true;
	units = rounded_units[(size + NVE_BLOCKS_UNIT - 1) / NVE_BLOCKS_UNIT];
	key = nve_bins_key(path->site, units);
	bin = nve_bins_of(s->bin, key);
	if (nve_unlikely(!nve_bins_has(bin, key))) {
		s->busy = false;
		return allocate_small(size, caller);
	}
	s->tick--;
	p = nve_bins_get(bin, NVE_BLOCKS_LIVE);
	c = bin->counts;
	c->allocations++;
	c->bytes += units * NVE_BLOCKS_UNIT;
	if (nve_unlikely(nve_counting_held(c) > c->high_bytes))
		return note_high(s, c, path->site, p);
	s->busy = false;
	return p;
}

void *nve_alloc_calloc(size_t count, size_t size)
{
	struct nve_caller caller = NVE_CALLER();
	struct request r = {.zeroed = true};
	void *p = NULL;

	if (!__builtin_mul_overflow(count, size, &r.size))
		p = allocate(&r, caller);
	return p ? p : config.next.calloc(count, size);
}

static bool is_power_of_two(size_t x)
{
	return x && !(x & (x - 1));
}

static void *allocate_aligned(size_t alignment, size_t size, struct nve_caller caller)
{
	struct request r = {.size = size, .alignment = alignment};
	void *p = NULL;

	/* The C library has answers of its own to what is none. */
	if (is_power_of_two(alignment) && size <= PTRDIFF_MAX - alignment)
		p = allocate(&r, caller);
	return p ? p : config.next.memalign(alignment, size);
}

void *nve_alloc_aligned(size_t alignment, size_t size)
{
	struct nve_caller caller = NVE_CALLER();

	return allocate_aligned(alignment, size, caller);
}

int nve_alloc_posix_memalign(void **p, size_t alignment, size_t size)
{
	struct nve_caller caller = NVE_CALLER();
	int error = errno;
	void *found;

	if (!is_power_of_two(alignment) || alignment % sizeof(void *))
		return EINVAL;
	found = allocate_aligned(alignment, size, caller);
	errno = error;
	if (!found)
		return ENOMEM;
	*p = found;
	return 0;
}

void *nve_alloc_valloc(size_t size)
{
	struct nve_caller caller = NVE_CALLER();

	return allocate_aligned(NVE_PAGE_BYTES, size, caller);
}

void *nve_alloc_pvalloc(size_t size)
{
	struct nve_caller caller = NVE_CALLER();
	size_t pages = (size + NVE_PAGE_BYTES - 1) & ~(size_t)(NVE_PAGE_BYTES - 1);

	if (pages < size) {
		errno = ENOMEM;
		return NULL;
	}
	return allocate_aligned(NVE_PAGE_BYTES, pages, caller);
}

size_t nve_alloc_usable_size(void *p)
{
	uint64_t bytes;

	if (!nve_blocks_holds((uint64_t)(uintptr_t)p))
		return config.next.malloc_usable_size(p);
	nve_blocks_where((uint64_t)(uintptr_t)p, &bytes);
	return bytes;
}

/* ---- changing sizes ---- */

/* A block of other allocators comes to us; *bytes: what of it is worth keeping. */
static void *move(void *p, size_t size, struct nve_caller caller)
{
	struct request r = {.size = size};
	size_t old = nve_alloc_usable_size(p);
	void *moved = allocate(&r, caller);

	if (!moved && !nve_blocks_holds((uint64_t)(uintptr_t)p))
		return config.next.realloc(p, size);
	if (!moved)
		moved = config.next.malloc(size);
	if (!moved)
		return NULL;
	memcpy(moved, p, NVE_MIN(old, size));
	nve_alloc_free(p);
	return moved;
}

/* A block that keeps its size class stays where it is, and its site's. */
static bool fits(void *p, size_t size)
{
	uint64_t addr = (uint64_t)(uintptr_t)p, bytes;

	if (!nve_blocks_holds(addr) || size > PTRDIFF_MAX)
		return false;
	nve_blocks_where(addr, &bytes);
	return size <= bytes && (bytes == NVE_BLOCKS_UNIT || nve_arena_rounded(size, 0) == bytes);
}

static void *change(void *p, size_t size, struct nve_caller caller)
{
	if (!size) {
		nve_alloc_free(p);
		return NULL;
	}
	return fits(p, size) ? p : move(p, size, caller);
}

void *nve_alloc_realloc(void *p, size_t size)
{
	struct nve_caller caller = NVE_CALLER();

	return p ? change(p, size, caller) : allocate_or(size, caller);
}

void *nve_alloc_reallocarray(void *p, size_t count, size_t size)
{
	struct nve_caller caller = NVE_CALLER();

	if (__builtin_mul_overflow(count, size, &size)) {
		errno = ENOMEM;
		return NULL;
	}
	return p ? change(p, size, caller) : allocate_or(size, caller);
}

void nve_alloc_in_loader(int enter)
{
	struct nve_shard *s = nve_shard_take();

	if (!s)
		return;
	s->in_loader = enter != 0;
	s->busy = false;
}
