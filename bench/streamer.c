/*
 * STREAM-like kernels, for emulated bandwidth: copy, scale, add, triad (McCalpin's), reads, writes,
 * memcpy, memset and string instructions over arrays far larger than the caches, by one or several
 * threads, which meet at a barrier before and after each pass; and beside them, where wanted, a
 * pointer chase.
 *
 * It tells its own bandwidth as STREAM does: bytes that the source code reads and writes, over wall
 * time. What the memory moves may be more: a plain store fetches the line first. Those bytes
 * are told apart, by how each kernel is made.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chase.h"
#include "stream.h"

enum { THREADS_MAX = 64 };

#define WARM_PART 0.3

typedef double word;

static struct {
	const struct bench_stream_kernel *kernel;
	unsigned threads;
	double seconds;
	bool chases;
	pthread_barrier_t barrier;
	struct bench_stream_part part[THREADS_MAX];
	_Atomic bool over;
	uint64_t passes, warm_passes; /* measured; before that */
	double stream_s, warm_s;
	/* the chase's */
	struct bench_chase chase;
	uint64_t steps;
	double chase_s, chase_cpu_s;
} state = {.threads = 1, .seconds = 2};

static double clock_s(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The compiler must neither call memcpy for a loop nor leave one out. */
#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory")

static void copy_libc(const struct bench_stream_part *p, double scalar)
{
	(void)scalar;
	memcpy(p->c, p->a, p->words * sizeof(word));
	KEEP(p->c);
}

static void set_libc(const struct bench_stream_part *p, double scalar)
{
	memset(p->a, (int)scalar, p->words * sizeof(word));
	KEEP(p->a);
}

#ifdef __x86_64__
static void string_copy(const struct bench_stream_part *p, double scalar)
{
	void *to = p->c;
	const void *from = p->a;
	size_t n = p->words;

	(void)scalar;
	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static void string_set(const struct bench_stream_part *p, double scalar)
{
	void *to = p->a;
	size_t n = p->words;

	__asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"((uint64_t)scalar) : "memory");
}
#endif

/* What the C library's own do depends on its thresholds: memcpy is meant to copy by loads and plain
 * stores, memcpy-nt by stores past the caches. Those, and string instructions, which memset uses,
 * fetch no line to fill it. */
static const struct bench_stream_kernel kernels[] = {
	{"memcpy", copy_libc, 8, 8, 16, 8}, {"memcpy-nt", copy_libc, 8, 8, 8, 8},
	{"memset", set_libc, 0, 8, 0, 8},
#ifdef __x86_64__
	{"movs", string_copy, 8, 8, 8, 8},  {"stos", string_set, 0, 8, 0, 8},
#endif
	{NULL, NULL, 0, 0, 0, 0},
};

/* The first passes warm up: the emulator, as the caches. */
static void note_pass(double took_s)
{
	if (state.warm_s < WARM_PART * state.seconds) {
		state.warm_s += took_s;
		state.warm_passes++;
		return;
	}
	state.stream_s += took_s;
	state.passes++;
	state.over = state.stream_s >= state.seconds;
}

static void *stream(void *arg)
{
	const struct bench_stream_part *p = arg;
	bool first = p == &state.part[0];

	for (double scalar = 3;; scalar++) {
		double start_s = clock_s(CLOCK_MONOTONIC);

		pthread_barrier_wait(&state.barrier);
		if (state.over)
			return NULL;
		state.kernel->run(p, scalar);
		pthread_barrier_wait(&state.barrier);
		if (first)
			note_pass(clock_s(CLOCK_MONOTONIC) - start_s);
	}
}

static void *chase(void *arg)
{
	struct bench_node *node = state.chase.nodes;
	double start_s = clock_s(CLOCK_MONOTONIC);
	double start_cpu_s = clock_s(CLOCK_THREAD_CPUTIME_ID);

	(void)arg;
	do {
		node = bench_chase_read(node, 10000);
		state.steps += 10000;
		state.chase_s = clock_s(CLOCK_MONOTONIC) - start_s;
		if (!state.kernel && state.chase_s >= state.seconds)
			state.over = true;
	} while (!state.over);
	state.chase_cpu_s = clock_s(CLOCK_THREAD_CPUTIME_ID) - start_cpu_s;
	KEEP(node);
	return NULL;
}

static void print(size_t words)
{
	const struct bench_stream_kernel *k = state.kernel;
	double total = k ? (double)words * (double)state.passes : 0;

	printf("{\"kernel\": \"%s\", \"threads\": %u, \"passes\": %llu, \"seconds\": %.6f",
	       k ? k->name : "none", state.threads, (unsigned long long)state.passes,
	       state.stream_s);
	if (k)
		printf(", \"warm_passes\": %llu, \"gb_per_s\": %.4f, \"source_bytes\": %.0f, "
		       "\"read_bytes\": %.0f, "
		       "\"written_bytes\": %.0f",
		       (unsigned long long)state.warm_passes,
		       total * (k->source_reads + k->source_writes) / state.stream_s / 1e9,
		       total * (k->source_reads + k->source_writes), total * k->reads,
		       total * k->writes);
	if (state.chases)
		printf(", \"chase_steps\": %llu, \"chase_ns\": %.3f, \"chase_cpu_ns\": %.3f",
		       (unsigned long long)state.steps, state.chase_s * 1e9 / (double)state.steps,
		       state.chase_cpu_s * 1e9 / (double)state.steps);
	printf("}\n");
}

static int usage(void)
{
	fprintf(stderr, "usage: nvmemu-streamer KERNEL|none [--threads N] [--mib N] [--seconds S]"
			" [--chase]\nkernels: copy scale add triad read write");
	for (const struct bench_stream_kernel *k = kernels; k->name; k++)
		fprintf(stderr, " %s", k->name);
	fprintf(stderr, "\n");
	return 2;
}

static int parse(int argc, char **argv, size_t *mib)
{
	if (argc < 2)
		return -EINVAL;
	state.kernel = bench_stream_find(argv[1]);
	for (const struct bench_stream_kernel *k = kernels; k->name; k++)
		if (!strcmp(argv[1], k->name))
			state.kernel = k;
	if (!state.kernel && strcmp(argv[1], "none"))
		return -EINVAL;
	for (int i = 2; i < argc; i++) {
		bool value = i + 1 < argc;

		if (!strcmp(argv[i], "--chase"))
			state.chases = true;
		else if (!strcmp(argv[i], "--threads") && value)
			state.threads = (unsigned)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--mib") && value)
			*mib = (size_t)atoi(argv[++i]);
		else if (!strcmp(argv[i], "--seconds") && value)
			state.seconds = atof(argv[++i]);
		else
			return -EINVAL;
	}
	state.chases |= !state.kernel;
	return state.threads >= 1 && state.threads <= THREADS_MAX && *mib > 0 && state.seconds > 0
		       ? 0
		       : -EINVAL;
}

static int start(size_t words, pthread_t *thread)
{
	struct bench_stream_part all;
	size_t part = words / state.threads / 8 * 8;
	int rc = bench_stream_make(&all, words * sizeof(word), true);

	if (rc)
		return rc;
	pthread_barrier_init(&state.barrier, NULL, state.threads);
	for (unsigned i = 0; i < state.threads; i++)
		state.part[i] = (struct bench_stream_part){all.a + i * part, all.b + i * part,
							   all.c + i * part, part};
	for (unsigned i = 1; i < state.threads; i++)
		pthread_create(&thread[i], NULL, stream, &state.part[i]);
	return 0;
}

int main(int argc, char **argv)
{
	size_t mib = 128, words;
	pthread_t thread[THREADS_MAX], chaser;

	if (parse(argc, argv, &mib))
		return usage();
	words = (mib << 20) / sizeof(word);
	words -= words % (8 * state.threads);
	if (state.chases && bench_chase_make(&state.chase, (size_t)256 << 20, true, 1))
		return 1;
	if (state.kernel && start(words, thread)) {
		fprintf(stderr, "nvmemu-streamer: no memory for the arrays\n");
		return 1;
	}
	if (state.chases)
		pthread_create(&chaser, NULL, chase, NULL);
	if (state.kernel)
		stream(&state.part[0]);
	for (unsigned i = 1; state.kernel && i < state.threads; i++)
		pthread_join(thread[i], NULL);
	if (state.chases)
		pthread_join(chaser, NULL);
	print(words);
	return 0;
}
