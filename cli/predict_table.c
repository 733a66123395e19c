/* Predictions as a table, as CSV, and drawn. */
#include "predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "plot.h"

struct nve_predict_point predict_point(const struct cli_point *point)
{
	return (struct nve_predict_point){(double)point->rlat_ps * 1e-3,
					  (double)point->wlat_ps * 1e-3};
}

static void print_seconds(FILE *out, double ns)
{
	if (isnan(ns))
		fprintf(out, " %9s", "-");
	else
		fprintf(out, " %9.3f", ns * 1e-9);
}

/* native_ns 0: nothing ran. */
static double times(double ns, double native_ns)
{
	return native_ns > 0 ? ns / native_ns : 1;
}

static void print_latencies(FILE *out, const struct cli_point *point)
{
	char read[CLI_LATENCY_BYTES], write[CLI_LATENCY_BYTES];

	cli_format_latency(point->rlat_ps, "DRAM", read);
	cli_format_latency(point->wlat_ps, "DRAM", write);
	fprintf(out, "%8s %8s", read, write);
}

static void print_time(FILE *out, const struct nve_predict_time *t, double native_ns)
{
	print_seconds(out, t->time_ns);
	print_seconds(out, nve_predict_half_width_ns(t));
	print_seconds(out, t->se_ns);
	print_seconds(out, t->delay_ns);
	fprintf(out, " %7.3f", times(t->time_ns, native_ns));
}

static void print_head(FILE *out, bool wall)
{
	fprintf(out, "%8s %8s %9s %9s %9s %9s %7s", "read", "write", "CPU time", "+-", "se",
		"delay", "times");
	if (wall)
		fprintf(out, " %9s %9s %9s", "wall", "least", "most");
	fprintf(out, "\n%8s %8s %9s %9s %9s %9s %7s", "ns", "ns", "s", "s", "s", "s", "native");
	if (wall)
		fprintf(out, " %9s %9s %9s", "s", "s", "s");
	fputc('\n', out);
}

static void print_process(FILE *out, const struct nve_predict *p,
			  const struct predict_points *points)
{
	double native_ns = nve_predict_cpu(p, (struct nve_predict_point){0}).time_ns;

	print_head(out, true);
	for (size_t i = 0; i < points->count; i++) {
		struct nve_predict_result r =
			nve_predict_process(p, predict_point(&points->points[i]));

		print_latencies(out, &points->points[i]);
		print_time(out, &r.cpu, native_ns);
		print_seconds(out, r.wall_ns);
		print_seconds(out, r.wall_low_ns);
		print_seconds(out, r.wall_high_ns);
		fputc('\n', out);
	}
}

static void print_part(FILE *out, const struct nve_predict *p, const struct nve_predict_part *part,
		       const struct predict_points *points)
{
	print_head(out, false);
	for (size_t i = 0; i < points->count; i++) {
		struct nve_predict_time t =
			nve_predict_part(p, part, predict_point(&points->points[i]));

		print_latencies(out, &points->points[i]);
		print_time(out, &t, part->cpu_ns);
		fputc('\n', out);
	}
}

static void print_parts(FILE *out, const struct nve_predict *p, const struct predict_points *points,
			enum predict_by by)
{
	bool threads = by == PREDICT_BY_THREAD;
	const struct nve_predict_part *parts = threads ? p->threads : p->regions;
	size_t count = threads ? p->thread_count : p->region_count;

	for (size_t i = 0; i < count; i++) {
		const struct nve_predict_part *part = &parts[i];

		fprintf(out, "%s%s %llu", i ? "\n" : "", threads ? "thread" : "region",
			(unsigned long long)part->number);
		if (part->name[0])
			fprintf(out, ", %s", part->name);
		if (part->tid)
			fprintf(out, ", id %llu", (unsigned long long)part->tid);
		fputc('\n', out);
		print_part(out, p, part, points);
	}
	if (!count)
		fprintf(out, "no regions were recorded\n");
}

static void print_origin(FILE *out, const struct nve_predict *p)
{
	const struct cli_point point = {(uint64_t)(p->rlat_ns * 1e3 + 0.5),
					(uint64_t)(p->wlat_ns * 1e3 + 0.5)};
	char read[CLI_LATENCY_BYTES], write[CLI_LATENCY_BYTES];

	cli_format_latency(point.rlat_ps, "DRAM's", read);
	cli_format_latency(point.wlat_ps, "DRAM's", write);
	fprintf(out, "%s, process %llu on %s: %zu thread%s", p->program, (unsigned long long)p->pid,
		p->host, p->thread_count, p->thread_count == 1 ? "" : "s");
	fprintf(out, "; recorded with read %s, write %s ns%s; DRAM %.1f ns\n\n", read, write,
		p->injected ? "" : ", without delay", p->dram_lat_ns);
}

void predict_print_text(FILE *out, const struct nve_predict *p, const struct predict_points *points,
			enum predict_by by)
{
	print_origin(out, p);
	if (by == PREDICT_BY_PROCESS)
		print_process(out, p, points);
	else
		print_parts(out, p, points, by);
	fprintf(out,
		"\nCPU time: of all threads, delay included. se: standard error, from the spread "
		"of\n"
		"  the samples. +-: 95 %% confidence, of which %.0f %% of the emulated stall time\n"
		"  for errors that no spread shows (bench/run validate).\n",
		100 * NVE_PREDICT_SYSTEMATIC);
	if (by == PREDICT_BY_PROCESS)
		fprintf(out, "wall: estimate, least and most: by how the threads may have waited "
			     "for each\n"
			     "  other; the error of the CPU time comes on top.\n");
}

static void put_text_cell(FILE *out, const char *text)
{
	fputs(",\"", out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc((unsigned char)*text < ' ' ? '?' : *text, out);
	}
	fputc('"', out);
}

static void put_cell(FILE *out, double value)
{
	if (isnan(value))
		fputc(',', out);
	else
		fprintf(out, ",%.0f", value);
}

static void put_row_start(FILE *out, const char *kind, const struct nve_predict_part *part,
			  const struct cli_point *point)
{
	char read[CLI_LATENCY_BYTES], write[CLI_LATENCY_BYTES];

	cli_format_latency(point->rlat_ps, "", read);
	cli_format_latency(point->wlat_ps, "", write);
	fputs(kind, out);
	if (part) {
		fprintf(out, ",%llu", (unsigned long long)part->number);
		put_text_cell(out, part->name);
	} else {
		fputs(",,", out);
	}
	if (part && part->tid)
		fprintf(out, ",%llu", (unsigned long long)part->tid);
	else
		fputc(',', out);
	fprintf(out, ",%s,%s", read, write);
}

static void put_time(FILE *out, const struct nve_predict_time *t, double native_ns)
{
	double half_ns = nve_predict_half_width_ns(t);

	put_cell(out, t->time_ns);
	put_cell(out, t->time_ns - half_ns);
	put_cell(out, t->time_ns + half_ns);
	put_cell(out, t->se_ns);
	put_cell(out, t->systematic_ns);
	put_cell(out, t->delay_ns);
	fprintf(out, ",%.6f", times(t->time_ns, native_ns));
}

static void put_parts(FILE *out, const char *kind, const struct nve_predict *p,
		      const struct nve_predict_part *parts, size_t count,
		      const struct predict_points *points)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < points->count; j++) {
			const struct cli_point *point = &points->points[j];
			struct nve_predict_time t =
				nve_predict_part(p, &parts[i], predict_point(point));

			put_row_start(out, kind, &parts[i], point);
			put_time(out, &t, parts[i].cpu_ns);
			fputs(",,,\n", out);
		}
	}
}

void predict_print_csv(FILE *out, const struct nve_predict *p, const struct predict_points *points)
{
	double native_ns = nve_predict_cpu(p, (struct nve_predict_point){0}).time_ns;

	fputs("of,number,name,tid,rlat_ns,wlat_ns,time_ns,low_ns,high_ns,se_ns,systematic_ns,"
	      "delay_ns,slowdown,wall_ns,wall_low_ns,wall_high_ns\n",
	      out);
	for (size_t i = 0; i < points->count; i++) {
		struct nve_predict_result r =
			nve_predict_process(p, predict_point(&points->points[i]));

		put_row_start(out, "process", NULL, &points->points[i]);
		put_time(out, &r.cpu, native_ns);
		put_cell(out, r.wall_ns);
		put_cell(out, r.wall_low_ns);
		put_cell(out, r.wall_high_ns);
		fputc('\n', out);
	}
	put_parts(out, "thread", p, p->threads, p->thread_count, points);
	put_parts(out, "region", p, p->regions, p->region_count, points);
}

struct field {
	const struct nve_predict *p;
	double native_ns;
};

static double slowdown(void *ctx, double wlat_ns, double rlat_ns)
{
	const struct field *f = ctx;
	struct nve_predict_point point = {rlat_ns, wlat_ns};

	return times(nve_predict_cpu(f->p, point).time_ns, f->native_ns);
}

/* A latency that is set; DRAM's own is drawn where it is. */
static double drawn_ns(const struct nve_predict *p, uint64_t ps)
{
	return ps ? (double)ps * 1e-3 : p->dram_lat_ns;
}

static void draw_field(FILE *out, const struct nve_predict *p, const struct predict_points *points,
		       struct field *f)
{
	const struct cli_latencies *r = &points->rlat, *w = &points->wlat;
	const struct plot_field field = {
		.title = p->program,
		.x_title = "write latency (ns)",
		.y_title = "read latency (ns)",
		.value_title = "times native CPU time",
		.x_from = drawn_ns(p, w->ps[0]),
		.x_to = drawn_ns(p, w->ps[w->count - 1]),
		.y_from = drawn_ns(p, r->ps[0]),
		.y_to = drawn_ns(p, r->ps[r->count - 1]),
		.value = slowdown,
		.ctx = f,
	};

	plot_write_field(out, &field);
}

static void draw_line(FILE *out, const struct nve_predict *p, const struct predict_points *points,
		      const struct field *f)
{
	bool by_write = points->wlat.count >= points->rlat.count;
	const struct cli_latencies *varied = by_write ? &points->wlat : &points->rlat;
	uint64_t fixed_ps = by_write ? points->rlat.ps[0] : points->wlat.ps[0];
	struct plot_point *line = calloc(varied->count, sizeof(*line));
	struct plot_series series = {.points = line, .count = varied->count};
	const struct plot_lines lines = {
		.title = p->program,
		.x_title = by_write ? "write latency (ns)" : "read latency (ns)",
		.y_title = "times native CPU time",
		.series = &series,
		.count = 1,
	};
	char fixed[CLI_LATENCY_BYTES];

	for (size_t i = 0; line && i < varied->count; i++) {
		struct cli_point point = {by_write ? fixed_ps : varied->ps[i],
					  by_write ? varied->ps[i] : fixed_ps};
		struct nve_predict_time t = nve_predict_cpu(p, predict_point(&point));
		double half_ns = nve_predict_half_width_ns(&t);

		line[i] = (struct plot_point){drawn_ns(p, varied->ps[i]),
					      times(t.time_ns, f->native_ns),
					      times(t.time_ns - half_ns, f->native_ns),
					      times(t.time_ns + half_ns, f->native_ns)};
	}
	cli_format_latency(fixed_ps, "DRAM's", fixed);
	snprintf(series.name, sizeof(series.name), "%s %s", by_write ? "read" : "write", fixed);
	if (line)
		plot_write_lines(out, &lines);
	free(line);
}

static bool varies(const struct nve_predict *p, const struct cli_latencies *l)
{
	return drawn_ns(p, l->ps[l->count - 1]) > drawn_ns(p, l->ps[0]);
}

void predict_print_svg(FILE *out, const struct nve_predict *p, const struct predict_points *points)
{
	struct field f = {p, nve_predict_cpu(p, (struct nve_predict_point){0}).time_ns};

	if (varies(p, &points->rlat) && varies(p, &points->wlat))
		draw_field(out, p, points, &f);
	else
		draw_line(out, p, points, &f);
}
