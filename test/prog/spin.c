/* spin MS: two threads, one after the other, that compute and never enter the kernel. */
#include <pthread.h>

#include "work.h"

static void *spin(void *ms)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(long)ms * 1000000;
	volatile uint64_t x = 0;

	while (clock_ns(CLOCK_MONOTONIC) < end)
		for (int i = 0; i < 10000; i++)
			x += x ^ (uint64_t)i;
	return NULL;
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? atol(argv[1]) : 100;
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, spin, (void *)ms));
	CHECK(!pthread_join(thread, NULL));
	spin((void *)ms);
	return 0;
}
