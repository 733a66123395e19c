#include "chase.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

static size_t read_cache_bytes(const char *path)
{
	unsigned long long n = 0;
	char unit = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	if (fscanf(f, "%llu%c", &n, &unit) < 1)
		n = 0;
	fclose(f);
	return (size_t)(unit == 'M' ? n << 20 : unit == 'K' ? n << 10 : n);
}

size_t bench_llc_bytes(void)
{
	/* sysconf adds up what cpuid says of all caches' ways, and in guests is often 0 or the
	 * host's whole socket; sysfs is what the kernel believes that this CPU shares. */
	size_t bytes = read_cache_bytes("/sys/devices/system/cpu/cpu0/cache/index3/size");

	if (!bytes) {
		long level3 = sysconf(_SC_LEVEL3_CACHE_SIZE);

		bytes = level3 > 0 ? (size_t)level3 : 0;
	}
	return bytes;
}

/* A small generator of its own (xorshift64*), so that a seed gives the same list everywhere. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1du;
}

/*
 * Sattolo's shuffle, on the links themselves: a uniformly random permutation that is one single
 * cycle, with no memory beside the nodes.
 */
void bench_chase_link(struct bench_node *nodes, size_t count, uint64_t seed)
{
	uint64_t state = seed * 2 + 0x9e3779b97f4a7c15u;

	if (!state)
		state = 1;
	for (size_t i = 0; i < count; i++)
		nodes[i].next = &nodes[i];
	for (size_t i = count - 1; i > 0; i--) {
		size_t j = (size_t)(((unsigned __int128)next_random(&state) * i) >> 64);
		struct bench_node *next = nodes[i].next;

		nodes[i].next = nodes[j].next;
		nodes[j].next = next;
	}
}

/* How much of the mapping that begins at start the kernel backs with huge pages, bytes. */
static size_t huge_bytes(const void *start)
{
	char line[256];
	unsigned long from, to, kib;
	size_t found = 0;
	bool inside = false;
	FILE *f = fopen("/proc/self/smaps", "re");

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			inside = from <= (uintptr_t)start && (uintptr_t)start < to;
		else if (inside && sscanf(line, "AnonHugePages: %lu kB", &kib) == 1)
			found += (size_t)kib << 10;
	}
	fclose(f);
	return found;
}

static size_t mapping_bytes(size_t bytes)
{
	return (bytes + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
}

int bench_chase_make(struct bench_chase *chase, size_t bytes, bool huge, uint64_t seed)
{
	size_t count = bytes / sizeof(struct bench_node);
	size_t mapped = mapping_bytes(count * sizeof(struct bench_node));
	char *raw, *start;

	if (count < 2)
		return -EINVAL;
	raw = mmap(NULL, mapped + HUGE_PAGE_BYTES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (raw == MAP_FAILED)
		return -errno;

	/* Keep the part that is aligned to huge pages, and only that. */
	start = (char *)(((uintptr_t)raw + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1));
	if (start > raw)
		munmap(raw, (size_t)(start - raw));
	if (start < raw + HUGE_PAGE_BYTES)
		munmap(start + mapped, (size_t)(raw + HUGE_PAGE_BYTES - start));

	/* A kernel without transparent huge pages refuses both: then there are only small ones. */
	madvise(start, mapped, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	chase->nodes = (struct bench_node *)start;
	chase->count = count;
	chase->bytes = count * sizeof(struct bench_node);
	bench_chase_link(chase->nodes, count, seed);
	chase->huge = huge && huge_bytes(start) >= mapped / 10 * 9;
	return 0;
}

void bench_chase_free(struct bench_chase *chase)
{
	if (chase->nodes)
		munmap(chase->nodes, mapping_bytes(chase->bytes));
	memset(chase, 0, sizeof(*chase));
}

__attribute__((noinline)) struct bench_node *bench_chase_read(struct bench_node *node,
							      uint64_t steps)
{
	while (steps--)
		node = node->next;
	return node;
}

__attribute__((noinline)) struct bench_node *bench_chase_write(struct bench_node *node,
							       uint64_t steps)
{
	while (steps--) {
		node->value = steps;
		node = node->next;
	}
	return node;
}
