/*
 * hybrid PERCENT READS|WRITES READS|WRITES [BYTES]: two chases over two allocation sites. Of each
 * ten steps, PERCENT / 10 (1, 5 or 9) are on the first list, the others on the second; either is
 * read, or written as well. The steps wait for each other, also from list to list, so each costs
 * one access to memory.
 *
 * For each number of steps on a line of stdin it walks so many, a multiple of ten, and answers with
 * the CPU time in nanoseconds. A guidance file may name the lines marked below.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "chase.h"

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

enum { PERIOD = 10, BYTES_DEFAULT = 128 << 20 };

#define INLINE static inline __attribute__((always_inline))

struct lists {
	struct bench_node *first, *second;
	uint64_t zero; /* nobody knows but us */
};

/* So that the compiler makes no jump to malloc() of a call, as who jumps is not on the call path;
 * nor one function of two that are alike. */
#define NO_TAIL_CALL(p, name) __asm__ volatile("/* " name " */" : "+r"(p))

static __attribute__((noinline)) void *allocate_first(size_t bytes)
{
	void *p = malloc(bytes); /* site: first */

	NO_TAIL_CALL(p, "first");
	return p;
}

static __attribute__((noinline)) void *allocate_second(size_t bytes)
{
	void *p = malloc(bytes); /* site: second */

	NO_TAIL_CALL(p, "second");
	return p;
}

static struct bench_node *make(void *(*allocate)(size_t bytes), size_t bytes, uint64_t seed)
{
	char *raw = allocate(bytes + HUGE_PAGE_BYTES), *start;

	if (!raw) {
		fprintf(stderr, "hybrid: no memory\n");
		exit(1);
	}
	start = (char *)(((uintptr_t)raw + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1));
	madvise(start, bytes, MADV_HUGEPAGE);
	bench_chase_link((struct bench_node *)start, bytes / sizeof(struct bench_node), seed);
	return (struct bench_node *)start;
}

/* The next node, whose address is not known before the one that was walked to last. */
INLINE struct bench_node *step(struct bench_node *node, const struct bench_node *last,
			       uint64_t zero, bool writes)
{
	uintptr_t wait = (uintptr_t)last & zero;

	if (writes)
		*(volatile uint64_t *)((uintptr_t)&node->value + wait) = zero;
	return *(struct bench_node *volatile *)((uintptr_t)&node->next + wait);
}

INLINE void walk(struct lists *l, uint64_t steps, unsigned firsts, bool first_writes,
		 bool second_writes)
{
	struct bench_node *a = l->first, *b = l->second, *last = a;
	uint64_t zero = l->zero;

	__asm__ volatile("" : "+r"(zero));
	for (; steps >= PERIOD; steps -= PERIOD) {
#pragma GCC unroll 16
		for (unsigned i = 0; i < firsts; i++)
			last = a = step(a, last, zero, first_writes);
#pragma GCC unroll 16
		for (unsigned i = firsts; i < PERIOD; i++)
			last = b = step(b, last, zero, second_writes);
	}
	l->first = a;
	l->second = b;
}

#define WALK(firsts)                                                                               \
	static __attribute__((noinline)) void walk_##firsts(struct lists *l, uint64_t steps,       \
							    unsigned writes)                       \
	{                                                                                          \
		switch (writes) {                                                                  \
		case 0: walk(l, steps, firsts, false, false); break;                               \
		case 1: walk(l, steps, firsts, true, false); break;                                \
		case 2: walk(l, steps, firsts, false, true); break;                                \
		default: walk(l, steps, firsts, true, true); break;                                \
		}                                                                                  \
	}

WALK(1)
WALK(5)
WALK(9)

static void walk_any(struct lists *l, uint64_t steps, unsigned firsts, unsigned writes)
{
	switch (firsts) {
	case 1: walk_1(l, steps, writes); break;
	case 5: walk_5(l, steps, writes); break;
	default: walk_9(l, steps, writes); break;
	}
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool parse_access(const char *word, bool *writes)
{
	*writes = !strcmp(word, "writes");
	return *writes || !strcmp(word, "reads");
}

int main(int argc, char **argv)
{
	unsigned percent = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	size_t bytes = argc > 4 ? strtoul(argv[4], NULL, 10) : BYTES_DEFAULT;
	bool first_writes, second_writes;
	struct lists lists = {.zero = 0};
	unsigned long long steps;

	if (argc < 4 || (percent != 10 && percent != 50 && percent != 90) ||
	    !parse_access(argv[2], &first_writes) || !parse_access(argv[3], &second_writes) ||
	    bytes < sizeof(struct bench_node) * 2) {
		fprintf(stderr, "usage: hybrid 10|50|90 reads|writes reads|writes [BYTES]\n");
		return 2;
	}
	lists.first = make(allocate_first, bytes, 1);
	lists.second = make(allocate_second, bytes, 2);
	while (scanf("%llu", &steps) == 1) {
		uint64_t start = cpu_ns();

		walk_any(&lists, steps, percent / PERIOD, first_writes + 2u * second_writes);
		printf("%llu\n", (unsigned long long)(cpu_ns() - start));
		fflush(stdout);
	}
	return 0;
}
