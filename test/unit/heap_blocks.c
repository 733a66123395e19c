/* Tags out of band: every address of a block finds it, whatever blocks lie around. */
#include "heap/blocks.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SLAB_BYTES = 28672, ARENA = 5 };

static uint64_t grow(uint64_t size)
{
	if (!nve_blocks.bytes)
		assert_int_equal(nve_blocks_setup(1ull << 30, 1ull << 28), 0);
	return (uint64_t)(uintptr_t)nve_blocks_grow(size, NVE_PAGE_BYTES, ARENA);
}

static uint64_t tag_of(uint32_t site)
{
	return NVE_BLOCKS_LIVE | (uint64_t)site << NVE_BLOCKS_SITE_SHIFT;
}

/* 0: in no block. */
static uint32_t site_at(uint64_t addr)
{
	struct nve_blocks_block block;
	int rc = nve_blocks_find(addr, &block);

	assert_int_equal(block.arena, ARENA);
	assert_true(!rc || rc == -ENOENT);
	if (rc)
		return 0;
	assert_true(addr - block.start < block.bytes);
	return nve_blocks_site(block.tag);
}

static void clear(uint64_t addr)
{
	uint64_t bytes;

	atomic_store(nve_blocks_where(addr, &bytes), 0);
}

/* The allocator's own steps: 16 to 128 by 16, then four to each doubling. */
static void sizes_are_rounded_to_classes(void **state)
{
	static const uint32_t classes[] = {
		16,   32,   48,   64,   80,   96,   112,  128,  160,   192,   224,   256,
		320,  384,  448,  512,  640,  768,  896,  1024, 1280,  1536,  1792,  2048,
		2560, 3072, 3584, 4096, 5120, 6144, 7168, 8192, 10240, 12288, 14336,
	};
	uint32_t i = 0;

	(void)state;
	for (uint32_t size = 16; size <= NVE_BLOCKS_SMALL_MAX; size++) {
		if (size > classes[i])
			i++;
		assert_int_equal(nve_blocks_rounded(size), classes[i]);
	}
}

/* A run of blocks of one size, some of them free. */
static void check_run(uint64_t start, uint32_t size)
{
	uint32_t count = SLAB_BYTES / size;

	for (uint32_t i = 0; i < count; i++)
		nve_blocks_set(start + i * size, size, tag_of(i + 1));
	for (uint32_t i = 0; i < count; i += 3)
		clear(start + i * size);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t expected = i % 3 ? i + 1 : 0;

		assert_int_equal(site_at(start + i * size), expected);
		assert_int_equal(site_at(start + i * size + size / 2), expected);
		assert_int_equal(site_at(start + (i + 1) * size - 1), expected);
	}
	for (uint32_t i = 0; i < count; i++)
		clear(start + i * size);
}

/* In the same pages one after the other: what is left of earlier uses must not be found. */
static void finds_blocks_of_all_sizes(void **state)
{
	uint64_t start = grow(SLAB_BYTES + NVE_PAGE_BYTES);

	(void)state;
	assert_true(start);
	for (uint32_t size = 16; size <= NVE_BLOCKS_SMALL_MAX; size = nve_blocks_rounded(size + 1))
		check_run(start, size);
	for (uint32_t size = NVE_BLOCKS_SMALL_MAX; size > 16; size = nve_blocks_rounded(size / 2))
		check_run(start, size);
}

static void finds_blocks_of_whole_pages(void **state)
{
	uint64_t start = grow(64 * NVE_PAGE_BYTES), bytes = 20 * NVE_PAGE_BYTES;

	(void)state;
	nve_blocks_set_pages(start, bytes, tag_of(7));
	nve_blocks_set_pages(start + bytes, bytes, tag_of(8));
	assert_int_equal(site_at(start), 7);
	assert_int_equal(site_at(start + bytes - 1), 7);
	assert_int_equal(site_at(start + bytes), 8);
	clear(start);
	assert_int_equal(site_at(start + bytes / 2), 0);
	assert_int_equal(site_at(start + bytes + 5000), 8);
	/* small blocks where the first one was; its other pages are none's */
	nve_blocks_set(start, 48, tag_of(9));
	assert_int_equal(site_at(start + 47), 9);
	assert_int_equal(site_at(start + 48), 0);
	assert_int_equal(site_at(start + 3 * NVE_PAGE_BYTES), 0);
	clear(start);
	clear(start + bytes);
}

static void only_beginnings_are_beginnings(void **state)
{
	uint64_t start = grow(8 * NVE_PAGE_BYTES), bytes;
	uint64_t tag;

	(void)state;
	nve_blocks_set(start + 96, 96, tag_of(3));
	tag = atomic_load(nve_blocks_where(start + 96, &bytes));
	assert_int_equal(bytes, 96);
	assert_true(nve_blocks_begins(start + 96, tag));
	assert_false(nve_blocks_begins(start + 112, tag));
	clear(start + 96);
	assert_false(
		nve_blocks_begins(start + 96, atomic_load(nve_blocks_where(start + 96, &bytes))));
}

static void what_no_arena_has_is_not_looked_at(void **state)
{
	struct nve_blocks_block block;

	(void)state;
	grow(NVE_PAGE_BYTES);
	assert_int_equal(nve_blocks_find(nve_blocks.base + nve_blocks.bytes - 1, &block), -ENOENT);
	assert_false(nve_blocks_holds(nve_blocks.base - 1));
	assert_false(nve_blocks_holds(nve_blocks.base + nve_blocks.bytes));
	assert_true(nve_blocks_holds(nve_blocks.base));
	/* more than there is */
	assert_int_equal(grow(1ull << 31), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_rounded_to_classes),
		cmocka_unit_test(finds_blocks_of_all_sizes),
		cmocka_unit_test(finds_blocks_of_whole_pages),
		cmocka_unit_test(only_beginnings_are_beginnings),
		cmocka_unit_test(what_no_arena_has_is_not_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
