#include "count/ahead/dirty.h"

#include <math.h>

/* Windows after which older ones weigh half; lines' weights that a bucket must rest on. */
static const double fade_windows = 256, least_at_risk = 0.2;

static uint32_t bucket_end(int bucket)
{
	return 16u << bucket;
}

void nve_dirty_add(struct nve_dirty *d, double weight, uint32_t followed, bool written,
		   uint32_t delay)
{
	for (int j = 0; j < NVE_DIRTY_BUCKETS && followed >= bucket_end(j); j++) {
		d->at_risk[j] += weight;
		if (written && delay < bucket_end(j)) {
			d->written[j] += weight;
			break;
		}
	}
}

void nve_dirty_end_window(struct nve_dirty *d, double fraction)
{
	d->windows++;
	d->fraction += fraction;
	d->fraction_squared += fraction * fraction;
	if (d->at_risk[0] < fade_windows)
		return;
	for (int j = 0; j < NVE_DIRTY_BUCKETS; j++) {
		d->at_risk[j] /= 2;
		d->written[j] /= 2;
	}
}

double nve_dirty_fraction(const struct nve_dirty *d, double *se)
{
	double clean = 1, mean, variance;

	for (int j = 0; j < NVE_DIRTY_BUCKETS && d->at_risk[j] >= least_at_risk; j++)
		clean *= 1 - d->written[j] / d->at_risk[j];
	*se = 1;
	if (d->windows > 1) {
		mean = d->fraction / d->windows;
		variance = fmax(d->fraction_squared / d->windows - mean * mean, 0);
		*se = sqrt(variance / (d->windows - 1));
	}
	return 1 - clean;
}
