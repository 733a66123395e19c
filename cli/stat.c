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

/* Two-sided 95 % quantile of Student's distribution. */
static double student(size_t freedom)
{
	static const double quantiles[] = {NAN,   12.706, 4.303, 3.182, 2.776,
					   2.571, 2.447,  2.365, 2.306, 2.262};

	return freedom < sizeof(quantiles) / sizeof(quantiles[0]) ? quantiles[freedom] : 1.96;
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
	return student(batches - 1) * sqrt(squares / (double)(batches - 1));
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
