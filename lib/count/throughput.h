/*
 * How many bytes a second this machine's memory gives and takes: the most that can be emulated.
 *
 * Measured by children of our own, which leave nothing behind: buffers, page tables and caches are
 * theirs, and the process stays one of one thread. They are raw clones without an exit signal; the
 * program sees nothing of them.
 */
#ifndef NVE_COUNT_THROUGHPUT_H
#define NVE_COUNT_THROUGHPUT_H

#include <stdint.h>

/* Bytes per second. Writes: lines made dirty, and so written back. */
struct nve_throughput {
	uint64_t read, write;         /* of one thread */
	uint64_t all_read, all_write; /* of all processors together, 16 at most */
};

/* Takes some 100 ms, and up to 64 MiB for each processor. llc_bytes: of the last-level cache, 0:
 * not known. 0 or -errno. */
int nve_throughput_measure(uint64_t llc_bytes, struct nve_throughput *throughput);

#endif
