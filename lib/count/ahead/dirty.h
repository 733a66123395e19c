/*
 * The dirty fraction: of the lines that a thread brings into the cache by misses, the part that is
 * written before it can be evicted.
 *
 * A window follows a line only to its own end, and writes may come long after the miss: survival
 * analysis with censored data. The Kaplan-Meier estimate over the delay between miss and first
 * write, in instructions, takes each line for as long as it was followed. Windows weigh alike,
 * whatever number of misses they saw: a window with few misses stands for as much stall time.
 *
 * Pure. Not thread-safe.
 */
#ifndef NVE_AHEAD_DIRTY_H
#define NVE_AHEAD_DIRTY_H

#include <stdbool.h>
#include <stdint.h>

/* Bucket j holds delays below 16 << j instructions that no lower bucket holds; the last one ends at
 * 65,536, the length of the longest window. */
enum { NVE_DIRTY_BUCKETS = 13 };

struct nve_dirty {
	/* of the lines followed to the end of bucket j and not written before it: all, and those
	 * written in it; sums of weights that fade */
	double at_risk[NVE_DIRTY_BUCKETS], written[NVE_DIRTY_BUCKETS];
	/* of windows with misses: number, and sums of their own fractions and squares; for the
	 * error */
	double windows, fraction, fraction_squared;
};

/* One missed line of a window with weight: followed for so many instructions, first written after
 * delay ones (or not). */
void nve_dirty_add(struct nve_dirty *d, double weight, uint32_t followed, bool written,
		   uint32_t delay);

/* A window with misses ends; fraction of them was seen to be written. */
void nve_dirty_end_window(struct nve_dirty *d, double fraction);

/* The fraction, 0 to 1, and its standard error (of the mean over windows). 0 and 1 while nothing is
 * known. Source: Kaplan and Meier, J. Am. Stat. Assoc. 53, 1958. */
double nve_dirty_fraction(const struct nve_dirty *d, double *se);

#endif
