#include "heap/resident.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "heap/blocks.h"
#include "heap/heap.h"
#include "heap/mapped.h"
#include "heap/pool.h"

enum {
	PAGES_MAX = 1 << 20, /* looked at, of one range */
	BATCH = 512,
};

/* Of an entry of pagemap (Documentation/admin-guide/mm/pagemap.rst): the page is in memory. */
#define PRESENT (1ull << 63)

struct walk {
	int fd;
	uint64_t batch[BATCH], batch_page; /* entries from that page on */
	uint32_t batch_count;
	uint32_t every;
	struct nve_resident *to;
};

static bool is_present(struct walk *w, uint64_t addr)
{
	uint64_t page = addr >> NVE_BLOCKS_PAGE_SHIFT;
	ssize_t got;

	if (page - w->batch_page >= w->batch_count) {
		got = pread(w->fd, w->batch, sizeof(w->batch), (off_t)(page * sizeof(uint64_t)));
		w->batch_page = page;
		w->batch_count = got > 0 ? (uint32_t)((size_t)got / sizeof(uint64_t)) : 0;
	}
	return page - w->batch_page < w->batch_count && w->batch[page - w->batch_page] & PRESENT;
}

static void add(struct walk *w, uint32_t site, uint64_t bytes)
{
	if (site < w->to->sites)
		w->to->bytes[site] += bytes * w->every;
}

static void add_small(struct walk *w, uint64_t addr, uint32_t shift, uint64_t bytes)
{
	uint64_t first = nve_blocks_first_tags(addr);

	for (uint64_t at = addr; at < addr + NVE_PAGE_BYTES; at += 1ull << shift) {
		uint64_t tag = atomic_load_explicit(nve_blocks_tag_of(first, at, shift),
						    memory_order_relaxed);

		if (tag & NVE_BLOCKS_LIVE)
			add(w, nve_blocks_site(tag), bytes);
	}
}

/* One page of ours. */
static void add_page(struct walk *w, uint64_t addr)
{
	const struct nve_blocks_page *page = nve_blocks_page(addr);
	uint64_t shape = atomic_load_explicit(&page->shape, memory_order_relaxed);
	uint64_t tag = atomic_load_explicit(&page->tag, memory_order_relaxed);
	uint32_t shift = nve_blocks_shape_shift(shape);
	struct nve_blocks_block block;

	if (!shift || !is_present(w, addr))
		return;
	if (shift < NVE_BLOCKS_WIDE)
		add_small(w, addr, shift, nve_blocks_shape_bytes(shape));
	else if (shift == NVE_BLOCKS_WIDE && tag & NVE_BLOCKS_LIVE)
		add(w, nve_blocks_site(tag), nve_blocks_shape_bytes(shape));
	else if (shift != NVE_BLOCKS_WIDE && !nve_blocks_find(addr, &block))
		add(w, nve_blocks_site(block.tag), NVE_PAGE_BYTES);
}

static void begin(struct walk *w, uint64_t bytes)
{
	w->every = (uint32_t)((bytes >> NVE_BLOCKS_PAGE_SHIFT) / PAGES_MAX) | 1;
	w->to->every = NVE_MAX(w->to->every, w->every);
}

static void add_blocks(struct walk *w)
{
	uint64_t used = nve_blocks_used();

	begin(w, used);
	for (uint64_t at = 0; at < used; at += (uint64_t)w->every * NVE_PAGE_BYTES)
		add_page(w, nve_blocks.base + at);
}

static void add_range(const struct nve_range *range, void *walk)
{
	struct walk *w = walk;

	begin(w, range->end - range->start);
	for (uint64_t at = range->start; at < range->end; at += (uint64_t)w->every * NVE_PAGE_BYTES)
		add(w, is_present(w, at) ? range->site : NVE_HEAP_SITE_NONE, NVE_PAGE_BYTES);
}

int nve_resident_measure(struct nve_resident *r)
{
	struct walk w = {.to = r};

	*r = (struct nve_resident){.sites = nve_heap_site_count(), .every = 1};
	w.fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (w.fd < 0)
		return -errno;
	r->bytes = nve_pool_map(r->sites * sizeof(r->bytes[0]));
	if (r->bytes) {
		add_blocks(&w);
		nve_mapped_each(add_range, &w);
		r->bytes[NVE_HEAP_SITE_NONE] = 0;
	}
	close(w.fd);
	return r->bytes ? 0 : -ENOMEM;
}

void nve_resident_forget(struct nve_resident *r)
{
	if (r->bytes)
		munmap(r->bytes, r->sites * sizeof(r->bytes[0]));
	*r = (struct nve_resident){0};
}
