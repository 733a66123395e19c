/*
 * Two independent loads that miss, with n simple instructions between them: as long as both fit the
 * reorder window the second starts under the first, and the pair costs one latency; beyond, two.
 */
#include "count/run_ahead.h"

#include <x86intrin.h>

#include "base/base.h"
#include "base/clock.h"

enum { PAIRS = 64, RANK = PAIRS / 3 };

/* nop takes an entry of the reorder buffer and nothing else, so that no smaller resource
 * (registers, scheduler) ends the reach early: an upper bound is wanted. */
#define PAIR(n)                                                                                    \
	static uint64_t pair_##n(const void *a, const void *b)                                     \
	{                                                                                          \
		uint64_t start, x, y;                                                              \
                                                                                                   \
		_mm_mfence();                                                                      \
		_mm_lfence();                                                                      \
		start = nve_tsc();                                                                 \
		_mm_lfence();                                                                      \
		__asm__ volatile("mov (%2), %0\n"                                                  \
				 ".rept " #n "\n\tnop\n\t.endr\n"                                  \
				 "mov (%3), %1\n"                                                  \
				 : "=&r"(x), "=&r"(y)                                              \
				 : "r"(a), "r"(b));                                                \
		_mm_lfence();                                                                      \
		return nve_tsc() - start;                                                          \
	}

PAIR(16)
PAIR(160)
PAIR(192)
PAIR(224)
PAIR(256)
PAIR(320)
PAIR(384)
PAIR(448)
PAIR(512)
PAIR(576)
PAIR(640)
PAIR(768)
PAIR(1024)

static const struct distance {
	uint32_t instructions;
	uint64_t (*pair)(const void *a, const void *b);
} distance[] = {
	{16, pair_16},   {160, pair_160}, {192, pair_192},   {224, pair_224}, {256, pair_256},
	{320, pair_320}, {384, pair_384}, {448, pair_448},   {512, pair_512}, {576, pair_576},
	{640, pair_640}, {768, pair_768}, {1024, pair_1024},
};

/* A low quantile of the pairs' times: interruptions only add. */
static uint64_t pair_ticks(const struct distance *d, void **lines, size_t count)
{
	uint64_t ticks[PAIRS];

	for (size_t i = 0; i < PAIRS; i++) {
		const char *a = lines[2 * i % count], *b = lines[(2 * i + 1) % count];
		size_t at = i;
		uint64_t t;

		/* Read first: the translation must be at hand. */
		(void)*(const volatile char *)a;
		(void)*(const volatile char *)b;
		_mm_clflush(a);
		_mm_clflush(b);
		t = d->pair(a, b);
		for (; at > 0 && ticks[at - 1] > t; at--)
			ticks[at] = ticks[at - 1];
		ticks[at] = t;
	}
	return ticks[RANK];
}

static uint32_t measure_once(void **lines, size_t count)
{
	uint64_t near = pair_ticks(&distance[0], lines, count);

	for (size_t i = 1; i < NVE_ARRAY_SIZE(distance); i++)
		if (pair_ticks(&distance[i], lines, count) > near + near / 2)
			return distance[i].instructions;
	return distance[NVE_ARRAY_SIZE(distance) - 1].instructions;
}

uint32_t nve_run_ahead_measure(void **lines, size_t count)
{
	uint32_t a = measure_once(lines, count), b = measure_once(lines, count);
	uint32_t c = a == b ? a : measure_once(lines, count);

	/* The median of three: a busy moment of the host spoils one. */
	return NVE_MAX(NVE_MIN(a, b), NVE_MIN(NVE_MAX(a, b), c));
}
