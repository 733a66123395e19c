/*
 * The pointer chase that robench, wbbench and `nvmemu validate` share: a random cyclic list of
 * 64-byte nodes (one Hamiltonian cycle), as Koshiba et al. 2019 define it.
 */
#ifndef BENCH_CHASE_H
#define BENCH_CHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_node {
	struct bench_node *next;
	uint64_t value;
	uint64_t pad[6];
};

struct bench_chase {
	struct bench_node *nodes;
	size_t count, bytes;
	bool huge; /* really backed by huge pages */
};

/* Size of the last-level cache that this CPU can use, bytes (sysfs, else sysconf); 0: unknown. */
size_t bench_llc_bytes(void);

/* bytes: footprint; huge: ask for huge pages. 0 or -errno. */
int bench_chase_make(struct bench_chase *chase, size_t bytes, bool huge, uint64_t seed);
void bench_chase_free(struct bench_chase *chase);

/* Makes a random cycle of nodes that are anywhere. */
void bench_chase_link(struct bench_node *nodes, size_t count, uint64_t seed);

/* Follow steps links from node on; the second writes each node before it follows the link. */
struct bench_node *bench_chase_read(struct bench_node *node, uint64_t steps);
struct bench_node *bench_chase_write(struct bench_node *node, uint64_t steps);

#endif
