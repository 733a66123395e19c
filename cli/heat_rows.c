/* nvmemu heat: rows of sites, arenas, threads or kinds, and what they are sorted by. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "heat.h"

static double stall_of(const struct heat_row *r)
{
	return (double)r->stall_ns;
}

static double reads_of(const struct heat_row *r)
{
	return (double)r->reads;
}

static double writes_of(const struct heat_row *r)
{
	return (double)r->writes;
}

static double accesses_of(const struct heat_row *r)
{
	return (double)(r->reads + r->writes);
}

static double counted(const struct heat_row *r, uint64_t value)
{
	return r->counted ? (double)value : NAN;
}

static double live_of(const struct heat_row *r)
{
	return counted(r, r->live_bytes);
}

static double peak_of(const struct heat_row *r)
{
	return counted(r, r->peak_bytes);
}

static double bytes_of(const struct heat_row *r)
{
	return counted(r, r->bytes);
}

static double allocs_of(const struct heat_row *r)
{
	return counted(r, r->allocations);
}

static double frees_of(const struct heat_row *r)
{
	return counted(r, r->frees);
}

static double resident_of(const struct heat_row *r)
{
	return r->resident_known ? (double)r->resident_bytes : NAN;
}

/* The gain of faster memory for each byte of it. */
static double density_of(const struct heat_row *r)
{
	return r->counted && r->peak_bytes ? (double)r->stall_ns / (double)r->peak_bytes : NAN;
}

static double lifetime_of(const struct heat_row *r)
{
	return r->counted && r->lifetimes ? (double)r->lifetime_ns / (double)r->lifetimes : NAN;
}

static const struct heat_column columns[] = {
	{"stall", "ns", stall_of},          {"reads", "", reads_of},
	{"writes", "", writes_of},          {"accesses", "", accesses_of},
	{"live", "bytes", live_of},         {"peak", "bytes", peak_of},
	{"bytes", "bytes", bytes_of},       {"resident", "bytes", resident_of},
	{"allocs", "", allocs_of},          {"frees", "", frees_of},
	{"density", "ns/byte", density_of}, {"lifetime", "ns", lifetime_of},
};

const struct heat_column *heat_column(const char *name)
{
	if (!strcmp(name, "heat"))
		return &columns[0];
	for (size_t i = 0; i < NVE_ARRAY_SIZE(columns); i++)
		if (!strcmp(columns[i].name, name))
			return &columns[i];
	return NULL;
}

const struct heat_column *heat_column_at(size_t i)
{
	return i < NVE_ARRAY_SIZE(columns) ? &columns[i] : NULL;
}

static void take_heat(struct heat_row *row, const struct nve_view_heat *v)
{
	row->stall_ns = v->stall_ns;
	row->reads = v->reads;
	row->writes = v->writes;
	row->share = v->share;
	row->share_se = v->share_se;
	row->over_time_ns = v->over_time_ns;
}

static void add_blocks(struct heat_row *row, const struct nve_view_site *s)
{
	row->counted |= s->counted;
	row->allocations += s->allocations;
	row->frees += s->frees;
	row->bytes += s->bytes;
	row->live_bytes += s->live_bytes;
	row->peak_bytes += s->peak_bytes;
	row->lifetimes += s->lifetimes;
	row->lifetime_ns += s->lifetime_ns;
	row->resident_known |= s->resident_known;
	row->resident_bytes += s->resident_bytes;
}

static size_t fill_sites(const struct heat_source *source, struct heat_row *row)
{
	const struct nve_heat_view *h = &source->heat;

	for (size_t i = 0; i < h->site_count; i++) {
		const struct nve_view_site *s = &h->sites[i];

		row[i].site = s;
		take_heat(&row[i], &s->heat);
		add_blocks(&row[i], s);
		heat_site_text(source->symbols, s, row[i].label);
	}
	return h->site_count;
}

static size_t fill_kinds(const struct heat_source *source, struct heat_row *row)
{
	const struct nve_heat_view *h = &source->heat;

	for (size_t i = 0; i < h->kind_count; i++) {
		snprintf(row[i].label, sizeof(row[i].label), "%s", h->kinds[i].kind);
		take_heat(&row[i], &h->kinds[i].heat);
		for (size_t k = 0; k < h->site_count; k++)
			if (!strcmp(h->sites[k].kind, h->kinds[i].kind))
				add_blocks(&row[i], &h->sites[k]);
	}
	return h->kind_count;
}

/* " of PID" where there is more than one process. */
static void name_process(const struct heat_source *source, const struct nve_view_process *p,
			 char text[HEAT_TEXT_BYTES])
{
	size_t length = strlen(text);

	if (source->view.count > 1)
		snprintf(text + length, HEAT_TEXT_BYTES - length, " of %.100s %d", p->program,
			 p->pid);
}

static const struct nve_view_site *find_site(const struct nve_heat_view *h, uint64_t hash)
{
	for (size_t i = 0; hash && i < h->site_count; i++)
		if (h->sites[i].hash == hash)
			return &h->sites[i];
	return NULL;
}

static size_t fill_arenas(const struct heat_source *source, struct heat_row *row)
{
	const struct nve_heat_view *h = &source->heat;

	for (size_t i = 0; i < h->arena_count; i++) {
		const struct nve_view_arena *a = &h->arenas[i];
		const struct nve_view_site *site = find_site(h, a->site);
		char text[HEAT_TEXT_BYTES] = "";

		if (site)
			heat_site_text(source->symbols, site, text);
		snprintf(row[i].label, sizeof(row[i].label), "%llu: %s%s%.400s",
			 (unsigned long long)a->arena, a->kind, site ? " " : "", text);
		name_process(source, a->process, row[i].label);
		take_heat(&row[i], &a->heat);
	}
	return h->arena_count;
}

/* Of all stall time: what a thread's misses fall on need not be known. */
static size_t fill_threads(const struct heat_source *source, struct heat_row *row)
{
	double all = (double)source->view.totals.stall_ns;
	size_t n = 0;

	for (size_t i = 0; i < source->view.count; i++) {
		const struct nve_view_process *p = &source->view.processes[i];

		for (size_t k = 0; k < p->thread_count; k++, n++) {
			const struct nve_view_thread *t = &p->threads[k];

			snprintf(row[n].label, sizeof(row[n].label), "%s %d", t->name, t->tid);
			name_process(source, p, row[n].label);
			row[n].stall_ns = t->totals.stall_ns;
			row[n].reads = t->totals.ma_ro;
			row[n].writes = t->totals.ma_wb;
			row[n].share = all > 0 ? (double)t->totals.stall_ns / all : 0;
			row[n].share_se = -1;
		}
	}
	return n;
}

static size_t most_rows(const struct heat_source *source)
{
	size_t n = source->heat.site_count + source->heat.arena_count + source->heat.kind_count;

	for (size_t i = 0; i < source->view.count; i++)
		n += source->view.processes[i].thread_count;
	return n;
}

/* What is not known comes last. */
static int compare(const void *a, const void *b, void *column)
{
	const struct heat_column *c = column;
	double x = c->value(a), y = c->value(b);

	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return x < y ? 1 : x > y ? -1 : 0;
}

int heat_rows_make(const struct heat_source *source, enum heat_by by,
		   const struct heat_column *sort, struct heat_rows *rows)
{
	static size_t (*const fill[])(const struct heat_source *source, struct heat_row *row) = {
		[HEAT_BY_SITE] = fill_sites,
		[HEAT_BY_ARENA] = fill_arenas,
		[HEAT_BY_THREAD] = fill_threads,
		[HEAT_BY_KIND] = fill_kinds,
	};

	rows->row = calloc(most_rows(source) + 1, sizeof(*rows->row));
	if (!rows->row)
		return -ENOMEM;
	rows->count = fill[by](source, rows->row);
	qsort_r(rows->row, rows->count, sizeof(*rows->row), compare, (void *)(uintptr_t)sort);
	return 0;
}

void heat_rows_free(struct heat_rows *rows)
{
	free(rows->row);
	*rows = (struct heat_rows){0};
}
