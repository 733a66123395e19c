/*
 * The dirty fraction: of the lines that a thread brings into the cache by misses, the part that is
 * written before it can be evicted.
 *
 * A window follows a line only to its own end, and writes may come long after the miss: survival
 * analysis with censored data. For each instruction that misses, the process keeps the counts of a
 * Kaplan-Meier estimate over the delay between miss and first write, in instructions, which take
 * each line for as long as it was followed. A thread's fraction is the mean of these probabilities
 * over the lines that its last windows missed, each window weighed by its share of stall time: what
 * counts is the stall time that the fraction is applied to.
 *
 * Signal-safe. The table is shared by threads (relaxed atomics: a lost update costs a line); struct
 * nve_dirty belongs to one.
 */
#ifndef NVE_AHEAD_DIRTY_H
#define NVE_AHEAD_DIRTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "count/ahead/lines.h"

/* Bucket j holds delays below 16 << j instructions that no lower bucket holds; the last one ends at
 * 65,536, the length of the longest window. */
enum { NVE_DIRTY_BUCKETS = 13 };

struct nve_dirty_table; /* in memory that the caller gives, zeroed */

size_t nve_dirty_table_bytes(void);

/* One line that the instruction at ip missed: followed for so many instructions, first written
 * after delay ones (or not). */
void nve_dirty_learn(struct nve_dirty_table *table, uint64_t ip, uint32_t followed, bool written,
		     uint32_t delay);

/* Probability that a line which this instruction misses gets written, 0 to 1. False while nothing
 * is known. Source: Kaplan and Meier, J. Am. Stat. Assoc. 53, 1958. */
bool nve_dirty_probability(struct nve_dirty_table *table, uint64_t ip, double *probability);

/* Probability that it is not written within the delays of which something is known, where that is
 * not the longest one; 0 if it is, 1 if nothing is known. */
double nve_dirty_unresolved(struct nve_dirty_table *table, uint64_t ip);

/* The same for a line that was followed for so many instructions and not written: that it is
 * written later. */
bool nve_dirty_probability_later(struct nve_dirty_table *table, uint64_t ip, uint32_t followed,
				 double *probability);

/* Of the lines that this instruction finds beside a missed one, the part that has come into the
 * cache with that one, 0 to 1. */
double nve_dirty_brought(struct nve_dirty_table *table, uint64_t ip);

/* A thread's. Zeroed: nothing is known. */
struct nve_dirty {
	double weight, sum; /* over its last windows, fading */
	/* over all, for the error: sums of weight, weight^2, weight * fraction, weight * fraction^2
	 */
	double all, all_squared, fraction, fraction_squared;
	uint64_t lines; /* whose probability of being written was known */
	/* of the last window's lines the part that may get written later than any window knows */
	double unresolved;
};

/* A window with misses ends: fraction is the mean probability of its missed lines, weight its share
 * of stall time, 0 to 1. */
void nve_dirty_end_window(struct nve_dirty *d, double weight, double fraction, uint32_t lines);

/* Both, of a window of so many steps that has touched these lines; missed ones that were followed
 * for a while count, and those that came with them. share: of stall time, 0 to 1. */
void nve_dirty_window(struct nve_dirty *d, struct nve_dirty_table *table,
		      const struct nve_lines *lines, uint32_t steps, double share);

/* The program does another thing from the last window on: what was before that counts little. */
void nve_dirty_another_phase(struct nve_dirty *d);

/* The fraction, 0 to 1, of the last windows; 0 while nothing is known. */
double nve_dirty_fraction(const struct nve_dirty *d);

/* Standard error of the weighted mean over all windows; 1 while there are fewer than two. Never 0:
 * of few lines none need be written though some are. */
double nve_dirty_se(const struct nve_dirty *d);

#endif
