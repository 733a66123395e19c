/* What the runs of a sweep say, and the table in its forms. */
#include "sweep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "plot.h"

enum { BAR = 30, SERIES = 12 };

/* A figure of each round. */
struct figures {
	double *wall, *cpu, *wall_ratio, *cpu_ratio;
	size_t count;
};

static int make_figures(struct figures *f, size_t most)
{
	double *all = calloc(4 * most + 1, sizeof(*all));

	*f = (struct figures){all, all + most, all + 2 * most, all + 3 * most, 0};
	return all ? 0 : -ENOMEM;
}

static const struct sweep_run *native_of(const struct sweep_runs *runs, uint64_t round)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->runs[i].round == round && !runs->runs[i].emulated)
			return &runs->runs[i];
	return NULL;
}

static bool is_at(const struct sweep_run *run, struct cli_point point)
{
	return run->emulated && run->point.rlat_ps == point.rlat_ps &&
	       run->point.wlat_ps == point.wlat_ps;
}

size_t sweep_count_pairs(const struct sweep_runs *runs, struct cli_point point)
{
	size_t count = 0;

	for (size_t i = 0; i < runs->count; i++)
		count += is_at(&runs->runs[i], point) && native_of(runs, runs->runs[i].round);
	return count;
}

static double ratio(uint64_t part, uint64_t whole)
{
	/* A run below the clock's resolution took that. */
	return (double)NVE_MAX(part, UINT64_C(1)) / (double)NVE_MAX(whole, UINT64_C(1));
}

static void add_pair(struct figures *f, const struct sweep_run *run, const struct sweep_run *native)
{
	f->wall[f->count] = (double)run->wall_ns;
	f->cpu[f->count] = (double)run->cpu_ns;
	f->wall_ratio[f->count] = ratio(run->wall_ns, native->wall_ns);
	f->cpu_ratio[f->count] = ratio(run->cpu_ns, native->cpu_ns);
	f->count++;
}

static void fill_row(struct sweep_row *row, struct figures *f)
{
	row->rounds = f->count;
	row->wall_ns = cli_median(f->wall, f->count);
	row->cpu_ns = cli_median(f->cpu, f->count);
	row->wall = cli_ratio_of(f->wall_ratio, f->count);
	row->cpu = cli_ratio_of(f->cpu_ratio, f->count);
	free(f->wall);
}

int sweep_native_row(const struct sweep_runs *runs, struct sweep_row *row)
{
	struct figures f;

	*row = (struct sweep_row){0};
	if (make_figures(&f, runs->count))
		return -ENOMEM;
	for (size_t i = 0; i < runs->count; i++)
		if (!runs->runs[i].emulated)
			add_pair(&f, &runs->runs[i], &runs->runs[i]);
	fill_row(row, &f);
	return 0;
}

int sweep_point_row(const struct sweep_runs *runs, struct cli_point point, struct sweep_row *row)
{
	struct figures f;

	*row = (struct sweep_row){.point = point};
	if (make_figures(&f, runs->count))
		return -ENOMEM;
	for (size_t i = 0; i < runs->count; i++) {
		const struct sweep_run *run = &runs->runs[i], *native;

		native = is_at(run, point) ? native_of(runs, run->round) : NULL;
		if (native)
			add_pair(&f, run, native);
	}
	fill_row(row, &f);
	return 0;
}

static const struct cli_ratio *ratio_of(const struct sweep_table *t, const struct sweep_row *row)
{
	return t->by_cpu ? &row->cpu : &row->wall;
}

static void print_number(FILE *out, const char *before, double value, int width)
{
	if (isnan(value))
		fprintf(out, "%s%*s", before, width, "-");
	else
		fprintf(out, "%s%*.3f", before, width, value);
}

static void print_times(FILE *out, const struct sweep_row *row)
{
	fprintf(out, " %7zu", row->rounds);
	print_number(out, " ", row->wall_ns * 1e-9, 9);
	print_number(out, " ", row->cpu_ns * 1e-9, 9);
}

static double largest(const struct sweep_table *t)
{
	double most = 1;

	for (size_t i = 0; i < t->count; i++)
		most = fmax(most, ratio_of(t, &t->rows[i])->median);
	return most;
}

static void print_bar(FILE *out, double share)
{
	if (!isnan(share))
		fputs("  ", out);
	for (int i = 0; i < share * BAR; i++)
		fputc('#', out);
}

void sweep_print_text(FILE *out, const struct sweep_table *t, bool bars)
{
	char read[CLI_LATENCY_BYTES], write[CLI_LATENCY_BYTES];
	double most = largest(t);

	fprintf(out, "%8s %8s %7s %9s %9s %8s %8s %8s\n%8s %8s %7s %9s %9s %8s\n", "read", "write",
		"rounds", "wall", "CPU", "times", "from", "to", "ns", "ns", "", "s", "s", "native");
	fprintf(out, "%8s %8s", "native", "");
	print_times(out, &t->native);
	fputc('\n', out);
	for (size_t i = 0; i < t->count; i++) {
		const struct cli_ratio *r = ratio_of(t, &t->rows[i]);

		cli_format_latency(t->rows[i].point.rlat_ps, "DRAM", read);
		cli_format_latency(t->rows[i].point.wlat_ps, "DRAM", write);
		fprintf(out, "%8s %8s", read, write);
		print_times(out, &t->rows[i]);
		print_number(out, " ", r->median, 8);
		print_number(out, " ", r->low, 8);
		print_number(out, " ", r->high, 8);
		if (bars)
			print_bar(out, r->median / most);
		fputc('\n', out);
	}
	fprintf(out,
		"\nwall, CPU: medians. times: %s time over that of the native run of the same\n"
		"  round, median; from, to: its 95 %% confidence (Student's, on logarithms).\n",
		t->by_cpu ? "CPU" : "wall");
}

static void put_cell(FILE *out, double value)
{
	if (isnan(value))
		fputc(',', out);
	else
		fprintf(out, ",%.6f", value);
}

static void put_row(FILE *out, const char *run, const struct sweep_row *row)
{
	char read[CLI_LATENCY_BYTES], write[CLI_LATENCY_BYTES];
	const double cells[] = {row->wall_ns * 1e-9, row->cpu_ns * 1e-9, row->wall.median,
				row->wall.low,       row->wall.high,     row->cpu.median,
				row->cpu.low,        row->cpu.high};

	cli_format_latency(row->point.rlat_ps, "", read);
	cli_format_latency(row->point.wlat_ps, "", write);
	fprintf(out, "%s,%s,%s,%zu", run, read, write, row->rounds);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(cells); i++)
		put_cell(out, cells[i]);
	fputc('\n', out);
}

void sweep_print_csv(FILE *out, const struct sweep_table *t)
{
	fputs("run,rlat_ns,wlat_ns,rounds,wall_s,cpu_s,slowdown,slowdown_low,slowdown_high,"
	      "cpu_slowdown,cpu_slowdown_low,cpu_slowdown_high\n",
	      out);
	put_row(out, "native", &t->native);
	for (size_t i = 0; i < t->count; i++)
		put_row(out, "emulated", &t->rows[i]);
}

/* Where the write latencies are more than one, they are the axis. */
static bool writes_vary(const struct sweep_table *t)
{
	for (size_t i = 1; i < t->count; i++)
		if (t->rows[i].point.wlat_ps != t->rows[0].point.wlat_ps)
			return true;
	return t->count && !t->rows[0].point.rlat_ps;
}

/* The points of one line: those whose other latency is fixed_ps. Returns how many. */
static size_t fill_points(const struct sweep_table *t, bool by_write, uint64_t fixed_ps,
			  struct plot_point *points)
{
	size_t count = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct cli_point *p = &t->rows[i].point;
		const struct cli_ratio *r = ratio_of(t, &t->rows[i]);
		uint64_t varied_ps = by_write ? p->wlat_ps : p->rlat_ps;

		if ((by_write ? p->rlat_ps : p->wlat_ps) != fixed_ps || !varied_ps ||
		    isnan(r->median))
			continue;
		points[count++] =
			(struct plot_point){(double)varied_ps * 1e-3, r->median, r->low, r->high};
	}
	return count;
}

static void name_series(struct plot_series *s, bool by_write, uint64_t fixed_ps)
{
	char latency[CLI_LATENCY_BYTES];

	cli_format_latency(fixed_ps, "DRAM's", latency);
	snprintf(s->name, sizeof(s->name), "%s %s%s", by_write ? "read" : "write", latency,
		 fixed_ps ? " ns" : "");
}

void sweep_print_svg(FILE *out, const struct sweep_table *t)
{
	struct plot_series series[SERIES] = {0};
	struct plot_point *points = calloc(t->count + 1, sizeof(*points));
	struct plot_lines lines = {
		.title = t->command, .y_title = "times as long as native", .series = series};
	bool by_write = writes_vary(t);
	size_t used = 0;

	if (!points)
		return;
	lines.x_title = by_write ? "write latency (ns)" : "read latency (ns)";
	for (size_t i = 0; i < t->count && lines.count < SERIES; i++) {
		const struct cli_point *p = &t->rows[i].point;
		uint64_t fixed_ps = by_write ? p->rlat_ps : p->wlat_ps;
		struct plot_series *s = &series[lines.count];
		char name[PLOT_NAME_BYTES];

		name_series(s, by_write, fixed_ps);
		memcpy(name, s->name, sizeof(name));
		if (lines.count && !strcmp(series[lines.count - 1].name, name))
			continue;
		s->points = points + used;
		s->count = fill_points(t, by_write, fixed_ps, points + used);
		used += s->count;
		lines.count += s->count > 0;
	}
	plot_write_lines(out, &lines);
	free(points);
}
