#include "count/pmu/ring.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"

int nve_pmu_ring_begin(struct nve_pmu_ring *r, void *mapped, size_t bytes)
{
	struct perf_event_mmap_page *page = mapped;
	uint64_t at = page->data_offset, size = page->data_size;

	if (!size || size & (size - 1) || at < sizeof(*page) || at > bytes || size > bytes - at)
		return -EINVAL;
	*r = (struct nve_pmu_ring){page, (const uint8_t *)mapped + at, size};
	return 0;
}

uint64_t nve_pmu_ring_tail(const struct nve_pmu_ring *r)
{
	return r->page->data_tail;
}

/* What the kernel wrote before it moved the head is there to be read. */
uint64_t nve_pmu_ring_head(const struct nve_pmu_ring *r)
{
	return __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

/* Records go around the end. */
static void copy(const struct nve_pmu_ring *r, uint64_t at, void *to, size_t length)
{
	uint64_t offset = at & (r->bytes - 1);
	size_t first = NVE_MIN(length, (size_t)(r->bytes - offset));

	memcpy(to, r->data + offset, first);
	memcpy((uint8_t *)to + first, r->data, length - first);
}

int nve_pmu_ring_next(const struct nve_pmu_ring *r, uint64_t head, uint64_t *at,
		      struct nve_pmu_record *record)
{
	uint64_t left = head - *at;
	struct perf_event_header header;

	if (!left)
		return 0;
	if (left < sizeof(header) || left > r->bytes)
		goto broken;
	copy(r, *at, &header, sizeof(header));
	if (header.size < sizeof(header) || header.size > left)
		goto broken;
	record->type = header.type;
	record->length = NVE_MIN(header.size - sizeof(header), sizeof(record->body));
	copy(r, *at + sizeof(header), record->body, record->length);
	*at += header.size;
	return 1;
broken:
	*at = head;
	return -EBADMSG;
}

/* The kernel may write there only once all has been read. */
void nve_pmu_ring_done(const struct nve_pmu_ring *r, uint64_t at)
{
	__atomic_store_n(&r->page->data_tail, at, __ATOMIC_RELEASE);
}

uint64_t nve_pmu_ring_plan_area(const struct nve_pmu_ring *r, uint64_t bytes)
{
	struct perf_event_mmap_page *page = r->page;

	page->aux_offset = page->data_offset + page->data_size;
	page->aux_size = bytes;
	return page->aux_offset;
}

uint64_t nve_pmu_ring_area_tail(const struct nve_pmu_ring *r)
{
	return r->page->aux_tail;
}

uint64_t nve_pmu_ring_area_head(const struct nve_pmu_ring *r)
{
	return __atomic_load_n(&r->page->aux_head, __ATOMIC_ACQUIRE);
}

void nve_pmu_ring_area_done(const struct nve_pmu_ring *r, uint64_t at)
{
	__atomic_store_n(&r->page->aux_tail, at, __ATOMIC_RELEASE);
}
