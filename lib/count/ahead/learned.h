/*
 * What the process has learned of its hot instructions, shared by all threads: how much of the time
 * sampled at an instruction is memory stall.
 *
 * Counters are relaxed atomics, read and written apart: a lost update costs a sample, never sense.
 * Signal-safe, thread-safe. Addresses are keys only: code that is replaced at the same address
 * (JIT) is forgotten by halving.
 *
 * Sums are halved by the first window that adds to them after NVE_LEARNED_AGE others. A window
 * whose misses were an exception would otherwise be believed for long where misses are rare: it
 * outweighs all those that met none.
 */
#ifndef NVE_AHEAD_LEARNED_H
#define NVE_AHEAD_LEARNED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NVE_LEARNED_SLOTS = 32768, NVE_LABEL_UNITS = 16, NVE_LEARNED_AGE = 32 };

struct nve_learned_ip {
	_Atomic uint64_t ip;  /* 0: free */
	_Atomic uint32_t age; /* of the table, when the sums were added to last */
	/* over occurrences of the instruction: how long the one just before it held up the others,
	 * for a line from memory and in all; units of 1/NVE_LABEL_UNITS core cycle */
	_Atomic uint32_t waited, all;
};

struct nve_learned; /* the table; in memory that the caller gives */

size_t nve_learned_bytes(void);

/* The entry of an instruction; made when absent, in place of another where there is no room. NULL
 * when absent and not to be made. */
struct nve_learned_ip *nve_learned_find(struct nve_learned *table, uint64_t ip, bool make);

/* A window begins. */
void nve_learned_window(struct nve_learned *table);

void nve_learned_add(const struct nve_learned *table, struct nve_learned_ip *e, uint32_t waited,
		     uint32_t all);

/* The part of the time sampled at an instruction that is misses, 0 to 1. False while nothing is
 * known. */
bool nve_learned_label(const struct nve_learned_ip *e, double *label);

/* The same of the instruction at ip; NaN while nothing is known. */
double nve_learned_believed(struct nve_learned *table, uint64_t ip);

#endif
