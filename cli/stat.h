/*
 * From the slices of a measurement to a figure with its uncertainty. Pure.
 *
 * The figure is the mean, not the median: delay is served in portions, so a slice holds a whole
 * number of them and its latency jumps between two values; a median picks one of the two, while in
 * the mean what one slice got too much is what the next one got too little. Against disturbances of
 * the machine, slices more than three interquartile ranges beyond the quartiles are left out.
 */
#ifndef CLI_STAT_H
#define CLI_STAT_H

#include <stddef.h>
#include <stdint.h>

struct cli_slice {
	double time_ns, steps;
};

/* Nanoseconds per step. */
struct cli_estimate {
	double value;
	double half_width; /* of the 95 % confidence interval; NaN: too few slices to tell */
	double median, first_quartile, third_quartile;
	size_t kept, dropped;
};

/* Returns 0, -ENODATA without slices, or -ENOMEM. */
int cli_estimate_slices(const struct cli_slice *slices, size_t count,
			struct cli_estimate *estimate);

/* The quantile (0 to 1) of ascending values, count > 0, with linear interpolation. */
double cli_quantile(const double *values, size_t count, double share);

/* The same of values that are put in order for it, share 0.5; NaN: there are none. */
double cli_median(double *values, size_t count);

/* Fills order with 0 to count - 1, in random order. random: the generator's state, not 0. */
void cli_shuffle(size_t *order, size_t count, uint64_t *random);

/* Two-sided 95 % quantile of Student's distribution; NaN for none. */
double cli_student(size_t freedom);

/* The median of ratios, > 0, with a 95 % interval: Student's on the logarithms, its width that of a
 * median, sqrt(pi / 2) times that of a mean. low and high are NaN where there is one ratio alone.
 */
struct cli_ratio {
	double median, low, high;
};
struct cli_ratio cli_ratio_of(double *ratios, size_t count);

#endif
