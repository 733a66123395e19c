/* From the processes of a view to their order and their sums. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/fields.h"
#include "report/read.h"

static bool same_host(const struct nve_view_process *a, const struct nve_view_process *b)
{
	return !strcmp(a->host, b->host);
}

static int compare(const void *x, const void *y)
{
	const struct nve_view_process *a = x, *b = y;
	int hosts = strcmp(a->host, b->host);

	if (hosts)
		return hosts;
	if (a->started_at_s != b->started_at_s)
		return a->started_at_s < b->started_at_s ? -1 : 1;
	if (a->pid == b->pid) /* the stage that executed another program came first */
		return !strcmp(b->ended_by, "exec") - !strcmp(a->ended_by, "exec");
	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* Is its parent among them? A process that only executed another is its own predecessor. */
static bool has_parent(const struct nve_view *v, const struct nve_view_process *p)
{
	for (size_t i = 0; i < v->count; i++)
		if (v->processes[i].pid == p->ppid && same_host(&v->processes[i], p))
			return true;
	return false;
}

/* Starts are told to the second: which process of all was the first, only its parent tells. */
static void put_first(struct nve_view *v)
{
	size_t i = 0;
	struct nve_view_process first;

	while (i < v->count && has_parent(v, &v->processes[i]))
		i++;
	if (!i || i == v->count)
		return;
	first = v->processes[i];
	memmove(&v->processes[1], &v->processes[0], i * sizeof(first));
	v->processes[0] = first;
}

static int find_double(const struct nve_view *v, struct nve_read_message *why)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct nve_view_process *a = &v->processes[i];

		for (size_t k = i + 1; k < v->count; k++) {
			const struct nve_view_process *b = &v->processes[k];

			if (a->pid != b->pid || a->wall_ns != b->wall_ns ||
			    !json_equal(a->document, b->document))
				continue;
			snprintf(why->text, sizeof(why->text),
				 "%s: process %d (%s) stands in %s, too: it would count twice",
				 b->file, b->pid, b->program, a->file);
			return -EEXIST;
		}
	}
	return 0;
}

static void add_counts(struct nve_totals *to, const struct nve_totals *t)
{
	static const struct nve_field *const tables[] = {nve_fields_totals, nve_fields_replay};

	for (size_t k = 0; k < NVE_ARRAY_SIZE(tables); k++) {
		for (const struct nve_field *f = tables[k]; f->path; f++) {
			if (f->kind != NVE_FIELD_UINT)
				continue;
			*(uint64_t *)((char *)to + f->offset) +=
				*(const uint64_t *)((const char *)t + f->offset);
		}
	}
	to->counters.reads.enabled_ns += t->counters.reads.enabled_ns;
	to->counters.reads.running_ns += t->counters.reads.running_ns;
}

static double squared(double x)
{
	return x * x;
}

/* Means weighted by what they are means of; errors of independent figures, in quadrature. */
struct means {
	double share_se2, dirty_se2;         /* squares of ns */
	double latency, latency_se2, misses; /* ps, by timed misses */
	double dram, stall;                  /* ps, by stall time */
	double read_se2, written_se2;        /* squares of bytes */
};

static void add_means(struct means *m, const struct nve_totals *t)
{
	double misses = t->latency_ps ? (double)t->misses + 1 : 0;

	m->share_se2 += squared((double)t->stall_share_se_ppm * (double)t->cpu_ns);
	m->dirty_se2 += squared((double)t->dirty_se_ppm * (double)t->stall_ns);
	m->latency += misses * (double)t->latency_ps;
	m->latency_se2 += squared(misses * (double)t->latency_se_ps);
	m->misses += misses;
	m->dram += (double)t->stall_ns * (double)t->dram_lat_ps;
	m->stall += (double)t->stall_ns;
	m->read_se2 += squared((double)t->traffic.read_se_bytes);
	m->written_se2 += squared((double)t->traffic.written_se_bytes);
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static void fill_means(struct nve_totals *t, const struct means *m)
{
	double cpu = (double)t->cpu_ns;

	t->stall_share_ppm = (uint32_t)lround(1e6 * ratio(m->stall, cpu));
	t->stall_share_se_ppm = (uint32_t)lround(ratio(sqrt(m->share_se2), cpu));
	t->dirty_ppm = (uint32_t)lround(1e6 * ratio((double)t->stall_wb_ns, m->stall));
	t->dirty_se_ppm = (uint32_t)lround(ratio(sqrt(m->dirty_se2), m->stall));
	t->latency_ps = (uint64_t)llround(ratio(m->latency, m->misses));
	t->latency_se_ps = (uint64_t)llround(ratio(sqrt(m->latency_se2), m->misses));
	t->dram_lat_ps = (uint64_t)llround(ratio(m->dram, m->stall));
	t->traffic.read_se_bytes = (uint64_t)llround(sqrt(m->read_se2));
	t->traffic.written_se_bytes = (uint64_t)llround(sqrt(m->written_se2));
}

static void sum_up(struct nve_view *v)
{
	struct means means = {0};

	memset(&v->totals, 0, sizeof(v->totals));
	/* of one process its own word, which is of more than the means' parts */
	if (v->count == 1) {
		v->totals = v->processes[0].totals;
		return;
	}
	for (size_t i = 0; i < v->count; i++) {
		add_counts(&v->totals, &v->processes[i].totals);
		add_means(&means, &v->processes[i].totals);
	}
	fill_means(&v->totals, &means);
}

int nve_view_finish(struct nve_view *view, struct nve_read_message *why)
{
	int err = find_double(view, why);

	if (err)
		return err;
	if (!view->count) {
		snprintf(why->text, sizeof(why->text), "no process has written a report");
		return -ENODATA;
	}
	qsort(view->processes, view->count, sizeof(view->processes[0]), compare);
	put_first(view);
	sum_up(view);
	return 0;
}

const char *nve_view_difference(const struct nve_view *view, const struct nve_view_process **a,
				const struct nve_view_process **b)
{
	static const char *const names[] = {"NVM_RLAT", "NVM_WLAT", "NVM_MODEL", "NVM_INJECT"};

	*a = &view->processes[0];
	for (size_t k = 0; k < NVE_ARRAY_SIZE(names); k++) {
		const char *first = nve_view_setting(*a, names[k]), *other;

		for (size_t i = 1; i < view->count; i++) {
			*b = &view->processes[i];
			other = nve_view_setting(*b, names[k]);
			if (!first != !other || (first && strcmp(first, other)))
				return names[k];
		}
	}
	return NULL;
}
