#include "heap/shard.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "heap/lock.h"
#include "heap/pool.h"

enum { MAIN_STACK_BYTES = 64 << 20 }; /* looked at, of a stack without limit */

__thread struct nve_shard *nve_shard_self;
static __thread bool ended; /* the thread has no shard: that is somebody else's by now */

extern void *__libc_stack_end; /* of the C library: where the main thread's stack began */

static struct {
	struct nve_lock lock;
	struct nve_shard *_Atomic first;
	struct nve_shard *first_free;
	/* In a forked child, from this one on: of threads that it does not have. */
	struct nve_shard *_Atomic forgotten;
	struct nve_shard *forker; /* but for this one */
	pthread_key_t key;
	bool has_key;
	uint32_t arenas, made; /* of threads: asked for, and had */
	uint32_t arena[NVE_ARENA_THREADS];
	uint32_t shared; /* how often one has been had by another thread, too */
} state;

static void on_end(void *unused)
{
	struct nve_shard *s = nve_shard_self;

	(void)unused;
	ended = true;
	nve_shard_self = NULL;
	if (s)
		nve_shard_return(s);
}

int nve_shard_setup(void)
{
	int rc = -pthread_key_create(&state.key, on_end);

	state.has_key = rc == 0;
	return rc;
}

static void find_stack(struct nve_shard *s)
{
	struct rlimit limit;
	pthread_attr_t attr;
	void *low;
	size_t size;

	s->stack_low = s->stack_high = 0;
	if (syscall(SYS_gettid) == getpid()) {
		size = MAIN_STACK_BYTES;
		if (!getrlimit(RLIMIT_STACK, &limit))
			size = NVE_MIN(size, (size_t)limit.rlim_cur);
		s->stack_high = (uint64_t)(uintptr_t)__libc_stack_end;
		s->stack_low = s->stack_high - size;
		return;
	}
	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &low, &size)) {
		s->stack_low = (uint64_t)(uintptr_t)low;
		s->stack_high = s->stack_low + size;
	}
	pthread_attr_destroy(&attr);
}

static struct nve_shard *make(void)
{
	struct nve_shard *s = nve_pool_map(sizeof(*s));

	if (!s)
		return NULL;
	s->random = 1;
	s->tick = 1;
	nve_lock_take(&state.lock);
	s->next = state.first;
	atomic_store(&state.first, s);
	nve_lock_release(&state.lock);
	return s;
}

/* What its thread was doing stays half done: nobody uses its caches again. */
static void clear(struct nve_shard *s)
{
	for (uint32_t i = 0; i < NVE_ARENA_MAX; i++)
		s->arena_flags[i] = 0;
	for (uint32_t i = 0; i < NVE_SITES_MAX / NVE_SITES_CHUNK; i++) {
		struct nve_shard_counts *chunk = s->chunk[i];

		for (uint32_t k = 0; chunk && k < NVE_SITES_CHUNK; k++)
			chunk[k].flags = 0;
	}
	for (uint32_t i = 0; i < NVE_BINS; i++)
		s->bin[i].count = 0;
	s->deferred = 0;
	s->in_loader = false;
	s->busy = false;
	s->stack_low = s->stack_high = 0;
}

/* Under the lock. */
static struct nve_shard *take_forgotten(void)
{
	struct nve_shard *s = atomic_load(&state.forgotten);

	if (s && s == state.forker)
		s = s->next;
	if (!s)
		return NULL;
	clear(s);
	atomic_store(&state.forgotten, s->next);
	return s;
}

static struct nve_shard *take_free(void)
{
	struct nve_shard *s;

	nve_lock_take(&state.lock);
	s = state.first_free;
	if (s)
		state.first_free = s->next_free;
	else
		s = take_forgotten();
	nve_lock_release(&state.lock);
	return s ? s : make();
}

struct nve_shard *nve_shard_borrow(void)
{
	struct nve_shard *s = take_free();

	if (s)
		s->busy = true;
	return s;
}

void nve_shard_return(struct nve_shard *s)
{
	s->stack_low = s->stack_high = 0;
	s->in_loader = false;
	s->busy = false;
	nve_lock_take(&state.lock);
	s->next_free = state.first_free;
	state.first_free = s;
	nve_lock_release(&state.lock);
}

/* Shards are as many as threads at a time; where no more arenas are to be had, they share them.
 * jemalloc's first is nobody's: it has memory from before it was told where ours is. */
static void give_arena(struct nve_shard *s)
{
	bool more;

	nve_lock_take(&state.lock);
	more = state.arenas < NVE_ARENA_THREADS;
	state.arenas += more;
	nve_lock_release(&state.lock);
	if (more)
		s->arena = nve_arena_new(NVE_HEAP_ARENA_THREAD, NVE_HEAP_SITE_NONE);
	nve_lock_take(&state.lock);
	if (s->arena)
		state.arena[state.made++] = s->arena;
	else if (state.made)
		s->arena = state.arena[state.shared++ % state.made];
	nve_lock_release(&state.lock);
}

static struct nve_shard *begin(void)
{
	struct nve_shard *s;

	if (ended || !state.has_key)
		return NULL;
	s = take_free();
	if (!s)
		return NULL;
	s->busy = true;
	nve_shard_self = s;
	if (!s->arena)
		give_arena(s);
	if (!s->arena) {
		on_end(NULL);
		return NULL;
	}
	pthread_setspecific(state.key, s);
	find_stack(s);
	nve_arena_enter(s->arena);
	return s;
}

struct nve_shard *nve_shard_take(void)
{
	struct nve_shard *s = nve_shard_self;

	if (!s)
		return begin();
	if (s->busy)
		return NULL;
	s->busy = true;
	return s;
}

struct nve_shard_counts *nve_shard_counts_slowly(struct nve_shard *s, uint32_t site)
{
	struct nve_shard_counts *chunk = s->chunk[site / NVE_SITES_CHUNK];

	if (!chunk) {
		chunk = nve_pool_map(NVE_SITES_CHUNK * sizeof(*chunk));
		atomic_store(&s->chunk[site / NVE_SITES_CHUNK], chunk);
	}
	return chunk ? chunk + site % NVE_SITES_CHUNK : &s->nowhere;
}

void nve_shard_settle(struct nve_shard *s, struct nve_shard_counts *c, struct nve_sites_entry *e,
		      uint32_t site)
{
	bool big = e->pinned || atomic_load(&e->live_bytes) > NVE_ARENA_BIG_BYTES;
	uint32_t arena = atomic_load(&e->arena);

	if (!arena && big && e->kind == NVE_HEAP_BLOCK && !atomic_exchange(&e->promoting, true)) {
		arena = nve_arena_new(NVE_HEAP_ARENA_SITE, site);
		atomic_store(&e->arena, arena);
	}
	if (arena && !c->flags)
		c->flags = s->arena_flags[arena] ? s->arena_flags[arena] : nve_arena_flags(arena);
}

void nve_shard_before_fork(void)
{
	nve_lock_take(&state.lock);
}

/* The child has none of the other threads. To clear their shards would make as many pages its own:
 * that is done to those that it takes. */
void nve_shard_after_fork(bool child)
{
	if (child) {
		state.first_free = NULL;
		state.forker = nve_shard_self;
		atomic_store(&state.forgotten, atomic_load(&state.first));
	}
	nve_lock_release(&state.lock);
}

bool nve_shard_is_stack(uint64_t addr, uint64_t *start, uint64_t *end)
{
	const struct nve_shard *forgotten = atomic_load(&state.forgotten);
	bool gone = false;

	for (struct nve_shard *s = atomic_load(&state.first); s; s = s->next) {
		gone = gone || s == forgotten;
		if (gone && s != state.forker)
			continue;
		*start = s->stack_low;
		*end = s->stack_high;
		if (addr - *start < *end - *start)
			return true;
	}
	return false;
}

void nve_shard_sum(uint32_t site, struct nve_shard_sums *sums)
{
	*sums = (struct nve_shard_sums){0};
	for (struct nve_shard *s = atomic_load(&state.first); s; s = s->next) {
		const struct nve_shard_counts *chunk = s->chunk[site / NVE_SITES_CHUNK], *c;

		if (!chunk)
			continue;
		c = chunk + site % NVE_SITES_CHUNK;
		sums->live_bytes += (int64_t)(c->bytes - c->freed_bytes) - c->published_bytes;
		sums->high_bytes += NVE_MAX(c->high_bytes - c->published_bytes, (int64_t)0);
		sums->allocations += c->allocations;
		sums->frees += c->frees;
		sums->bytes += c->bytes;
		sums->lifetimes += c->lifetimes;
		sums->lifetime_ticks += c->lifetime_ticks;
	}
}

/* In all sites. */
static uint64_t blocks_allocated(void)
{
	uint64_t sum = 0;

	for (uint32_t site = 1; site < nve_heap_site_count(); site++) {
		struct nve_shard_sums sums;

		if (nve_sites_entry(site)->kind != NVE_HEAP_BLOCK)
			continue;
		nve_shard_sum(site, &sums);
		sum += sums.allocations;
	}
	return sum;
}

void nve_heap_tally(struct nve_heap_tally *tally)
{
	uint64_t slowly = 0;

	*tally = (struct nve_heap_tally){0};
	for (struct nve_shard *s = atomic_load(&state.first); s; s = s->next) {
		for (uint32_t i = 0; i <= NVE_HEAP_DEPTH_MAX; i++)
			tally->by_unwinding[i] += s->tally.by_unwinding[i];
		tally->by_caller += s->tally.by_caller;
		tally->unattributed += s->tally.unattributed;
		tally->checked += s->tally.checked;
		tally->wrong += s->tally.wrong;
	}
	for (uint32_t i = 0; i <= NVE_HEAP_DEPTH_MAX; i++)
		slowly += tally->by_unwinding[i];
	slowly += tally->by_caller;
	tally->by_cache = blocks_allocated();
	tally->by_cache -= NVE_MIN(tally->by_cache, slowly);
}
