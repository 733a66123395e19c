#include "stat.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Neighbouring slices are not independent (what one owes, the next pays), batches of them nearly.
 */
enum { BATCHES = 10 };

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double cli_quantile(const double *values, size_t count, double share)
{
	double place = share * (double)(count - 1);
	size_t below = (size_t)place;

	if (below + 1 >= count)
		return values[count - 1];
	return values[below] + (place - (double)below) * (values[below + 1] - values[below]);
}

double cli_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return count ? cli_quantile(values, count, 0.5) : NAN;
}

static uint64_t next_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

void cli_shuffle(size_t *order, size_t count, uint64_t *random)
{
	for (size_t i = 0; i < count; i++) {
		size_t j = (size_t)(next_random(random) % (i + 1));

		order[i] = order[j];
		order[j] = i;
	}
}

/* From a table; beyond it by the expansion of Abramowitz and Stegun, 26.7.5. */
double cli_student(size_t freedom)
{
	static const double quantiles[] = {NAN,   12.706, 4.303, 3.182, 2.776,
					   2.571, 2.447,  2.365, 2.306, 2.262};
	const double z = 1.959964, n = (double)freedom;

	if (freedom < sizeof(quantiles) / sizeof(quantiles[0]))
		return quantiles[freedom];
	return z + (pow(z, 3) + z) / (4 * n) +
	       (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * n * n);
}

struct cli_ratio cli_ratio_of(double *ratios, size_t count)
{
	const double median_over_mean = sqrt(acos(-1) / 2);
	struct cli_ratio r = {NAN, NAN, NAN};
	double sum = 0, squares = 0, width;

	if (!count)
		return r;
	r.median = cli_median(ratios, count);
	if (count < 2)
		return r;
	for (size_t i = 0; i < count; i++)
		sum += log(ratios[i]);
	for (size_t i = 0; i < count; i++)
		squares += pow(log(ratios[i]) - sum / (double)count, 2);
	width = cli_student(count - 1) * median_over_mean *
		sqrt(squares / (double)(count - 1) / (double)count);
	r.low = r.median * exp(-width);
	r.high = r.median * exp(width);
	return r;
}

static double latency_of(const struct cli_slice *slices, size_t count)
{
	double time_ns = 0, steps = 0;

	for (size_t i = 0; i < count; i++) {
		time_ns += slices[i].time_ns;
		steps += slices[i].steps;
	}
	return time_ns / steps;
}

static double half_width(const struct cli_slice *slices, size_t count)
{
	size_t batches = count < BATCHES ? count : BATCHES;
	double sum = 0, squares = 0, mean;

	if (batches < 2)
		return NAN;
	for (size_t i = 0; i < batches; i++) {
		size_t from = i * count / batches, to = (i + 1) * count / batches;
		double latency = latency_of(slices + from, to - from);

		sum += latency;
		squares += latency * latency;
	}
	mean = sum / (double)batches;
	squares = fmax(0, squares / (double)batches - mean * mean);
	return cli_student(batches - 1) * sqrt(squares / (double)(batches - 1));
}

static size_t keep_inside(struct cli_slice *slices, size_t count, double low, double high)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		double latency = slices[i].time_ns / slices[i].steps;

		if (latency >= low && latency <= high)
			slices[kept++] = slices[i];
	}
	return kept;
}

int cli_estimate_slices(const struct cli_slice *slices, size_t count, struct cli_estimate *estimate)
{
	struct cli_slice *kept;
	double *latencies, range;

	if (!count)
		return -ENODATA;
	latencies = malloc(count * sizeof(*latencies));
	kept = malloc(count * sizeof(*kept));
	if (!latencies || !kept) {
		free(latencies);
		free(kept);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		latencies[i] = slices[i].time_ns / slices[i].steps;
		kept[i] = slices[i];
	}
	qsort(latencies, count, sizeof(*latencies), compare);
	estimate->median = cli_quantile(latencies, count, 0.5);
	estimate->first_quartile = cli_quantile(latencies, count, 0.25);
	estimate->third_quartile = cli_quantile(latencies, count, 0.75);
	range = 3 * (estimate->third_quartile - estimate->first_quartile);
	estimate->kept = keep_inside(kept, count, estimate->first_quartile - range,
				     estimate->third_quartile + range);
	estimate->dropped = count - estimate->kept;
	estimate->value = latency_of(kept, estimate->kept);
	estimate->half_width = half_width(kept, estimate->kept);
	free(latencies);
	free(kept);
	return 0;
}
