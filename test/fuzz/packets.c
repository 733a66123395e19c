/* Loads as packets, as a thread reads them in its handler: the area, and the records that tell of
 * it. The first bytes are the heads; what follows lies in both, over and over. */
#include <stdlib.h>
#include <string.h>

#include "count/pmu/loads.h"
#include "fuzz.h"

enum { PAGE = 4096, RECORDS = PAGE, AREA = 2 * PAGE, HEADS = 4 };

static struct {
	struct perf_event_mmap_page page;
	uint8_t rest[PAGE - sizeof(struct perf_event_mmap_page)], records[RECORDS];
} ring;
static uint8_t area[AREA];

static void fill(uint8_t *to, size_t bytes, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = size ? data[i % size] : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nve_pmu_load_ring r = {.area = {area, AREA}, .fd = -1};
	struct nve_pmu_load_sums first = {.taken = 0}, second = {.taken = 0};
	struct nve_pmu_load_cursor begin, c;
	struct nve_pmu_load load;
	uint64_t heads[HEADS] = {0}, loads = 0;
	bool filling;

	if (size)
		memcpy(heads, data, size < sizeof(heads) ? size : sizeof(heads));
	memset(&ring, 0, sizeof(ring));
	ring.page.data_offset = PAGE;
	ring.page.data_size = RECORDS;
	ring.page.data_tail = heads[0];
	ring.page.data_head = heads[1];
	ring.page.aux_tail = heads[2];
	ring.page.aux_head = heads[3];
	fill(ring.records, RECORDS, data, size);
	fill(area, AREA, data + size / 2, size - size / 2);
	if (nve_pmu_ring_begin(&r.ring, &ring, sizeof(ring)))
		abort();
	begin = c = nve_pmu_load_ring_begin(&r, &filling);
	while (nve_pmu_load_ring_next(&r, &c, &first, &load))
		loads++;
	/* gone through again, it is the same */
	c = begin;
	while (nve_pmu_load_ring_next(&r, &c, &second, &load))
		loads--;
	if (loads || memcmp(&first, &second, sizeof(first)))
		abort();
	nve_pmu_load_ring_done(&r, &c);
	return 0;
}
