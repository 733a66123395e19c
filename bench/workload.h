/*
 * Kernels whose stall share and dirty fraction are known: by construction, from the same loop over
 * a cache-resident footprint, or from a cache simulator. One table row each.
 *
 * A kernel is a loop over state that its setup made; run() goes on where the last call stopped, so
 * that a measured phase can be cut into slices. check() recomputes what the steps should have left
 * behind, by other code.
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bench_origin {
	BENCH_CONSTRUCTION, /* known from how the loop is made; the value stands in the row */
	BENCH_RESIDENT,  /* stall: 1 - time a step with a resident footprint / with the full one */
	BENCH_CALLGRIND, /* dirty: simulated write-backs over simulated misses */
	BENCH_COUNTED,   /* dirty: steps that wrote / all steps, as the program counted them */
	BENCH_LATENCY,   /* stall: from the time a step, between the latencies of LLC and memory */
	BENCH_NONE,      /* without meaning: hardly anything misses, or nothing that stalls */
};

enum bench_fit { BENCH_FIT_L1, BENCH_FIT_L2, BENCH_FIT_LLC, BENCH_FIT_4_LLC, BENCH_FIT_8_LLC };

struct bench_run;

struct bench_kernel {
	const char *name, *what;
	enum bench_origin stall_origin, dirty_origin;
	double stall, dirty; /* where the origin is construction */
	enum bench_fit fit;  /* default footprint */
	unsigned percent;    /* nodes or lines that are written; most kernels: 0 or 100 */
	unsigned param;      /* what else setup needs to know; see the kernel */
	int (*setup)(struct bench_run *run);
	void (*run)(struct bench_run *run, uint64_t steps);
	void (*finish)(struct bench_run *run); /* after the last run(); may be NULL */
	int (*check)(struct bench_run *run);   /* 0, or -EBADMSG */
	bool keeps_size; /* resident: the structure stays as large, fewer of its parts are used */
};

struct bench_run {
	const struct bench_kernel *kernel;
	size_t bytes;  /* footprint */
	uint64_t keys; /* how many different ones are looked up; 0: as the kernel decides */
	bool resident; /* few kernels need to know: those whose structure must stay large */
	bool huge;     /* asked for */
	bool huge_got;
	uint64_t steps;                       /* so far, by all calls of run() */
	uint64_t writes;                      /* counted by kernels with BENCH_COUNTED */
	uint64_t second_steps, second_cpu_ns; /* of the other thread, for kernels that have one */
	uint64_t checksum;
	void *state;
};

extern const struct bench_kernel bench_chase_kernels[], bench_random_kernels[],
	bench_stream_kernels[], bench_table_kernels[], bench_mix_kernels[];

/* The plain chase, for kernels made of it; the sum is that of all nodes' values. */
int bench_chase_setup(struct bench_run *run);
void bench_chase_run_read(struct bench_run *run, uint64_t steps);
void bench_chase_run_write(struct bench_run *run, uint64_t steps);
uint64_t bench_chase_sum(const struct bench_run *run);

/* Zero-filled memory, backed by huge pages where wanted and possible; NULL: none left. */
void *bench_map(size_t bytes, bool huge, bool *huge_got);

/* Is the page there a huge one? */
bool bench_is_huge(const void *start);

/* Grows the heap in one go, so that nodes which are malloc'ed next come from huge pages. */
int bench_grow_heap(size_t bytes, bool huge);

/* calloc, from huge pages where wanted and the block is large. */
void *bench_calloc(size_t count, size_t size, bool huge);

/* Size of a cache of this CPU in bytes: level 1 to 3, data or unified; 0: unknown. */
size_t bench_cache_bytes(unsigned level);

/*
 * A pseudo-random bijection of the numbers below a power of two, and its inverse: a random order
 * without a table, so that set-up is short.
 */
struct bench_shuffle {
	uint64_t mask;
	unsigned shift;
	uint64_t mul[3], inverse[3];
};

void bench_shuffle_init(struct bench_shuffle *s, uint64_t count, uint64_t seed);
uint64_t bench_shuffle(const struct bench_shuffle *s, uint64_t x);
uint64_t bench_unshuffle(const struct bench_shuffle *s, uint64_t x);

/* The largest power of two that is not above x; x > 0. */
uint64_t bench_pow2_below(uint64_t x);

uint64_t bench_thread_cpu_ns(void);

/* A linear congruential step, the upper bits are good. */
#define BENCH_LCG(x) ((x)*6364136223846793005u + 1442695040888963407u)

#define BENCH_NOINLINE __attribute__((noinline))
#define BENCH_INLINE   static inline __attribute__((always_inline))

#endif
