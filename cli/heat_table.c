/* nvmemu heat: the table, the map of heat over time, and two runs side by side. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "heat.h"

enum { CELL_BYTES = 24, MAP_LABEL = 32, MAP_EDGE = 4, MAP_LEAST = 20 };

static const char *const names[] = {
	[HEAT_BY_SITE] = "site",
	[HEAT_BY_ARENA] = "arena",
	[HEAT_BY_THREAD] = "thread",
	[HEAT_BY_KIND] = "kind",
};

/* "-": not known; 1234, 12.3K, 4.0M in powers of step. */
static const char *scaled(double value, double step, char cell[CELL_BYTES])
{
	static const char units[] = " KMGTPE";
	int unit = 0;

	if (isnan(value))
		return "-";
	for (; value >= 9999.5 && units[unit + 1]; unit++)
		value /= step;
	if (unit)
		snprintf(cell, CELL_BYTES, value < 99.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
	else
		snprintf(cell, CELL_BYTES, "%.0f", value);
	return cell;
}

static double value_of(const struct heat_row *r, const char *column)
{
	return heat_column(column)->value(r);
}

static void put(FILE *out, int width, double value, double step)
{
	char cell[CELL_BYTES];

	fprintf(out, " %*s", width, scaled(value, step, cell));
}

static void put_plain(FILE *out, int width, const char *format, double value)
{
	char cell[CELL_BYTES];

	if (isnan(value))
		strcpy(cell, "-");
	else
		snprintf(cell, sizeof(cell), format, value);
	fprintf(out, " %*s", width, cell);
}

static void print_row(FILE *out, size_t rank, const struct heat_row *r, enum heat_by by)
{
	fprintf(out, "%4zu %6.2f", rank, 100 * r->share);
	put_plain(out, 5, "%.2f", r->share_se < 0 ? NAN : 100 * r->share_se);
	put(out, 6, (double)r->reads, 1000);
	put(out, 6, (double)r->writes, 1000);
	fprintf(out, " %9.1f", (double)r->stall_ns / 1e6);
	if (by == HEAT_BY_SITE || by == HEAT_BY_KIND) {
		put(out, 6, value_of(r, "live"), 1024);
		put(out, 6, value_of(r, "peak"), 1024);
		put(out, 6, value_of(r, "resident"), 1024);
		put(out, 6, value_of(r, "allocs"), 1000);
		put(out, 6, value_of(r, "frees"), 1000);
		put_plain(out, 8, "%.3g", value_of(r, "density"));
	}
	fprintf(out, "  %s\n", r->label);
}

static void print_stack(FILE *out, const struct heat_source *source, const struct heat_row *r)
{
	struct heat_frame frames[HEAT_STACK_MOST];
	size_t n = r->site ? heat_stack(source->symbols, r->site, frames) : 0;
	char text[HEAT_TEXT_BYTES];

	for (size_t i = 0; i < n; i++) {
		heat_frame_text(&frames[i], text);
		fprintf(out, "        %s%s\n", text, frames[i].inlined ? " [inlined]" : "");
	}
}

/* What is in no row is told, too. */
static void print_rest(FILE *out, const struct heat_source *source, const struct heat_rows *rows,
		       size_t shown)
{
	const struct nve_heat_view *h = &source->heat;
	double all = (double)h->stall_ns, rest = 0;

	for (size_t i = shown; i < rows->count; i++)
		rest += (double)rows->row[i].stall_ns;
	if (shown < rows->count)
		fprintf(out, "%zu more rows: %.1f ms\n", rows->count - shown, rest / 1e6);
	fprintf(out, "unattributed: %.1f of %.1f ms of stall time (%.2f %%)\n",
		(double)h->unattributed_ns / 1e6, all / 1e6,
		all > 0 ? 100 * (double)h->unattributed_ns / all : 0);
	fprintf(out, "samples lost: %llu, without an answer: %llu",
		(unsigned long long)h->samples_lost, (unsigned long long)h->samples_no_answer);
	if (h->sites_not_listed)
		fprintf(out, "; sites without a row in the report: %llu",
			(unsigned long long)h->sites_not_listed);
	fputc('\n', out);
}

void heat_print_table(FILE *out, const struct heat_source *source, const struct heat_rows *rows,
		      const struct heat_table *table)
{
	size_t shown = NVE_MIN(rows->count, table->top);

	fprintf(out, "%4s %6s %5s %6s %6s %9s", "rank", "heat%", "+-", "reads", "writes",
		"stall_ms");
	if (table->by == HEAT_BY_SITE || table->by == HEAT_BY_KIND)
		fprintf(out, " %6s %6s %6s %6s %6s %8s", "live", "peak", "res", "allocs", "frees",
			"ns/byte");
	fprintf(out, "  %s\n", names[table->by]);
	for (size_t i = 0; i < shown; i++) {
		print_row(out, i + 1, &rows->row[i], table->by);
		if (table->stacks)
			print_stack(out, source, &rows->row[i]);
	}
	print_rest(out, source, rows, shown);
}

/* As many buckets to a column as are needed to fit. */
static size_t buckets_per_column(const struct heat_source *source, int width)
{
	size_t room = (size_t)NVE_MAX(width - MAP_LABEL - MAP_EDGE, MAP_LEAST);

	return (source->heat.buckets + room - 1) / room;
}

static double cell(const struct heat_row *r, size_t column, size_t per, size_t buckets)
{
	double sum = 0;

	for (size_t i = column * per; i < NVE_MIN((column + 1) * per, buckets); i++)
		sum += r->over_time_ns[i];
	return sum;
}

/* Digits are tenths of the hottest cell; what is less than half a tenth, but not nothing, is ".".
 */
static char shade(double value, double most)
{
	int tenths = most > 0 ? (int)(value / most * 10) : 0;

	if (value <= 0)
		return ' ';
	return value < most / 20 ? '.' : (char)('0' + NVE_MIN(tenths, 9));
}

void heat_print_map(FILE *out, const struct heat_source *source, const struct heat_rows *rows,
		    const struct heat_table *table)
{
	size_t shown = NVE_MIN(rows->count, table->top), buckets = source->heat.buckets;
	size_t per = buckets ? buckets_per_column(source, table->width) : 1;
	size_t columns = (buckets + per - 1) / per;
	double most = 0, column_s = (double)(per * source->heat.bucket_ns) / 1e9;

	for (size_t i = 0; i < shown; i++)
		for (size_t k = 0; rows->row[i].over_time_ns && k < columns; k++)
			most = fmax(most, cell(&rows->row[i], k, per, buckets));
	fprintf(out,
		"\nstall time over time: a column is %g s; 9 is %.3g ms of it and more, "
		"0 a tenth\n",
		column_s, most * 0.9 / 1e6);
	for (size_t i = 0; i < shown; i++) {
		const struct heat_row *r = &rows->row[i];

		fprintf(out, "%-*.*s |", MAP_LABEL, MAP_LABEL, r->label);
		for (size_t k = 0; r->over_time_ns && k < columns; k++)
			fputc(shade(cell(r, k, per, buckets), most), out);
		fputs("|\n", out);
	}
	fprintf(out, "%*s 0 s%*.0f s\n", MAP_LABEL, "", (int)NVE_MAX(columns, (size_t)5) - 3,
		(double)columns * column_s);
}

/* A site of either run, or of both. */
struct pair {
	const struct heat_row *row[2];
	double change_ns;
};

static int by_identity(const void *a, const void *b)
{
	const struct nve_view_site *x = ((const struct heat_row *)a)->site;
	const struct nve_view_site *y = ((const struct heat_row *)b)->site;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return strcmp(x->kind, y->kind);
}

static int by_change(const void *a, const void *b)
{
	double x = fabs(((const struct pair *)a)->change_ns);
	double y = fabs(((const struct pair *)b)->change_ns);

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Both are sorted by identity. */
static size_t join(const struct heat_rows *a, const struct heat_rows *b, struct pair *pairs)
{
	size_t i = 0, k = 0, n = 0;

	for (; i < a->count || k < b->count; n++) {
		int order = i == a->count   ? 1
			    : k == b->count ? -1
					    : by_identity(&a->row[i], &b->row[k]);
		struct pair *p = &pairs[n];

		*p = (struct pair){{order <= 0 ? &a->row[i] : NULL, order >= 0 ? &b->row[k] : NULL},
				   0};
		i += order <= 0;
		k += order >= 0;
		p->change_ns = (p->row[1] ? (double)p->row[1]->stall_ns : 0) -
			       (p->row[0] ? (double)p->row[0]->stall_ns : 0);
	}
	qsort(pairs, n, sizeof(*pairs), by_change);
	return n;
}

/* Is the difference of shares beyond twice its standard error? */
static bool is_sure(const struct pair *p)
{
	double share[2] = {0}, variance = 0;

	for (int i = 0; i < 2; i++) {
		if (!p->row[i])
			continue;
		if (p->row[i]->share_se < 0)
			return false;
		share[i] = p->row[i]->share;
		variance += p->row[i]->share_se * p->row[i]->share_se;
	}
	return fabs(share[1] - share[0]) > 2 * sqrt(variance);
}

static void print_pair(FILE *out, size_t rank, const struct pair *p)
{
	const struct heat_row *known = p->row[1] ? p->row[1] : p->row[0];
	double share[2], peak[2];

	for (int i = 0; i < 2; i++) {
		share[i] = p->row[i] ? 100 * p->row[i]->share : 0;
		peak[i] = p->row[i] ? value_of(p->row[i], "peak") : 0;
	}
	fprintf(out, "%4zu %6.2f %6.2f %+7.2f%c %+10.1f", rank, share[0], share[1],
		share[1] - share[0], is_sure(p) ? '*' : ' ', p->change_ns / 1e6);
	put(out, 6, peak[0], 1024);
	put(out, 6, peak[1], 1024);
	fprintf(out, "  %s%s\n", known->label,
		!p->row[0]   ? " [only in the second]"
		: !p->row[1] ? " [only in the first]"
			     : "");
}

static int print_rows_diff(FILE *out, struct heat_rows rows[2], const struct heat_table *table)
{
	struct pair *pairs = calloc(rows[0].count + rows[1].count + 1, sizeof(*pairs));
	size_t n;

	if (!pairs)
		return -ENOMEM;
	for (int i = 0; i < 2; i++)
		qsort(rows[i].row, rows[i].count, sizeof(*rows[i].row), by_identity);
	n = join(&rows[0], &rows[1], pairs);
	fprintf(out, "%4s %6s %6s %7s  %10s %6s %6s  %s\n", "rank", "heat%", "heat%", "change",
		"stall_ms", "peak", "peak", "site");
	for (size_t i = 0; i < NVE_MIN(n, table->top); i++)
		print_pair(out, i + 1, &pairs[i]);
	if (n > table->top)
		fprintf(out, "%zu more rows\n", n - table->top);
	free(pairs);
	return 0;
}

int heat_print_diff(FILE *out, const struct heat_source *a, const struct heat_source *b,
		    const struct heat_table *table)
{
	const struct heat_source *sources[] = {a, b};
	struct heat_rows rows[2] = {0};
	int err = 0;

	for (int i = 0; !err && i < 2; i++)
		err = heat_rows_make(sources[i], HEAT_BY_SITE, heat_column_at(0), &rows[i]);
	if (!err)
		err = print_rows_diff(out, rows, table);
	if (!err)
		fprintf(out,
			"unattributed: %.1f and %.1f ms; stall time in all: %.1f and %.1f ms\n"
			"*: the change of the share is beyond twice its standard error\n",
			(double)a->heat.unattributed_ns / 1e6,
			(double)b->heat.unattributed_ns / 1e6, (double)a->heat.stall_ns / 1e6,
			(double)b->heat.stall_ns / 1e6);
	for (int i = 0; i < 2; i++)
		heat_rows_free(&rows[i]);
	return err;
}
