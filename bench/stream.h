/*
 * The kernels of STREAM (McCalpin), with plain loads and stores, that bench/streamer.c and `nvmemu
 * validate` share; and reads and writes alone.
 */
#ifndef BENCH_STREAM_H
#define BENCH_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pieces of the arrays, of equal length, a multiple of 4 words. */
struct bench_stream_part {
	double *a, *b, *c;
	size_t words;
};

/* Bytes per word of an array: that the source reads and writes; that memory gives and takes, lines
 * fetched before they are overwritten included. */
struct bench_stream_kernel {
	const char *name;
	void (*run)(const struct bench_stream_part *p, double scalar);
	unsigned source_reads, source_writes, reads, writes;
};

/* copy, scale, add, triad, read, write. NULL: there is none of that name. */
const struct bench_stream_kernel *bench_stream_find(const char *name);

/* Three arrays of so many bytes each, written. huge: ask for huge pages. 0 or -errno. */
int bench_stream_make(struct bench_stream_part *arrays, size_t bytes, bool huge);
void bench_stream_free(struct bench_stream_part *arrays);

#endif
