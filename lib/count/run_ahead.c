/*
 * Two independent loads that miss, with n simple instructions between them: as long as both fit the
 * reorder window the second starts under the first, and the pair costs one latency; beyond, two.
 */
#include "count/run_ahead.h"

#include "base/arch.h"
#include "base/base.h"
#include "base/clock.h"

enum { PAIRS = 64, RANK = PAIRS / 3 };

/* Two kinds of filler. nop takes an entry of the reorder buffer and nothing else: the longest
 * reach. A move of a constant takes a register as well: the reach of code that computes. */
#define PAIR(name, n, filler)                                                                      \
	static uint64_t name##_##n(const void *a, const void *b)                                   \
	{                                                                                          \
		uint64_t start, x, y, z;                                                           \
                                                                                                   \
		nve_arch_fence();                                                                  \
		start = nve_tsc();                                                                 \
		nve_arch_fence_loads();                                                            \
		__asm__ volatile("mov (%3), %0\n"                                                  \
				 ".rept " #n "\n\t" filler "\n\t.endr\n"                           \
				 "mov (%4), %1\n"                                                  \
				 : "=&r"(x), "=&r"(y), "=&r"(z)                                    \
				 : "r"(a), "r"(b));                                                \
		nve_arch_fence_loads();                                                            \
		return nve_tsc() - start;                                                          \
	}

#define FOR_EACH_DISTANCE(X, name, filler)                                                         \
	X(name, 16, filler)                                                                        \
	X(name, 96, filler)                                                                        \
	X(name, 128, filler)                                                                       \
	X(name, 160, filler)                                                                       \
	X(name, 176, filler)                                                                       \
	X(name, 192, filler)                                                                       \
	X(name, 224, filler)                                                                       \
	X(name, 256, filler)                                                                       \
	X(name, 288, filler)                                                                       \
	X(name, 320, filler)                                                                       \
	X(name, 384, filler)                                                                       \
	X(name, 448, filler)                                                                       \
	X(name, 512, filler)                                                                       \
	X(name, 576, filler)                                                                       \
	X(name, 640, filler)                                                                       \
	X(name, 768, filler)                                                                       \
	X(name, 1024, filler)

#define ROW(name, n, filler) {n, name##_##n},

FOR_EACH_DISTANCE(PAIR, plain, "nop")
FOR_EACH_DISTANCE(PAIR, writing, "mov $1, %k2")

struct distance {
	uint32_t instructions;
	uint64_t (*pair)(const void *a, const void *b);
};

static const struct distance plain[] = {FOR_EACH_DISTANCE(ROW, plain, "")};
static const struct distance writing[] = {FOR_EACH_DISTANCE(ROW, writing, "")};

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
		nve_arch_flush(a);
		nve_arch_flush(b);
		t = d->pair(a, b);
		for (; at > 0 && ticks[at - 1] > t; at--)
			ticks[at] = ticks[at - 1];
		ticks[at] = t;
	}
	return ticks[RANK];
}

static uint32_t measure_once(const struct distance *distance, void **lines, size_t count)
{
	size_t last = NVE_ARRAY_SIZE(plain) - 1;
	uint64_t near = pair_ticks(&distance[0], lines, count);

	for (size_t i = 1; i < last; i++)
		if (pair_ticks(&distance[i], lines, count) > near + near / 2)
			return distance[i].instructions;
	return distance[last].instructions;
}

/* The median of three: a busy moment of the host spoils one. */
static uint32_t measure(const struct distance *distance, void **lines, size_t count)
{
	uint32_t a = measure_once(distance, lines, count);
	uint32_t b = measure_once(distance, lines, count);
	uint32_t c = a == b ? a : measure_once(distance, lines, count);

	uint32_t low = NVE_MIN(a, b), high = NVE_MAX(a, b), middle = NVE_MIN(high, c);

	return NVE_MAX(low, middle);
}

void nve_run_ahead_measure(void **lines, size_t count, uint32_t *instructions, uint32_t *writers)
{
	*instructions = measure(plain, lines, count);
	*writers = measure(writing, lines, count);
}
