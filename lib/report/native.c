#include "report/native.h"

#include <string.h>

#include "base/base.h"

static uint64_t added_ns(const struct nve_totals *t)
{
	uint64_t cost = t->handler_ns > t->saved_ns ? t->handler_ns - t->saved_ns : 0;

	return NVE_MAX(t->delay_paid_ns, cost);
}

/* By threads, where all are listed: what one has too little, another has too much. */
static uint64_t added_to(const struct nve_view_process *p)
{
	uint64_t sum = 0;

	if (p->threads_not_listed || !p->thread_count)
		return added_ns(&p->totals);
	for (size_t i = 0; i < p->thread_count; i++)
		sum += added_ns(&p->threads[i].totals);
	return sum;
}

/* Stages of one process follow each other; other processes are within the first one's time. */
static uint64_t wall_of(const struct nve_view *v)
{
	const struct nve_view_process *first = &v->processes[0];
	uint64_t wall = 0, longest = 0;

	for (size_t i = 0; i < v->count; i++) {
		const struct nve_view_process *p = &v->processes[i];

		if (p->pid == first->pid && !strcmp(p->host, first->host))
			wall += p->wall_ns;
		longest = NVE_MAX(longest, p->wall_ns);
	}
	wall = NVE_MAX(wall, longest);
	return v->run.known ? NVE_MAX(v->run.wall_ns, wall) : wall;
}

static bool is_one_thread(const struct nve_view *v)
{
	for (size_t i = 0; i < v->count; i++)
		if (v->processes[i].pid != v->processes[0].pid || v->processes[i].threads_total > 1)
			return false;
	return true;
}

void nve_native_estimate(const struct nve_view *view, struct nve_native *native)
{
	uint64_t wall = wall_of(view), added = 0;
	double together;

	for (size_t i = 0; i < view->count; i++)
		added += added_to(&view->processes[i]);
	*native = (struct nve_native){.wall_ns = wall, .added_ns = added};
	native->alone = is_one_thread(view);
	native->most_ns = wall;
	native->least_ns = wall - NVE_MIN(wall, added);
	together = wall ? ((double)view->totals.cpu_ns + (double)added) / (double)wall : 1;
	native->native_ns =
		wall - NVE_MIN(wall, (uint64_t)((double)added / NVE_MAX(together, 1.0)));
	if (native->alone) {
		native->native_ns = native->least_ns;
		native->most_ns = native->least_ns;
	}
}
