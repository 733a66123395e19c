#include "count/chase_list.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/file.h"

enum {
	HUGE_BYTES = 2 << 20,
	BUFFER_BYTES = 256 << 20,
	LINKED_BYTES = 64 << 20, /* of its lines at most; more would take too long to link */
};

/* Backs as much of the buffer with memory as fits the time: fresh memory may be slow to come by in
 * a virtual machine. */
static void populate(struct nve_chase_list *list, uint64_t until_ns)
{
	while (list->bytes < BUFFER_BYTES &&
	       (list->bytes < HUGE_BYTES * 4 || nve_clock_ns(CLOCK_MONOTONIC_RAW) < until_ns)) {
		for (size_t i = 0; i < HUGE_BYTES; i += NVE_PAGE_BYTES)
			list->buffer[list->bytes + i] = 1;
		list->bytes += HUGE_BYTES;
	}
}

static void *map_lazily(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

struct nve_chase_list *nve_chase_list_new(uint64_t start_ns, uint64_t limit_ns)
{
	struct nve_chase_list *list = map_lazily(sizeof(*list));

	if (!list)
		return NULL;
	list->map_bytes = BUFFER_BYTES + HUGE_BYTES;
	list->map = map_lazily(list->map_bytes);
	if (!list->map) {
		munmap(list, sizeof(*list));
		return NULL;
	}
	list->buffer = list->map + (HUGE_BYTES - (uintptr_t)list->map % HUGE_BYTES) % HUGE_BYTES;
	madvise(list->buffer, BUFFER_BYTES, MADV_HUGEPAGE);
	populate(list, start_ns + limit_ns * 50 / 100);
	return list;
}

void nve_chase_list_delete(struct nve_chase_list *list)
{
	munmap(list->map, list->map_bytes);
	munmap(list, sizeof(*list));
}

/* A permutation of 0 .. 2^bits - 1 without a pattern that a prefetcher follows. */
static uint64_t scatter(uint64_t i, unsigned bits)
{
	uint64_t mask = (1ull << bits) - 1;

	for (int round = 0; round < 3; round++) {
		i = (i * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u) & mask;
		i ^= i >> (bits / 2);
	}
	return i;
}

/* Twice what the cache holds, at least. */
static size_t most_nodes(void)
{
	uint64_t bytes = NVE_MAX((uint64_t)LINKED_BYTES, 2 * nve_chase_list_llc_bytes());

	return nve_chase_list_round(bytes) / sizeof(struct nve_chase_node);
}

void nve_chase_list_link(struct nve_chase_list *list, size_t bytes)
{
	struct nve_chase_node *all = (struct nve_chase_node *)list->buffer, *last, *node;
	unsigned bits = (unsigned)__builtin_ctzll(nve_chase_list_round(bytes) / sizeof(*all));

	list->nodes = NVE_MIN((size_t)1 << bits, most_nodes());
	last = &all[scatter(list->nodes - 1, bits)];
	for (size_t i = 0; i < list->nodes; i++) {
		node = &all[scatter(i, bits)];
		last->next = node;
		last = node;
		if (i < NVE_CHASE_LIST_NODES)
			list->node[i] = node;
	}
	for (size_t i = 0; i < list->nodes; i++)
		nve_arch_flush(&all[scatter(i, bits)]);
	nve_arch_fence();
}

struct nve_chase_node *nve_chase_list_walk(struct nve_chase_node *node, uint64_t steps,
					   uint64_t *ticks)
{
	uint64_t start;

	nve_arch_fence_loads();
	start = nve_tsc();
	nve_arch_fence_loads();
	for (uint64_t i = 0; i < steps; i++)
		node = *(struct nve_chase_node *volatile *)&node->next;
	nve_arch_fence_loads();
	*ticks = nve_tsc() - start;
	return node;
}

bool nve_chase_list_huge_pages(const struct nve_chase_list *list)
{
	static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
	char text[128];
	size_t length;

	return list->bytes && !nve_file_read(path, text, sizeof(text), &length) &&
	       !strstr(text, "[never]");
}

static uint64_t read_number(const char *path)
{
	char text[64];
	size_t length;
	uint64_t n;
	char *end;

	if (nve_file_read(path, text, sizeof(text), &length))
		return 0;
	n = strtoull(text, &end, 10);
	return *end == 'K' ? n << 10 : *end == 'M' ? n << 20 : n;
}

/* Of the largest level. sysconf() tells the whole package's on some CPUs. */
uint64_t nve_chase_list_llc_bytes(void)
{
	uint64_t bytes = read_number("/sys/devices/system/cpu/cpu0/cache/index3/size");
	long fallback = sysconf(_SC_LEVEL3_CACHE_SIZE);

	if (!bytes)
		bytes = read_number("/sys/devices/system/cpu/cpu0/cache/index2/size");
	return bytes ? bytes : fallback > 0 ? (uint64_t)fallback : 0;
}

size_t nve_chase_list_llc_footprint(const struct nve_chase_list *list, uint64_t llc)
{
	uint64_t l2 = read_number("/sys/devices/system/cpu/cpu0/cache/index2/size");
	uint64_t bytes = NVE_MIN(l2 ? 4 * l2 : 4u << 20, llc ? llc / 4 : 4u << 20);

	bytes = NVE_MAX(bytes, (uint64_t)1 << 20);
	return nve_chase_list_round(NVE_MIN(bytes, list->bytes));
}
