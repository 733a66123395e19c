#include "workload.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { HUGE_BYTES = 2 << 20 };

bool bench_is_huge(const void *start)
{
	char line[256];
	bool inside = false;
	long kilobytes = 0;
	FILE *f = fopen("/proc/self/smaps", "r");

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			inside = from <= (unsigned long)start && (unsigned long)start < to;
		else if (inside && sscanf(line, "AnonHugePages: %ld kB", &kilobytes) == 1)
			break;
	}
	fclose(f);
	return kilobytes > 0;
}

void *bench_map(size_t bytes, bool huge, bool *huge_got)
{
	size_t room = bytes + HUGE_BYTES;
	char *p = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	p += -(uintptr_t)p & (HUGE_BYTES - 1);
	madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	/* a page touched first by a read would be the shared zero page */
	for (size_t i = 0; i < bytes; i += 4096)
		((volatile char *)p)[i] = 0;
	*huge_got = huge && bench_is_huge(p);
	return p;
}

/* Asks for huge pages, or for small ones, of the whole pages between start and end. */
static void advise(char *start, const char *end, bool huge)
{
	start += -(uintptr_t)start & 4095;
	if (start < end)
		madvise(start, (size_t)(end - start) & ~(size_t)4095,
			huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

int bench_grow_heap(size_t bytes, bool huge)
{
	char *end = sbrk(0);

	if (bytes > INT_MAX / 2)
		return -EINVAL;
	mallopt(M_TOP_PAD, (int)bytes);
	/* until the rest of the old heap is used up; not freed, or the heap might shrink again */
	while (sbrk(0) == end) {
		void *volatile used = malloc(32 << 10);

		if (!used)
			return -ENOMEM;
	}
	mallopt(M_TOP_PAD, 128 << 10);
	advise(end, sbrk(0), huge);
	return 0;
}

void *bench_calloc(size_t count, size_t size, bool huge)
{
	char *p = calloc(count, size);

	/* a large block is a mapping of its own, and not yet touched */
	if (p)
		advise(p, p + count * size, huge);
	return p;
}

static bool read_word(char *word, size_t size, unsigned index, const char *file)
{
	char path[128];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/%s", index, file);
	f = fopen(path, "r");
	if (!f)
		return false;
	ok = fgets(word, (int)size, f) != NULL;
	fclose(f);
	return ok;
}

static size_t sysconf_bytes(unsigned level)
{
	static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
				    _SC_LEVEL3_CACHE_SIZE};
	long bytes = sysconf(names[level - 1]);

	return bytes > 0 ? (size_t)bytes : 0;
}

size_t bench_cache_bytes(unsigned level)
{
	/* sysfs first: on some virtual machines sysconf tells the size of all sockets' caches */
	for (unsigned index = 0; index < 8; index++) {
		char word[32], unit = 'K';
		unsigned is_level;
		size_t size;

		if (!read_word(word, sizeof(word), index, "level"))
			break;
		if (sscanf(word, "%u", &is_level) != 1 || is_level != level)
			continue;
		if (!read_word(word, sizeof(word), index, "type") || word[0] == 'I')
			continue;
		if (read_word(word, sizeof(word), index, "size") &&
		    sscanf(word, "%zu%c", &size, &unit) >= 1 && size > 0)
			return size << (unit == 'M' ? 20 : 10);
	}
	return sysconf_bytes(level);
}

static uint64_t invert(uint64_t odd)
{
	uint64_t x = odd; /* right in the low 3 bits; each round doubles them */

	for (int i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

void bench_shuffle_init(struct bench_shuffle *s, uint64_t count, uint64_t seed)
{
	s->mask = count - 1;
	s->shift = (unsigned)(64 - __builtin_clzll(count)) / 2 + 1;
	for (int i = 0; i < 3; i++) {
		seed = BENCH_LCG(seed);
		s->mul[i] = (seed >> 17) | 1;
		s->inverse[i] = invert(s->mul[i]);
	}
}

uint64_t bench_shuffle(const struct bench_shuffle *s, uint64_t x)
{
	for (int i = 0; i < 3; i++) {
		x = (x * s->mul[i] + 1) & s->mask;
		x ^= x >> s->shift; /* its own inverse, as shift is at least half the bits */
	}
	return x;
}

uint64_t bench_unshuffle(const struct bench_shuffle *s, uint64_t x)
{
	for (int i = 2; i >= 0; i--) {
		x ^= x >> s->shift;
		x = ((x - 1) * s->inverse[i]) & s->mask;
	}
	return x;
}

uint64_t bench_pow2_below(uint64_t x)
{
	return 1ull << (63 - __builtin_clzll(x));
}

uint64_t bench_thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}
