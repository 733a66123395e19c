#include "stream.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* The compiler must neither call memcpy for a loop nor leave one out. */
#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory")

static void copy(const struct bench_stream_part *p, double scalar)
{
	(void)scalar;
	for (size_t i = 0; i < p->words; i += 4) {
		p->c[i] = p->a[i];
		p->c[i + 1] = p->a[i + 1];
		p->c[i + 2] = p->a[i + 2];
		p->c[i + 3] = p->a[i + 3];
		KEEP(p->c);
	}
}

static void scale(const struct bench_stream_part *p, double scalar)
{
	for (size_t i = 0; i < p->words; i++)
		p->b[i] = scalar * p->c[i];
}

static void add(const struct bench_stream_part *p, double scalar)
{
	(void)scalar;
	for (size_t i = 0; i < p->words; i++)
		p->c[i] = p->a[i] + p->b[i];
}

static void triad(const struct bench_stream_part *p, double scalar)
{
	for (size_t i = 0; i < p->words; i++)
		p->a[i] = p->b[i] + scalar * p->c[i];
}

static void reads(const struct bench_stream_part *p, double scalar)
{
	double sum[4] = {scalar};

	for (size_t i = 0; i < p->words; i += 4) {
		sum[0] += p->a[i];
		sum[1] += p->a[i + 1];
		sum[2] += p->a[i + 2];
		sum[3] += p->a[i + 3];
	}
	sum[0] += sum[1] + sum[2] + sum[3];
	KEEP(sum);
}

static void writes(const struct bench_stream_part *p, double scalar)
{
	for (size_t i = 0; i < p->words; i += 4) {
		p->a[i] = p->a[i + 1] = p->a[i + 2] = p->a[i + 3] = scalar;
		KEEP(p->a);
	}
}

static const struct bench_stream_kernel kernels[] = {
	{"copy", copy, 8, 8, 16, 8}, {"scale", scale, 8, 8, 16, 8},
	{"add", add, 16, 8, 24, 8},  {"triad", triad, 16, 8, 24, 8},
	{"read", reads, 8, 0, 8, 0}, {"write", writes, 0, 8, 8, 8},
};

const struct bench_stream_kernel *bench_stream_find(const char *name)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (!strcmp(kernels[i].name, name))
			return &kernels[i];
	return NULL;
}

static double *map(size_t bytes, bool huge)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		return NULL;
	madvise(mem, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(mem, 1, bytes);
	return mem;
}

int bench_stream_make(struct bench_stream_part *arrays, size_t bytes, bool huge)
{
	*arrays = (struct bench_stream_part){map(bytes, huge), map(bytes, huge), map(bytes, huge),
					     bytes / sizeof(*arrays->a)};
	if (arrays->a && arrays->b && arrays->c)
		return 0;
	bench_stream_free(arrays);
	return -ENOMEM;
}

void bench_stream_free(struct bench_stream_part *arrays)
{
	double *const all[] = {arrays->a, arrays->b, arrays->c};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i])
			munmap(all[i], arrays->words * sizeof(*arrays->a));
}
