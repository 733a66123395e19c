/*
 * The shadow of our memory: a word for each block (its tag), two for each page.
 *
 * The tag of a small block stands where its page and its offset there lead: all blocks of a page
 * are of one size, of which 2^shift is the next lower power of two, so no two begin within the same
 * 2^shift bytes. Eight such places share a line of memory, the next eight of the page have another
 * one, elsewhere: pages of large blocks need less than those of small ones. Blocks of more than
 * half a page have their tags in the page's entry.
 */
#ifndef NVE_HEAP_SHADOW_H
#define NVE_HEAP_SHADOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

enum {
	NVE_BLOCKS_SITE_BITS = 18,
	NVE_BLOCKS_UNIT = 16,         /* what sizes and addresses are multiples of */
	NVE_BLOCKS_WIDE = 12,         /* shift of blocks that have no page to themselves, but each
					 begins on another */
	NVE_BLOCKS_HEAD = 0x40,       /* first page of a block that has its pages to itself */
	NVE_BLOCKS_REST = 0x41,       /* another page of it */
	NVE_BLOCKS_SMALL_MAX = 14336, /* larger ones have their pages to themselves */
	NVE_BLOCKS_PAGE_SHIFT = 12,
	NVE_BLOCKS_SEGMENT_SHIFT = 22, /* the shadow is made usable for so much at a time */
	NVE_BLOCKS_PLANE_SHIFT = NVE_BLOCKS_SEGMENT_SHIFT - NVE_BLOCKS_PAGE_SHIFT + 6,
};

/* shape: arena (16 bits), shift or one of the two above (8), size in units of 16 bytes (40).
 * tag: of the block that begins here; of REST, how many pages ahead its head is; of a page of small
 * blocks, where its first tags stand, which is a multiple of 64: nothing live. */
struct nve_blocks_page {
	_Atomic uint64_t shape, tag;
};

/* tag: live (1 bit), own arena (1), timed (1), start in its 2^shift bytes, in units (8), site (18),
 * birth of one that is timed (35) */
#define NVE_BLOCKS_LIVE        1ull
#define NVE_BLOCKS_OWN         2ull
#define NVE_BLOCKS_TIMED       4ull
#define NVE_BLOCKS_START_SHIFT 3
#define NVE_BLOCKS_SITE_SHIFT  11
#define NVE_BLOCKS_BIRTH_SHIFT 29
/* what of the tag stays while its freed block waits in a bin */
#define NVE_BLOCKS_KEPT                                                                            \
	(((1ull << NVE_BLOCKS_BIRTH_SHIFT) - 1) & ~(NVE_BLOCKS_LIVE | NVE_BLOCKS_TIMED))

extern struct nve_blocks {
	uint64_t base, bytes; /* 0 bytes: there is none */
	struct nve_blocks_page *pages;
	char *tags;
} nve_blocks;

static inline bool nve_blocks_holds(uint64_t addr)
{
	return addr - nve_blocks.base < nve_blocks.bytes;
}

/* What the allocator makes of a size from 16 to NVE_BLOCKS_SMALL_MAX: steps of a quarter of the
 * power of two below, of 16 at least. */
static inline uint32_t nve_blocks_rounded(uint32_t size)
{
	uint32_t below = size - 1, step = 29u - (uint32_t)__builtin_clz(below | 64);
	uint32_t mask = (1u << step) - 1;

	return (below | mask) + 1;
}

static inline uint32_t nve_blocks_shift(uint32_t rounded)
{
	uint32_t shift = 31u - (uint32_t)__builtin_clz(rounded);

	return shift < NVE_BLOCKS_WIDE ? shift : NVE_BLOCKS_WIDE;
}

static inline struct nve_blocks_page *nve_blocks_page(uint64_t addr)
{
	return nve_blocks.pages + ((addr - nve_blocks.base) >> NVE_BLOCKS_PAGE_SHIFT);
}

/* Where the tags of the first eight blocks stand of the page that addr is on. */
static inline uint64_t nve_blocks_first_tags(uint64_t addr)
{
	uint64_t at = addr - nve_blocks.base;
	uint64_t segment = at >> NVE_BLOCKS_SEGMENT_SHIFT << (NVE_BLOCKS_SEGMENT_SHIFT - 1);
	uint64_t page = (at >> NVE_BLOCKS_PAGE_SHIFT) &
			((1u << (NVE_BLOCKS_SEGMENT_SHIFT - NVE_BLOCKS_PAGE_SHIFT)) - 1);

	return (uint64_t)(uintptr_t)nve_blocks.tags + segment + page * NVE_LINE_BYTES;
}

/* Of the first eight given, and a block at addr. */
static inline _Atomic uint64_t *nve_blocks_tag_of(uint64_t first, uint64_t addr, uint32_t shift)
{
	uint64_t index = (addr & (NVE_PAGE_BYTES - 1)) >> shift;

	return (_Atomic uint64_t *)(uintptr_t)(first + (index >> 3 << NVE_BLOCKS_PLANE_SHIFT)) +
	       (index & 7);
}

/* Where the tag of a block stands that begins at addr, on that page, whose entry says shift. */
static inline _Atomic uint64_t *nve_blocks_tag(struct nve_blocks_page *page, uint64_t addr,
					       uint32_t shift)
{
	if (nve_unlikely(shift >= NVE_BLOCKS_WIDE))
		return &page->tag;
	return nve_blocks_tag_of(atomic_load_explicit(&page->tag, memory_order_relaxed), addr,
				 shift);
}

static inline uint32_t nve_blocks_shape_shift(uint64_t shape)
{
	return (uint32_t)(shape >> 16 & 0xff);
}

static inline uint64_t nve_blocks_shape_bytes(uint64_t shape)
{
	return shape >> 24 << 4;
}

static inline uint64_t nve_blocks_shape(uint64_t old, uint32_t shift, uint64_t bytes)
{
	return (old & 0xffff) | (uint64_t)shift << 16 | bytes >> 4 << 24;
}

static inline uint32_t nve_blocks_site(uint64_t tag)
{
	return (uint32_t)(tag >> NVE_BLOCKS_SITE_SHIFT) & ((1u << NVE_BLOCKS_SITE_BITS) - 1);
}

#endif
