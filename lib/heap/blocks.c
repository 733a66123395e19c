#include "heap/blocks.h"

#include <errno.h>
#include <sys/mman.h>

#include "heap/lock.h"

#define SEGMENT_BYTES (1ull << NVE_BLOCKS_SEGMENT_SHIFT)

struct nve_blocks nve_blocks;

static struct {
	struct nve_lock lock;
	_Atomic uint64_t used; /* bytes given away, from the beginning */
	uint64_t shadowed;     /* bytes whose shadow is usable, whole segments */
} growth;

static void *reserve(uint64_t bytes)
{
	return mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static uint64_t entries_bytes(uint64_t bytes)
{
	return (bytes >> NVE_BLOCKS_PAGE_SHIFT) * sizeof(struct nve_blocks_page);
}

/* Memory, its tags (a word for each 16 bytes at most) and the pages' entries, in one piece. */
static int reserve_all(uint64_t bytes)
{
	uint64_t all = SEGMENT_BYTES + bytes + bytes / 2 + entries_bytes(bytes), base;
	void *space = reserve(all);

	if (space == MAP_FAILED)
		return -errno;
	base = ((uint64_t)(uintptr_t)space + SEGMENT_BYTES - 1) & ~(SEGMENT_BYTES - 1);
	nve_blocks.tags = (char *)(uintptr_t)(base + bytes);
	nve_blocks.pages = (struct nve_blocks_page *)(nve_blocks.tags + bytes / 2);
	nve_blocks.base = base;
	nve_blocks.bytes = bytes;
	return 0;
}

int nve_blocks_setup(uint64_t bytes, uint64_t least)
{
	int rc = -ENOMEM;

	for (; rc && bytes >= least; bytes /= 2)
		rc = reserve_all(bytes);
	return rc;
}

static bool make_usable(void *start, uint64_t bytes)
{
	return mprotect(start, bytes, PROT_READ | PROT_WRITE) == 0;
}

/* Small parts of it are touched here and there: huge pages would make it larger than the memory
 * that it tells of. */
static bool make_shadow_usable(void *start, uint64_t bytes)
{
	madvise(start, bytes, MADV_NOHUGEPAGE);
	return make_usable(start, bytes);
}

static bool shadow_until(uint64_t end)
{
	for (; growth.shadowed < end; growth.shadowed += SEGMENT_BYTES) {
		uint64_t entries = entries_bytes(SEGMENT_BYTES);
		char *first = (char *)nve_blocks.pages +
			      (growth.shadowed >> NVE_BLOCKS_SEGMENT_SHIFT) * entries;

		if (!make_shadow_usable(first, entries) ||
		    !make_shadow_usable(nve_blocks.tags + growth.shadowed / 2, SEGMENT_BYTES / 2))
			return false;
	}
	return true;
}

static uint64_t take(uint64_t size, uint64_t alignment)
{
	uint64_t start = (growth.used + alignment - 1) & ~(alignment - 1);

	if (start + size < size || start + size > nve_blocks.bytes || !shadow_until(start + size) ||
	    !make_usable((void *)(uintptr_t)(nve_blocks.base + start), size))
		return 0;
	growth.used = start + size;
	return nve_blocks.base + start;
}

void *nve_blocks_grow(uint64_t size, uint64_t alignment, uint32_t arena)
{
	uint64_t start;

	nve_lock_take(&growth.lock);
	start = take(size, alignment);
	nve_lock_release(&growth.lock);
	for (uint64_t addr = start; start && addr < start + size; addr += NVE_PAGE_BYTES)
		atomic_store_explicit(&nve_blocks_page(addr)->shape, arena, memory_order_relaxed);
	return (void *)(uintptr_t)start;
}

uint64_t nve_blocks_used(void)
{
	return atomic_load(&growth.used);
}

static void give_back(void *first, uint64_t kept, uint64_t bytes)
{
	munmap((char *)first + kept, bytes - kept);
}

void nve_blocks_shrink(uint64_t bytes)
{
	uint64_t all;

	nve_lock_take(&growth.lock);
	all = nve_blocks.bytes;
	bytes = NVE_MAX(bytes, growth.shadowed);
	if (bytes < all) {
		/* What others map there is not ours. */
		nve_blocks.bytes = bytes;
		give_back((void *)(uintptr_t)nve_blocks.base, bytes, all);
		give_back(nve_blocks.tags, bytes / 2, all / 2);
		give_back(nve_blocks.pages, entries_bytes(bytes), entries_bytes(all));
	}
	nve_lock_release(&growth.lock);
}

void nve_blocks_before_fork(void)
{
	nve_lock_take(&growth.lock);
}

void nve_blocks_after_fork(void)
{
	nve_lock_release(&growth.lock);
}

void nve_blocks_set_pages(uint64_t addr, uint64_t bytes, uint64_t tag)
{
	struct nve_blocks_page *page = nve_blocks_page(addr);
	uint64_t pages = bytes >> NVE_BLOCKS_PAGE_SHIFT;
	uint64_t arena = atomic_load_explicit(&page->shape, memory_order_relaxed);
	uint64_t rest = nve_blocks_shape(arena, NVE_BLOCKS_REST, 0);

	atomic_store_explicit(&page->shape, nve_blocks_shape(arena, NVE_BLOCKS_HEAD, bytes),
			      memory_order_relaxed);
	for (uint64_t i = 1; i < pages; i++) {
		atomic_store_explicit(&page[i].shape, rest, memory_order_relaxed);
		atomic_store_explicit(&page[i].tag, i, memory_order_relaxed);
	}
	atomic_store_explicit(&page->tag, tag, memory_order_release);
}

/* Where a block begins that has this tag in the 2^shift bytes around addr. */
static uint64_t start_of(uint64_t addr, uint32_t shift, uint64_t tag)
{
	return (addr >> shift << shift) + ((tag >> NVE_BLOCKS_START_SHIFT & 0xff) << 4);
}

bool nve_blocks_begins(uint64_t addr, uint64_t tag)
{
	uint64_t shape = atomic_load_explicit(&nve_blocks_page(addr)->shape, memory_order_relaxed);
	uint32_t shift = nve_blocks_shape_shift(shape);

	if (!(tag & NVE_BLOCKS_LIVE) || shift == NVE_BLOCKS_REST)
		return false;
	if (shift == NVE_BLOCKS_HEAD)
		return (addr & (NVE_PAGE_BYTES - 1)) == 0;
	return start_of(addr, shift, tag) == addr;
}

/* Is addr in the block that begins near at, of a page of that shape? */
static bool is_in(uint64_t addr, uint64_t at, uint64_t shape, uint64_t tag,
		  struct nve_blocks_block *block)
{
	uint32_t shift = nve_blocks_shape_shift(shape);
	uint64_t start = at & ~(uint64_t)(NVE_PAGE_BYTES - 1);

	if (shift != NVE_BLOCKS_HEAD)
		start = start_of(at, shift, tag);
	if (!(tag & NVE_BLOCKS_LIVE) || addr - start >= nve_blocks_shape_bytes(shape))
		return false;
	block->start = start;
	block->bytes = nve_blocks_shape_bytes(shape);
	block->tag = tag;
	return true;
}

/* Of the blocks that begin on the page of at, and not behind at. */
static bool find_on_page(uint64_t addr, uint64_t at, struct nve_blocks_block *block)
{
	struct nve_blocks_page *page = nve_blocks_page(at);
	uint64_t shape = atomic_load_explicit(&page->shape, memory_order_relaxed);
	uint32_t shift = nve_blocks_shape_shift(shape);
	uint64_t tag = atomic_load_explicit(&page->tag, memory_order_acquire), step, first;

	if (shift == NVE_BLOCKS_REST || shift < 4)
		return false;
	if (shift >= NVE_BLOCKS_WIDE)
		return is_in(addr, at, shape, tag, block);
	step = 1ull << shift;
	first = nve_blocks_first_tags(at);
	/* It is shorter than twice the step. */
	for (int i = 0; i < 3; i++, at -= step) {
		tag = atomic_load_explicit(nve_blocks_tag_of(first, at, shift),
					   memory_order_acquire);
		if (is_in(addr, at, shape, tag, block))
			return true;
		if ((at & (NVE_PAGE_BYTES - 1)) < step)
			return false;
	}
	return false;
}

static bool find_head(uint64_t addr, const struct nve_blocks_page *page, uint64_t shape,
		      struct nve_blocks_block *block)
{
	uint64_t ahead = atomic_load_explicit(&page->tag, memory_order_relaxed);

	if (nve_blocks_shape_shift(shape) != NVE_BLOCKS_REST ||
	    ahead > (addr - nve_blocks.base) >> NVE_BLOCKS_PAGE_SHIFT)
		return false;
	return find_on_page(addr, addr - (ahead << NVE_BLOCKS_PAGE_SHIFT), block);
}

int nve_blocks_find(uint64_t addr, struct nve_blocks_block *block)
{
	const struct nve_blocks_page *page = nve_blocks_page(addr);
	uint64_t in_page = addr & (NVE_PAGE_BYTES - 1), at = addr, shape;

	*block = (struct nve_blocks_block){0};
	/* The shadow of what no arena has taken cannot be read. */
	if (addr - nve_blocks.base >= nve_blocks_used())
		return -ENOENT;
	shape = atomic_load_explicit(&page->shape, memory_order_relaxed);
	block->arena = (uint32_t)(shape & 0xffff);
	if (find_head(addr, page, shape, block) || find_on_page(addr, at, block))
		return 0;
	/* Blocks of several pages, or one on the edge: the page may be none's beginning, and still
	 * say what it was before. */
	at -= in_page + 1;
	for (int i = 0; i < NVE_BLOCKS_SMALL_MAX / (int)NVE_PAGE_BYTES + 1; i++) {
		if (at < nve_blocks.base)
			return -ENOENT;
		if (find_on_page(addr, at, block))
			return 0;
		at -= NVE_PAGE_BYTES;
	}
	return -ENOENT;
}
