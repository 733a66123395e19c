/* Blocks have sites: the whole of it, with jemalloc from the library beside ours. */
#include "heap/alloc.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allocation.h"
#include "base/base.h"
#include "heap/heap.h"
#include "heap/resident.h"
#include "heap/unwind.h"

#include <cmocka.h>

enum { BLOCKS = 1000 };

static void *arenas;

static void *arenas_function(const char *name)
{
	void *function = dlsym(arenas, name);

	assert_non_null(function);
	return function;
}

static struct nve_alloc_next next(void)
{
	return (struct nve_alloc_next){malloc, calloc, realloc, free, memalign, malloc_usable_size};
}

static struct nve_mapped_next next_mapped(void)
{
	return (struct nve_mapped_next){mmap, munmap, mremap};
}

static nve_unwind_fn *load_unwind(void)
{
	nve_unwind_fn *backtrace;

	*(void **)&backtrace =
		dlsym(dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL), "unw_backtrace");
	assert_non_null(backtrace);
	return backtrace;
}

static uint32_t frames_before_fork;

static __attribute__((noinline)) void count_frames(void)
{
	uint64_t address[8], caller = (uint64_t)(uintptr_t)__builtin_return_address(0);

	frames_before_fork = nve_unwind(caller, address, 8);
}

static void before_fork(void)
{
	count_frames();
}

static int load_arenas(struct nve_arena_functions *functions)
{
	arenas = dlopen(NVE_ARENAS, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(arenas);
	*(void **)&functions->malloc = arenas_function("je_malloc");
	*(void **)&functions->mallocx = arenas_function("je_mallocx");
	*(void **)&functions->sdallocx = arenas_function("je_sdallocx");
	*(void **)&functions->nallocx = arenas_function("je_nallocx");
	*(void **)&functions->mallctl = arenas_function("je_mallctl");
	*(void **)&functions->mallctlnametomib = arenas_function("je_mallctlnametomib");
	*(void **)&functions->mallctlbymib = arenas_function("je_mallctlbymib");
	/* where jemalloc registers its own, when it is used first */
	return -pthread_atfork(before_fork, NULL, NULL);
}

static bool begun;

static int begin(void)
{
	begun = true;
	return 0;
}

static int set_up(void **state)
{
	const struct nve_options options = {.heat_depth = 8};
	const struct nve_allocation_host host = {.next = next,
						 .next_mapped = next_mapped,
						 .load_unwind = load_unwind,
						 .load_arenas = load_arenas,
						 .begin = begin};

	(void)state;
	nve_allocation_start(&options, &host);
	return begun ? 0 : -1;
}

/* Not inlined, nor left by a jump: frames of their own. */
static __attribute__((noinline)) void *wrapper(size_t size)
{
	void *p = nve_alloc_malloc(size);

	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}

static __attribute__((noinline)) void *one(size_t size)
{
	void *p = wrapper(size);

	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}

static __attribute__((noinline)) void *other(size_t size)
{
	void *p = wrapper(size);

	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}

static struct nve_heap_place place_of(const void *p)
{
	struct nve_heap_place place;

	assert_int_equal(nve_heap_find((uint64_t)(uintptr_t)p, &place), 0);
	assert_int_equal(place.kind, NVE_HEAP_BLOCK);
	return place;
}

/* A thread that holds a lock of jemalloc's may wait for one of ours: jemalloc's are taken first.
 * The child has both, open. */
static void forks_after_jemalloc(void **state)
{
	int status = -1;
	pid_t child;

	(void)state;
	frames_before_fork = 0;
	child = fork();
	if (!child) {
		void *large = nve_alloc_malloc(64 << 20), *small = one(10);

		count_frames();
		_exit(!large || !small || !frames_before_fork);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(frames_before_fork > 0); /* ours have not been taken yet: it unwinds */
}

static void sites_are_call_paths(void **state)
{
	char *block[BLOCKS];
	uint32_t a = 0, b = 0;

	(void)state;
	for (int i = 0; i < BLOCKS; i++) {
		size_t size = (size_t)(i * 37 % 20000);
		struct nve_heap_place place;

		block[i] = i % 2 ? one(size) : other(size);
		place = place_of(block[i] + size / 2);
		assert_true(place.start == (uint64_t)(uintptr_t)block[i] && place.bytes >= size);
		if (i % 2) {
			assert_true(!a || a == place.site);
			a = place.site;
		} else {
			assert_true(!b || b == place.site);
			b = place.site;
		}
	}
	assert_true(a && b && a != b);
	for (int i = 0; i < BLOCKS; i++)
		nve_alloc_free(block[i]);
}

static __attribute__((noinline)) void *counted(size_t size)
{
	void *p = nve_alloc_malloc(size);

	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}

static void sites_are_counted(void **state)
{
	struct nve_heap_counts counts;
	void *block[10];
	uint32_t site = 0;

	(void)state;
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 10; i++)
			block[i] = counted(100);
		site = place_of(block[0]).site;
		for (int i = 0; i < 9; i++)
			nve_alloc_free(block[i]);
		if (round < 99)
			nve_alloc_free(block[9]);
	}
	nve_heap_site_counts(site, &counts);
	assert_int_equal(counts.allocations, 1000);
	assert_int_equal(counts.frees, 999);
	assert_int_equal(counts.bytes, 112000);
	assert_int_equal(counts.live_bytes, 112);
	assert_int_equal(counts.peak_bytes, 1120);
	assert_true(counts.lifetimes > 0 && counts.lifetimes < 200);
	nve_alloc_free(block[9]);
}

/* Whatever they are made of. */
static void each_call_counts_once(void **state)
{
	struct nve_heap_counts before, after;
	void *p = nve_alloc_calloc(10, 10), *q;
	uint32_t site = place_of(p).site;

	(void)state;
	nve_heap_site_counts(site, &before);
	assert_int_equal(before.allocations, 1);
	nve_alloc_free(p);
	assert_int_equal(nve_alloc_posix_memalign(&q, 64, 100), 0);
	site = place_of(q).site;
	nve_heap_site_counts(site, &before);
	assert_int_equal(before.allocations, 1);
	nve_alloc_free(q);
	nve_heap_site_counts(site, &after);
	assert_true(after.allocations == 1 && after.frees == 1);
}

static uint64_t mapped_by_arenas(void)
{
	struct nve_heap_arena arena;
	uint64_t sum = 0;

	for (uint32_t i = 1; i < nve_heap_arena_count(); i++)
		sum += nve_heap_arena(i, &arena) ? 0 : arena.mapped_bytes;
	return sum;
}

/* Pieces of an arena's memory are put together again. */
static void memory_is_used_again(void **state)
{
	enum { ROUNDS = 40, HELD = 200 };
	uint64_t start = mapped_by_arenas();

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		void *block[HELD];

		for (int i = 0; i < HELD; i++)
			block[i] = nve_alloc_malloc(
				(size_t)(20000 + (i * 7919 + round * 104729) % 300000));
		for (int i = 0; i < HELD; i++)
			nve_alloc_free(block[(i * 77) % HELD]);
	}
	/* 200 blocks of 170,000 bytes on average */
	assert_true(mapped_by_arenas() - start < 200 << 20);
}

static __attribute__((noinline)) void *much(size_t size)
{
	void *p = nve_alloc_malloc(size);

	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}

/* A site that has more than 4 MiB comes to an arena of its own; what it has before stays. */
static void big_sites_have_their_own_arenas(void **state)
{
	enum { COUNT = 12 << 10 };
	static void *block[COUNT];
	struct nve_heap_place first, last;
	struct nve_heap_site site;
	struct nve_heap_arena arena;

	(void)state;
	for (int i = 0; i < COUNT; i++)
		block[i] = much(1000);
	first = place_of(block[0]);
	last = place_of(block[COUNT - 1]);
	assert_int_equal(first.site, last.site);
	assert_int_not_equal(first.arena, last.arena);
	assert_int_equal(nve_heap_site(last.site, &site), 0);
	assert_int_equal(site.arena, last.arena);
	assert_int_equal(nve_heap_arena(last.arena, &arena), 0);
	assert_int_equal(arena.kind, NVE_HEAP_ARENA_SITE);
	assert_int_equal(arena.site, last.site);
	assert_true(arena.mapped_bytes >= 4 << 20);
	/* nobody else's block lies in it, whoever frees and allocates */
	for (int i = 0; i < COUNT; i++) {
		nve_alloc_free(block[i]);
		block[i] = one(1000);
		assert_int_not_equal(place_of(block[i]).arena, last.arena);
	}
	for (int i = 0; i < COUNT; i++)
		nve_alloc_free(block[i]);
}

static __attribute__((noinline)) void *huge(size_t size)
{
	void *p = nve_alloc_malloc(size);

	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}

static void one_large_block_makes_its_site_big(void **state)
{
	char *p = huge(50 << 20);
	struct nve_heap_place place = place_of(p + (30 << 20));
	struct nve_heap_site site;

	(void)state;
	assert_int_equal(nve_heap_site(place.site, &site), 0);
	assert_true(site.arena && site.arena == place.arena);
	memset(p, 1, 50 << 20);
	nve_alloc_free(p);
}

static void *allocate_and_pass(void *arg)
{
	void **blocks = arg;

	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = one(64);
	return NULL;
}

static void threads_free_each_others_blocks(void **state)
{
	static void *block[4 * BLOCKS];
	struct nve_heap_counts before, after;
	pthread_t thread;
	uint32_t site = 0;

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(
			pthread_create(&thread, NULL, allocate_and_pass, block + i * BLOCKS), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		site = place_of(block[i * BLOCKS]).site;
	}
	nve_heap_site_counts(site, &before);
	for (int i = 0; i < 4 * BLOCKS; i++)
		nve_alloc_free(block[i]);
	nve_heap_site_counts(site, &after);
	assert_int_equal(after.frees - before.frees, 4 * BLOCKS);
	assert_int_equal(before.live_bytes - after.live_bytes, 4 * BLOCKS * 64);
}

static void blocks_of_others_are_taken_back(void **state)
{
	char *p = malloc(100);

	(void)state;
	strcpy(p, "kept");
	assert_true(nve_alloc_usable_size(p) >= 100);
	p = nve_alloc_realloc(p, 5000);
	assert_string_equal(p, "kept");
	assert_true(place_of(p).bytes >= 5000);
	nve_alloc_free(p);
	nve_alloc_free(malloc(10));
}

static __attribute__((noinline)) void *half_touched(size_t size)
{
	char *p = nve_alloc_malloc(size);

	memset(p, 1, size / 2);
	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}

static uint64_t resident_of(uint32_t site)
{
	struct nve_resident r;
	uint64_t bytes;

	assert_int_equal(nve_resident_measure(&r), 0);
	assert_true(site < r.sites && r.every == 1);
	bytes = r.bytes[site];
	nve_resident_forget(&r);
	return bytes;
}

static void resident_bytes_are_those_of_touched_pages(void **state)
{
	char *small[BLOCKS], *large = half_touched(64 << 20);
	uint32_t of_large = place_of(large).site, of_small;
	uint64_t resident = resident_of(of_large);

	(void)state;
	assert_in_range(resident, 32 << 20, 36 << 20);
	nve_alloc_free(large);
	assert_int_equal(resident_of(of_large), 0);
	for (int i = 0; i < BLOCKS; i++)
		small[i] = counted(100);
	of_small = place_of(small[0]).site;
	memset(small[0], 1, 100);
	for (int i = 0; i < BLOCKS; i++)
		small[i][0] = 1;
	assert_in_range(resident_of(of_small), BLOCKS * 112, (BLOCKS + 10) * 112);
	for (int i = 0; i < BLOCKS; i++)
		nve_alloc_free(small[i]);
}

static void the_tally_says_how_sites_were_found(void **state)
{
	struct nve_heap_tally before, after;
	uint64_t unwound = 0;

	(void)state;
	nve_heap_tally(&before);
	for (int i = 0; i < 10000; i++)
		nve_alloc_free(one(32));
	nve_heap_tally(&after);
	for (int i = 0; i <= NVE_HEAP_DEPTH_MAX; i++)
		unwound += after.by_unwinding[i] - before.by_unwinding[i];
	assert_true(unwound >= 1 && unwound < 10);
	assert_int_equal(after.by_cache - before.by_cache + unwound, 10000);
	assert_true(after.checked > before.checked);
	assert_int_equal(after.wrong, before.wrong);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sites_are_call_paths),
		cmocka_unit_test(forks_after_jemalloc),
		cmocka_unit_test(sites_are_counted),
		cmocka_unit_test(each_call_counts_once),
		cmocka_unit_test(memory_is_used_again),
		cmocka_unit_test(big_sites_have_their_own_arenas),
		cmocka_unit_test(one_large_block_makes_its_site_big),
		cmocka_unit_test(threads_free_each_others_blocks),
		cmocka_unit_test(blocks_of_others_are_taken_back),
		cmocka_unit_test(resident_bytes_are_those_of_touched_pages),
		cmocka_unit_test(the_tally_says_how_sites_were_found),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
