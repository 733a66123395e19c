/*
 * What the process has learned of its hot instructions, shared by all threads: how much of the time
 * sampled at an instruction is memory stall, and how many of the lines that an instruction misses
 * on are written before they can be evicted.
 *
 * Counters are only ever added to, with relaxed atomics: a lost update costs a sample, never sense.
 * Signal-safe, thread-safe. Addresses are keys only: code that is replaced at the same address
 * (JIT) is forgotten by halving.
 */
#ifndef NVE_AHEAD_LEARNED_H
#define NVE_AHEAD_LEARNED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Delays between the first touch of a line and its first write, in instructions: bucket j holds
 * delays below 16 * 4^j that no lower bucket holds. The last one ends at 16 * 4^6 = 65,536. */
enum { NVE_DELAY_BUCKETS = 7, NVE_LEARNED_SLOTS = 8192 };

/* Kaplan-Meier counts: of the lines followed to the end of bucket j and not written before it,
 * how many were written in it. */
struct nve_dirty_counts {
	_Atomic uint32_t at_risk[NVE_DELAY_BUCKETS], written[NVE_DELAY_BUCKETS];
};

struct nve_learned_ip {
	_Atomic uint64_t ip; /* 0: free */
	/* of samples at this instruction: sums of stall labels and of samples with a label */
	_Atomic uint32_t labels, label_sum_ppm_1024; /* the sum in units of 1024 ppm */
	_Atomic uint64_t suspect_ip;                 /* the access that last missed there */
	/* of misses made by this instruction */
	struct nve_dirty_counts dirty;
};

struct nve_learned; /* the table; in memory that the caller gives */

size_t nve_learned_bytes(void);

/* The entry of an instruction, made when absent and room is left; NULL when not. */
struct nve_learned_ip *nve_learned_find(struct nve_learned *table, uint64_t ip, bool make);

void nve_learned_add_label(struct nve_learned_ip *e, uint32_t label_ppm);

/* Mean label of an instruction. False when too little is known. */
bool nve_learned_label(const struct nve_learned_ip *e, uint32_t *label_ppm);

/* One missed line: followed for so many instructions, written after delay ones (or not). */
void nve_dirty_add(struct nve_dirty_counts *d, uint32_t followed, bool written, uint32_t delay);

/*
 * The probability that a missed line is written, by the Kaplan-Meier product over the buckets, and
 * its standard error by Greenwood's formula, both ppm. Buckets with fewer than min_at_risk lines
 * are left out. Returns the number of lines it rests on (those of the first bucket).
 */
uint32_t nve_dirty_estimate(const struct nve_dirty_counts *d, uint32_t min_at_risk,
			    uint32_t *dirty_ppm, uint32_t *se_ppm);

#endif
