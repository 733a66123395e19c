/*
 * nvmemu predict --check: emulated runs against predictions. In each round every point has a run,
 * and so have the latencies of the record: what has changed since it was made (the program's input,
 * the machine's memory) shows there.
 */
#include "predict.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/clock.h"
#include "cli.h"
#include "stat.h"

struct entry {
	struct cli_point point;
	bool recorded;                              /* as the record */
	double cpu_ns, wall_ns;                     /* predicted; of the record what it was */
	double *measured_cpu_ns, *measured_wall_ns; /* by round */
};

struct checking {
	const struct predict_check *check;
	const struct nve_predict *predict;
	struct entry *entries; /* the first is the record's */
	size_t count;
	uint64_t rounds, random; /* rounds that are whole */
	size_t done;
	uint64_t started_ns;
};

static int add_entry(struct checking *c, const struct cli_point *point, bool recorded)
{
	struct entry *e = &c->entries[c->count++];
	struct nve_predict_result r = nve_predict_process(c->predict, predict_point(point));

	*e = (struct entry){
		.point = *point,
		.recorded = recorded,
		.cpu_ns = r.cpu.time_ns,
		.wall_ns = r.wall_ns,
		.measured_cpu_ns = calloc(c->check->rounds, sizeof(double)),
		.measured_wall_ns = calloc(c->check->rounds, sizeof(double)),
	};
	return e->measured_cpu_ns && e->measured_wall_ns ? 0 : -ENOMEM;
}

static int add_recorded(struct checking *c)
{
	const struct nve_predict *p = c->predict;
	const struct cli_point point = {(uint64_t)(p->rlat_ns * 1e3 + 0.5),
					(uint64_t)(p->wlat_ns * 1e3 + 0.5)};
	struct entry *e = &c->entries[0];
	int rc = add_entry(c, &point, true);

	e->wall_ns = p->wall_ns;
	e->cpu_ns = 0;
	for (size_t i = 0; i < p->thread_count; i++)
		e->cpu_ns += p->threads[i].cpu_ns + p->threads[i].extra_ns;
	return rc;
}

/* Evenly over all but the first, which is native; the last is among them. */
static int add_points(struct checking *c, const struct predict_points *points)
{
	size_t all = points->count - 1, wanted = NVE_MIN((size_t)c->check->points, all);
	int rc = 0;

	for (size_t i = 1; i <= wanted && !rc; i++)
		rc = add_entry(c, &points->points[i * all / wanted], false);
	return rc;
}

static int measure(struct checking *c, struct entry *e)
{
	const struct cli_setting settings[] = {
		{"NVM_OUT", NULL},
		{"NVM_RECORD", NULL},
		{"NVM_COUNTERS", "auto"},
		{"NVM_MODEL", c->predict->symmetric ? "symmetric" : "asymmetric"},
		{"NVM_INJECT", e->recorded && !c->predict->injected ? "off" : "spin"},
	};
	const struct cli_run run = {.emulated = true,
				    .point = e->point,
				    .settings = settings,
				    .setting_count = NVE_ARRAY_SIZE(settings)};
	char read[CLI_LATENCY_BYTES], write[CLI_LATENCY_BYTES], what[80];
	struct cli_end end;
	int rc;

	cli_format_latency(e->point.rlat_ps, "DRAM", read);
	cli_format_latency(e->point.wlat_ps, "DRAM", write);
	snprintf(what, sizeof(what), "read %s, write %s", read, write);
	cli_show_progress(what, c->done, c->check->rounds * c->count, c->started_ns);
	rc = cli_measure_run(c->check->measure, &run, &end);
	if (rc)
		return rc;
	e->measured_cpu_ns[c->rounds] = (double)NVE_MAX(end.cpu_ns, UINT64_C(1));
	e->measured_wall_ns[c->rounds] = (double)NVE_MAX(end.wall_ns, UINT64_C(1));
	c->done++;
	return 0;
}

static int make_round(struct checking *c)
{
	size_t *order = calloc(c->count, sizeof(*order));
	int rc = 0;

	if (!order)
		return -ENOMEM;
	cli_shuffle(order, c->count, &c->random);
	for (size_t i = 0; i < c->count && !rc; i++)
		rc = measure(c, &c->entries[order[i]]);
	free(order);
	c->rounds += !rc;
	return rc;
}

static double median(const double *values, size_t count)
{
	double *sorted = calloc(count + 1, sizeof(*sorted)), result = NAN;

	if (sorted && count) {
		memcpy(sorted, values, count * sizeof(*sorted));
		result = cli_median(sorted, count);
	}
	free(sorted);
	return result;
}

/* Over the run of the same round as the record: drift hits both. */
static double median_ratio(const double *values, const double *base, size_t count)
{
	double *ratios = calloc(count + 1, sizeof(*ratios)), result = NAN;

	for (size_t i = 0; ratios && i < count; i++)
		ratios[i] = values[i] / base[i];
	if (ratios && count)
		result = cli_median(ratios, count);
	free(ratios);
	return result;
}

static double percent(double predicted, double measured)
{
	return 100 * (predicted / measured - 1);
}

/* The error of CPU time over that of the record; the row is printed. */
static double print_entry(const struct checking *c, const struct entry *e)
{
	const struct entry *base = &c->entries[0];
	double cpu_ns = median(e->measured_cpu_ns, c->rounds);
	double wall_ns = median(e->measured_wall_ns, c->rounds);
	double over_base =
		percent(e->cpu_ns / base->cpu_ns,
			median_ratio(e->measured_cpu_ns, base->measured_cpu_ns, c->rounds));
	char read[CLI_LATENCY_BYTES], write[CLI_LATENCY_BYTES];

	cli_format_latency(e->point.rlat_ps, "DRAM", read);
	cli_format_latency(e->point.wlat_ps, "DRAM", write);
	printf("%8s %8s %9.3f %9.3f %+7.1f", read, write, e->cpu_ns * 1e-9, cpu_ns * 1e-9,
	       percent(e->cpu_ns, cpu_ns));
	if (e->recorded)
		printf(" %7s", "-");
	else
		printf(" %+7.1f", over_base);
	printf(" %9.3f %9.3f %+7.1f%s\n", e->wall_ns * 1e-9, wall_ns * 1e-9,
	       percent(e->wall_ns, wall_ns), e->recorded ? "  as recorded" : "");
	return over_base;
}

/* Returns whether all points are within the target. */
static bool print_result(const struct checking *c)
{
	size_t met = 0;

	printf("\nchecked: %llu emulated run%s of each, in turns; medians\n\n",
	       (unsigned long long)c->rounds, c->rounds == 1 ? "" : "s");
	printf("%8s %8s %9s %9s %7s %7s %9s %9s %7s\n", "read", "write", "CPU time", "CPU time",
	       "error", "beyond", "wall", "wall", "error");
	printf("%8s %8s %9s %9s %7s %7s %9s %9s %7s\n", "", "", "predicted", "measured", "",
	       "record", "predicted", "measured", "");
	printf("%8s %8s %9s %9s %7s %7s %9s %9s %7s\n", "ns", "ns", "s", "s", "%", "%", "s", "s",
	       "%");
	for (size_t i = 0; i < c->count; i++) {
		double error = print_entry(c, &c->entries[i]);

		met += i && fabs(error) <= c->check->target_percent;
	}
	printf("\nmeasured: with the children that the program waited for. beyond record: error "
	       "of\n"
	       "  the CPU time over that of the runs as recorded, which shows what the program "
	       "and\n"
	       "  the machine have changed by since.\n"
	       "predict: %zu of %zu points within %g %% (beyond record)\n",
	       met, c->count - 1, c->check->target_percent);
	return met == c->count - 1;
}

static void free_entries(struct checking *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->entries[i].measured_cpu_ns);
		free(c->entries[i].measured_wall_ns);
	}
	free(c->entries);
}

int predict_check(const struct predict_check *check, const struct nve_predict *p,
		  const struct predict_points *points)
{
	struct checking c = {.check = check,
			     .predict = p,
			     .random = nve_clock_ns(CLOCK_MONOTONIC) | 1,
			     .entries = calloc(points->count + 1, sizeof(struct entry))};
	bool met = true;
	int rc = c.entries ? add_recorded(&c) : -ENOMEM;

	if (!rc)
		rc = add_points(&c, points);
	c.started_ns = nve_clock_ns(CLOCK_MONOTONIC);
	while (!rc && c.rounds < check->rounds)
		rc = make_round(&c);
	cli_show_progress(NULL, 0, 0, 0);
	if (c.rounds)
		met = print_result(&c);
	free_entries(&c);
	if (rc)
		return cli_measure_status(rc);
	return met ? CLI_OK : CLI_FAILED;
}
