#include "report_traffic.h"

#include <errno.h>
#include <stdlib.h>

#include "base/base.h"
#include "report/native.h"
#include "report/read_traffic.h"

enum { NAME = 15 };

void report_put_traffic(FILE *out, const struct nve_view *view, int label)
{
	const struct nve_view_process *first = &view->processes[0];
	const char *source = nve_view_traffic_of_all(view);
	struct nve_view_traffic t;
	struct nve_native run;

	if (!*source)
		return;
	nve_native_estimate(view, &run);
	nve_view_traffic_sum(view, run.wall_ns, &t);
	fprintf(out, "%-*s read %s, write %s\n", label, "bandwidth",
		nve_view_traffic_limit(first, false), nve_view_traffic_limit(first, true));
	fprintf(out,
		"%-*s read %.3f GB, %.3f GB/s of run time; written %.3f GB, %.3f GB/s (%s); "
		"delay for it %.3f s\n",
		label, "traffic", t.read_gb, t.read_gb_per_s, t.written_gb, t.written_gb_per_s,
		source, t.delay_s);
}

static uint64_t moved(const struct nve_view_thread *t)
{
	return t->totals.traffic.read_bytes + t->totals.traffic.written_bytes;
}

/* Most bytes first, then by number. */
static int compare(const void *x, const void *y)
{
	const struct nve_view_thread *a = *(const struct nve_view_thread *const *)x;
	const struct nve_view_thread *b = *(const struct nve_view_thread *const *)y;

	if (moved(a) != moved(b))
		return moved(a) > moved(b) ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* All threads of processes whose traffic was counted. Returns how many. */
static size_t gather(const struct nve_view *view, const struct nve_view_thread **threads)
{
	size_t count = 0;

	for (size_t i = 0; i < view->count; i++) {
		const struct nve_view_process *p = &view->processes[i];

		if (!*nve_view_traffic_source(p))
			continue;
		for (size_t k = 0; k < p->thread_count; k++) {
			if (threads)
				threads[count] = &p->threads[k];
			count++;
		}
	}
	return count;
}

int report_put_thread_traffic(FILE *out, const struct nve_view *view, size_t rows)
{
	size_t count = gather(view, NULL), shown = NVE_MIN(count, rows);
	const struct nve_view_thread **threads;
	struct nve_view_traffic t;

	if (count < 2)
		return 0;
	threads = calloc(count, sizeof(threads[0]));
	if (!threads)
		return -ENOMEM;
	gather(view, threads);
	qsort(threads, count, sizeof(threads[0]), compare);
	fprintf(out, "\ntraffic by thread; GB/s of its CPU time and delay");
	if (shown < count)
		fprintf(out, " (%zu of %zu, by bytes)", shown, count);
	fprintf(out, "\n%8s %-*s %9s %10s %9s %10s %9s\n", "tid", NAME, "name", "read GB",
		"written GB", "read GB/s", "write GB/s", "delay s");
	for (size_t i = 0; i < shown; i++) {
		nve_view_traffic_thread(threads[i], &t);
		fprintf(out, "%8d %-*.*s %9.3f %10.3f %9.3f %10.3f %9.3f\n", threads[i]->tid, NAME,
			NAME, threads[i]->name, t.read_gb, t.written_gb, t.read_gb_per_s,
			t.written_gb_per_s, t.delay_s);
	}
	free(threads);
	return 0;
}
