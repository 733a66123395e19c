#include "count/calibrate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/file.h"
#include "count/ahead/probe.h"
#include "count/ahead/touch.h"
#include "count/run_ahead.h"

enum {
	HUGE_BYTES = 2 << 20,
	BUFFER_BYTES = 128 << 20,
	BLOCK_BYTES = 2048,  /* one node of the chase in each block of the buffer */
	CHASE_STEPS = 192,   /* of one turn */
	TIMED_STEPS = 64,
	PROBE_STEPS = 16,
	OUTLIER_TICKS = 20000,
	LLC_STEPS = 2048,    /* of one pass; the best of LLC_PASSES counts */
	LLC_PASSES = 12,
	FENCE_READS = 4000,
};

struct node {
	struct node *next;
	uint64_t pad[7];
};

struct bench {
	char *map, *buffer;
	size_t map_bytes, bytes; /* bytes: populated */
	struct node **node;      /* in order of the chase */
	size_t nodes, nodes_bytes;
	uint64_t random;
	uint64_t deadline_ns;
};

static uint64_t now_ns(void)
{
	return nve_clock_ns(CLOCK_MONOTONIC_RAW);
}

static uint64_t next_random(struct bench *b)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return b->random;
}

/* Backs as much of the buffer with memory as fits the time: fresh memory may be slow to come by in a
 * virtual machine. */
static void populate(struct bench *b, uint64_t until_ns)
{
	while (b->bytes < BUFFER_BYTES && (b->bytes < HUGE_BYTES * 4 || now_ns() < until_ns)) {
		for (size_t i = 0; i < HUGE_BYTES; i += NVE_PAGE_BYTES)
			b->buffer[b->bytes + i] = 1;
		b->bytes += HUGE_BYTES;
	}
}

static int make(struct bench *b, uint64_t start_ns, uint64_t limit_ns)
{
	b->map_bytes = BUFFER_BYTES + HUGE_BYTES;
	b->map = mmap(NULL, b->map_bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->map == MAP_FAILED)
		return -errno;
	b->nodes_bytes = BUFFER_BYTES / NVE_LINE_BYTES * sizeof(*b->node);
	b->node = mmap(NULL, b->nodes_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->node == MAP_FAILED) {
		munmap(b->map, b->map_bytes);
		return -errno;
	}
	b->buffer = b->map + (HUGE_BYTES - (uintptr_t)b->map % HUGE_BYTES) % HUGE_BYTES;
	madvise(b->buffer, BUFFER_BYTES, MADV_HUGEPAGE);
	b->random = 0x9e3779b97f4a7c15u;
	b->deadline_ns = start_ns + limit_ns;
	populate(b, start_ns + limit_ns * 45 / 100);
	return 0;
}

static void unmake(struct bench *b)
{
	munmap(b->node, b->nodes_bytes);
	munmap(b->map, b->map_bytes);
}

/* A random cycle with one node in each block of block_bytes over the first bytes of the buffer. */
static void link_nodes(struct bench *b, size_t bytes, size_t block_bytes)
{
	size_t per_block = block_bytes / NVE_LINE_BYTES;

	b->nodes = bytes / block_bytes;
	for (size_t i = 0; i < b->nodes; i++)
		b->node[i] = (struct node *)(b->buffer + i * block_bytes +
					     next_random(b) % per_block * NVE_LINE_BYTES);
	for (size_t i = b->nodes - 1; i > 0; i--) {
		size_t j = next_random(b) % (i + 1);
		struct node *swap = b->node[i];

		b->node[i] = b->node[j];
		b->node[j] = swap;
	}
	for (size_t i = 0; i < b->nodes; i++)
		b->node[i]->next = b->node[(i + 1) % b->nodes];
}

static void flush_nodes(const struct bench *b)
{
	for (size_t i = 0; i < b->nodes; i++)
		_mm_clflush(b->node[i]);
	_mm_mfence();
}

static struct node *chase(struct node *node, uint64_t steps, uint64_t *ticks)
{
	uint64_t start;

	_mm_lfence();
	start = nve_tsc();
	_mm_lfence();
	for (uint64_t i = 0; i < steps; i++)
		node = *(struct node *volatile *)&node->next;
	/* The last load must be complete: its value is compared before the clock is read. */
	__asm__ volatile("test %0, %0" : : "r"(node) : "cc");
	_mm_lfence();
	*ticks = nve_tsc() - start;
	return node;
}

struct sums {
	double chase_ticks, timed_ticks, probe_ticks;
	uint64_t chase_steps, timed_reads, probe_reads;
	uint32_t timed_low; /* least reading of a few, for the threshold: a low quantile */
};

static struct node *timed_turn(struct node *node, struct sums *s, uint32_t *histogram)
{
	for (int i = 0; i < TIMED_STEPS; i++) {
		uint64_t t = nve_touch_timed((uintptr_t)node);

		node = node->next;
		if (t > OUTLIER_TICKS)
			continue;
		s->timed_ticks += (double)t;
		s->timed_reads++;
		histogram[t / 4 < 512 ? t / 4 : 511]++;
	}
	return node;
}

static uint32_t quantile(const uint32_t *histogram, uint64_t total, uint32_t percent)
{
	uint64_t seen = 0;
	uint32_t i = 0;

	while (i < 511 && (seen += histogram[i]) * 100 < total * percent)
		i++;
	return i * 4 + 2;
}

/* Chase, timed reads and probe in turns, until the time is over. */
static void measure_dram(struct bench *b, struct sums *s)
{
	uint32_t histogram[512] = {0};
	size_t turns = b->nodes / (CHASE_STEPS + TIMED_STEPS);

	do {
		struct node *node = b->node[0];

		flush_nodes(b);
		for (size_t turn = 0; turn < turns && now_ns() < b->deadline_ns; turn++) {
			uint64_t ticks, probe_ticks = 0;

			node = chase(node, CHASE_STEPS, &ticks);
			node = timed_turn(node, s, histogram);
			s->probe_reads += nve_probe_read(PROBE_STEPS, OUTLIER_TICKS, &probe_ticks);
			s->probe_ticks += (double)probe_ticks;
			if (ticks > CHASE_STEPS * 2000) /* the core was taken away */
				continue;
			s->chase_ticks += (double)ticks;
			s->chase_steps += CHASE_STEPS;
		}
	} while (now_ns() < b->deadline_ns);
	s->timed_low = quantile(histogram, s->timed_reads, 5);
}

static uint64_t read_number(const char *path)
{
	char text[64];
	size_t length;
	uint64_t n;
	char *end;

	if (nve_file_read(path, text, sizeof(text), &length))
		return 0;
	n = strtoull(text, &end, 10);
	return *end == 'K' ? n << 10 : *end == 'M' ? n << 20 : n;
}

/* Of the largest level that this CPU can use. sysconf() tells the whole package's on some CPUs. */
static uint64_t llc_bytes(void)
{
	uint64_t bytes = read_number("/sys/devices/system/cpu/cpu0/cache/index3/size");
	long fallback = sysconf(_SC_LEVEL3_CACHE_SIZE);

	if (!bytes)
		bytes = read_number("/sys/devices/system/cpu/cpu0/cache/index2/size");
	return bytes ? bytes : fallback > 0 ? (uint64_t)fallback : 0;
}

/* A footprint that the second level cannot hold and the last one can. */
static size_t llc_footprint(const struct bench *b, uint64_t llc)
{
	uint64_t l2 = read_number("/sys/devices/system/cpu/cpu0/cache/index2/size");
	uint64_t bytes = NVE_MIN(l2 ? 3 * l2 : 3u << 20, llc ? llc / 4 : 3u << 20);

	return NVE_MIN(NVE_MAX(bytes, 1u << 20), b->bytes);
}

/* The best pass: a shared cache's neighbours push lines out to memory, which is not its latency. */
static void measure_llc(struct bench *b, struct nve_calibration *c)
{
	uint32_t histogram[512] = {0};
	struct sums s = {0};
	uint64_t ticks, best = UINT64_MAX;
	struct node *node;

	link_nodes(b, llc_footprint(b, c->llc_bytes), NVE_LINE_BYTES);
	node = chase(b->node[0], 2 * b->nodes, &ticks);
	for (int pass = 0; pass < LLC_PASSES; pass++) {
		node = chase(node, LLC_STEPS, &ticks);
		best = NVE_MIN(best, ticks);
		for (int turn = 0; turn < LLC_STEPS / TIMED_STEPS; turn++)
			node = timed_turn(node, &s, histogram);
	}
	c->llc_lat_ps = (uint32_t)((double)best * 1e9 / LLC_STEPS / (double)c->tsc_khz);
	c->timed_llc_cycles_milli = quantile(histogram, s.timed_reads, 50) * 1000;
}

static uint32_t measure_l1(struct bench *b)
{
	double sum = 0;
	int n = 0;

	for (int i = 0; i < FENCE_READS; i++) {
		uint64_t t = nve_touch_timed((uintptr_t)b->node[0]);

		if (i < 100 || t > 2000)
			continue;
		sum += (double)t;
		n++;
	}
	return n ? (uint32_t)(sum / n * 1000 + 0.5) : 0;
}

/* Between the caches' readings and memory's: the geometric mean of their net latencies. */
static uint32_t threshold(const struct nve_calibration *c, uint32_t dram_low_ticks)
{
	double fence = c->timed_l1_cycles_milli / 1e3;
	double llc = NVE_MAX(c->timed_llc_cycles_milli / 1e3 - fence, 4.0);
	double dram = NVE_MAX(dram_low_ticks - fence, llc + 1.0);

	return (uint32_t)(fence + __builtin_sqrt(llc * dram) + 0.5);
}

static bool uses_huge_pages(const struct bench *b)
{
	static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
	char text[128];
	size_t length;

	return b->bytes && !nve_file_read(path, text, sizeof(text), &length) &&
	       !strstr(text, "[never]");
}

static int fill(struct nve_calibration *c, const struct sums *s)
{
	const char *field;

	if (!s->chase_steps || !s->timed_reads || !s->probe_reads)
		return -ERANGE;
	c->dram_lat_ps = (uint32_t)(s->chase_ticks / (double)s->chase_steps * 1e9 /
				    (double)c->tsc_khz);
	c->timed_dram_cycles_milli = (uint32_t)(s->timed_ticks / (double)s->timed_reads * 1000);
	c->probe_cycles_milli = (uint32_t)(s->probe_ticks / (double)s->probe_reads * 1000);
	return nve_calibration_check(c, &field);
}

int nve_calibrate(struct nve_calibration *c, uint64_t limit_ns)
{
	uint64_t start_ns = now_ns(), start_tsc = nve_tsc();
	struct bench b = {0};
	struct sums s = {0};
	int rc = make(&b, start_ns, limit_ns);

	if (rc)
		return rc;
	rc = nve_probe_setup();
	if (rc)
		goto out_unmake;
	memset(c, 0, sizeof(*c));
	c->llc_bytes = llc_bytes();
	c->footprint_bytes = b.bytes;
	c->huge_pages = uses_huge_pages(&b);
	link_nodes(&b, b.bytes, BLOCK_BYTES);
	c->run_ahead_instructions = nve_run_ahead_measure((void **)b.node, b.nodes);
	measure_dram(&b, &s);
	c->tsc_khz = (uint64_t)((double)(nve_tsc() - start_tsc) * 1e6 / (double)(now_ns() - start_ns) +
				0.5);
	measure_llc(&b, c);
	c->timed_l1_cycles_milli = measure_l1(&b);
	c->fence_cycles = (c->timed_l1_cycles_milli + 500) / 1000;
	c->threshold_cycles = threshold(c, s.timed_low);
	c->measured_at_s = (uint64_t)time(NULL);
	rc = fill(c, &s);
out_unmake:
	unmake(&b);
	return rc;
}
