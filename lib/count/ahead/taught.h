/*
 * How far few windows can be trusted: each at an instruction of which others have told already says
 * how far off those were. Pure.
 */
#ifndef NVE_AHEAD_TAUGHT_H
#define NVE_AHEAD_TAUGHT_H

#include <math.h>

#include "count/ahead/ahead.h"

/* A window says that misses hold up so much of the sampled instruction's time; others before it had
 * it believed that so much. Either is NaN where nothing is
 * known (0 / 0: it was not met). exposed: what of that is stall
 * time. */
static inline void nve_taught_compare(struct nve_ahead_counts *c, double told, double believed,
				      double exposed)
{
	double difference = (told - believed) * exposed;

	if (isnan(difference))
		return;
	c->compared++;
	c->differed_squared += difference * difference;
}

/* Variance that the share of so many of the thread's answered samples owes to what windows have
 * taught: as many of them as fall to these samples. */
static inline double nve_taught_variance(const struct nve_ahead_counts *c, double samples)
{
	double windows = samples * (double)c->windows / (double)c->answered;

	return c->compared ? c->differed_squared / (double)c->compared / windows : 0;
}

#endif
