/* limits THREADS: works, with so many threads more, each with a large block that it writes all over
 * and many small ones. A program that fits its limits must go on fitting them. */
#include <pthread.h>

#include "work.h"

enum { LARGE = 8 << 20, WORK_MS = 80, THREADS = 8 };

static void *work(void *unused)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + WORK_MS * 1000000ull;
	unsigned char *large = malloc(LARGE), *small;
	uint32_t x = 1;

	CHECK(large);
	while (clock_ns(CLOCK_MONOTONIC) < end) {
		for (int i = 0; i < 5000; i++) {
			x = x * 1664525 + 1013904223;
			large[x % LARGE]++;
		}
		small = malloc(x % 5000 + 1);
		CHECK(small);
		*small = 1;
		free(small);
	}
	free(large);
	return unused;
}

int main(int argc, char **argv)
{
	long threads = argc > 1 ? atol(argv[1]) : 0;
	pthread_t thread[THREADS];

	CHECK(threads <= THREADS);
	for (long i = 0; i < threads; i++)
		CHECK(!pthread_create(&thread[i], NULL, work, NULL));
	work(NULL);
	for (long i = 0; i < threads; i++)
		CHECK(!pthread_join(thread[i], NULL));
	puts("done");
	return 0;
}
