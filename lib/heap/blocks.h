/*
 * The memory that arenas are made of, and whose each block of it is.
 *
 * One stretch of address space is reserved at the start; arenas take pieces of it, for good, so one
 * comparison tells our blocks from others'. Beside it lies the shadow (shadow.h): tags are out of
 * band, a program may write all of its block.
 *
 * Everything is lock-free and signal-safe but nve_blocks_setup and nve_blocks_grow. Only the owner
 * of a block (between its allocation and its release) writes its tag.
 */
#ifndef NVE_HEAP_BLOCKS_H
#define NVE_HEAP_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap/shadow.h"

/* Reserves address space: bytes, a power of two, or as much less as is to be had, but not less than
 * least. 0 or -errno. */
int nve_blocks_setup(uint64_t bytes, uint64_t least);

/* A piece for an arena: zeroed memory. size: of whole pages. NULL: none left, or no memory. */
void *nve_blocks_grow(uint64_t size, uint64_t alignment, uint32_t arena);

/* How many bytes arenas have taken, from the beginning on. Signal-safe. */
uint64_t nve_blocks_used(void);

/* Gives back the address space beyond bytes that no arena has taken yet, with its shadow. */
void nve_blocks_shrink(uint64_t bytes);

/* Around a fork. */
void nve_blocks_before_fork(void);
void nve_blocks_after_fork(void);

/* The small block at addr (rounded: its size, as above) belongs to the site of tag, which has no
 * start yet. */
static inline void nve_blocks_set(uint64_t addr, uint32_t rounded, uint64_t tag)
{
	struct nve_blocks_page *page = nve_blocks_page(addr);
	uint64_t old = atomic_load_explicit(&page->shape, memory_order_relaxed);
	uint32_t shift = nve_blocks_shift(rounded);
	uint64_t shape = nve_blocks_shape(old, shift, rounded);

	tag |= (addr & ((1u << shift) - 1)) >> 4 << NVE_BLOCKS_START_SHIFT;
	if (nve_unlikely(old != shape)) {
		atomic_store_explicit(&page->shape, shape, memory_order_relaxed);
		atomic_store_explicit(&page->tag, nve_blocks_first_tags(addr),
				      memory_order_relaxed);
	}
	atomic_store_explicit(nve_blocks_tag(page, addr, shift), tag, memory_order_release);
}

/* The same of a block of whole pages. */
void nve_blocks_set_pages(uint64_t addr, uint64_t bytes, uint64_t tag);

/* Where the tag of the block at addr stands; *bytes: its size. It need not be live. */
static inline _Atomic uint64_t *nve_blocks_where(uint64_t addr, uint64_t *bytes)
{
	struct nve_blocks_page *page = nve_blocks_page(addr);
	uint64_t shape = atomic_load_explicit(&page->shape, memory_order_relaxed);
	uint32_t shift = nve_blocks_shape_shift(shape);

	*bytes = nve_blocks_shape_bytes(shape);
	return nve_blocks_tag(page, addr, shift);
}

/* Does that tag belong to a block that begins at addr? */
bool nve_blocks_begins(uint64_t addr, uint64_t tag);

struct nve_blocks_block {
	uint64_t start, bytes, tag;
	uint32_t arena; /* known also where there is no block */
};

/* The block that addr, which lies in ours, is in. 0 or -ENOENT. */
int nve_blocks_find(uint64_t addr, struct nve_blocks_block *block);

#endif
