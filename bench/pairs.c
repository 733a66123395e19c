/*
 * pairs time THREADS [PAIRS]: what a pair of malloc and free takes, 16 to 256 bytes through calls
 * four deep, 1,024 live blocks a thread, freed in random order; ns of the thread, the least of
 * three rounds. pairs live BLOCKS: resident bytes for each of so many live blocks of 64 bytes,
 * beyond those. pairs arenas: the same for each of 64 call paths that hold 5 MiB, beyond that. Both
 * are of the second half: what a process has once, whenever it gets it, is nobody's share.
 *
 * Prints one line of JSON.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"

enum {
	SLOTS = 1024,
	ROUNDS = 3,
	THREADS_MAX = 64,
	BLOCK = 64,
	PATHS = 64,
	PATH_BYTES = 5 << 20,
	PATH_BLOCK = 64 << 10
};

static long pairs = 5000000;

/* Calls that stay calls. */
#define DEEPER(name, next)                                                                         \
	static __attribute__((noinline)) void *name(size_t size)                                   \
	{                                                                                          \
		void *p = next(size);                                                              \
                                                                                                   \
		__asm__ volatile("" : : "r"(p) : "memory");                                        \
		return p;                                                                          \
	}
DEEPER(fourth, malloc)
DEEPER(third, fourth)
DEEPER(second, third)
DEEPER(first, second)

static void *run(void *arg)
{
	char *slot[SLOTS] = {NULL};
	uint64_t x = 88172645463325252u, start = nve_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (long i = 0; i < pairs; i++) {
		char **at;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		at = &slot[x % SLOTS];
		free(*at);
		*at = first(16 + (x >> 32) % 241);
		**at = 1;
	}
	*(double *)arg = (double)(nve_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)pairs;
	for (int i = 0; i < SLOTS; i++)
		free(slot[i]);
	return NULL;
}

static double run_threads(int threads)
{
	pthread_t thread[THREADS_MAX];
	double ns[THREADS_MAX], sum = 0;

	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, run, &ns[i]))
			exit(1);
	for (int i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		sum += ns[i];
	}
	return sum / threads;
}

static void time_pairs(int threads)
{
	double least = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double ns = run_threads(threads);

		least = i && least < ns ? least : ns;
	}
	printf("{\"ns\": %.3f}\n", least);
}

static double resident_bytes(void)
{
	unsigned long all, resident;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%lu %lu", &all, &resident) != 2)
		exit(1);
	fclose(f);
	return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void hold_blocks(long blocks)
{
	void **block = calloc((size_t)blocks, sizeof(*block));
	double before = 0;

	if (!block)
		exit(1);
	memset(block, 1, (size_t)blocks * sizeof(*block));
	for (long i = 0; i < blocks; i++) {
		if (i == blocks / 2)
			before = resident_bytes();
		block[i] = first(BLOCK);
		memset(block[i], 1, BLOCK);
	}
	printf("{\"bytes\": %.2f}\n",
	       (resident_bytes() - before) / (double)(blocks - blocks / 2) - BLOCK);
}

/* A path for each bit pattern of six turns. */
static __attribute__((noinline)) void *turn(unsigned path, int turns, size_t size)
{
	void *p;

	if (!turns)
		p = malloc(size);
	else if (path & 1)
		p = turn(path >> 1, turns - 1, size);
	else
		p = turn(path >> 1, turns - 1, size);
	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}

static void hold_paths(void)
{
	double before = 0;

	for (unsigned path = 0; path < PATHS; path++) {
		if (path == PATHS / 2)
			before = resident_bytes();
		for (int i = 0; i < PATH_BYTES / PATH_BLOCK; i++)
			memset(turn(path, 6, PATH_BLOCK), 1, PATH_BLOCK);
	}
	printf("{\"bytes\": %.0f}\n", (resident_bytes() - before) / (PATHS / 2) - PATH_BYTES);
}

int main(int argc, char **argv)
{
	if (argc > 3)
		pairs = atol(argv[3]);
	if (argc >= 3 && !strcmp(argv[1], "time") && atoi(argv[2]) <= THREADS_MAX && pairs > 0)
		time_pairs(atoi(argv[2]));
	else if (argc == 3 && !strcmp(argv[1], "live") && atol(argv[2]) > 0)
		hold_blocks(atol(argv[2]));
	else if (argc == 2 && !strcmp(argv[1], "arenas"))
		hold_paths();
	else
		return 2;
	return 0;
}
