/* What the victims do so that there is something to sample: a walk
 * over random lines, each step of which waits for the one before. */
#ifndef TEST_PROG_WORK_H
#define TEST_PROG_WORK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORK_BYTES = 32 << 20 };

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Uses so much CPU time of the calling thread. */
static inline void work_ms(unsigned ms)
{
	static char bytes[WORK_BYTES];
	static __thread uint32_t x = 1;
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000ull;

	do {
		for (int i = 0; i < 2000; i++) {
			char *byte = &bytes[x % WORK_BYTES];
			char value = __atomic_load_n(byte, __ATOMIC_RELAXED);

			__atomic_store_n(byte, (char)(value + 1), __ATOMIC_RELAXED);
			x = x * 1664525u + 1013904223u + (uint8_t)value;
		}
	} while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end);
}

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                 \
			exit(99);                                                                  \
		}                                                                                  \
	} while (0)

#endif
