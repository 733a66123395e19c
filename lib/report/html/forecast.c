/* From reports to what predictions are made of (report/predict.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/parts.h"
#include "report/predict_load.h"

static uint64_t all_threads(const struct nve_view *v)
{
	uint64_t count = 0;

	for (size_t i = 0; i < v->count; i++)
		count += v->processes[i].thread_count;
	return count;
}

/* Threads that are not listed are in the totals alone: then those stand for all. */
static int from_sums(struct nve_page *page)
{
	const struct nve_view *v = page->view;
	struct nve_predict_totals *rows = calloc(all_threads(v) + v->count, sizeof(rows[0]));
	size_t count = 0;
	int err;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < v->count; i++) {
		const struct nve_view_process *p = &v->processes[i];

		if (p->threads_not_listed || !p->thread_count) {
			rows[count++] = (struct nve_predict_totals){(uint64_t)p->pid, p->program,
								    &p->totals};
			continue;
		}
		for (size_t k = 0; k < p->thread_count; k++)
			rows[count++] = (struct nve_predict_totals){(uint64_t)p->threads[k].tid,
								    p->threads[k].name,
								    &p->threads[k].totals};
	}
	err = nve_predict_from_totals(&page->predict, rows, count);
	free(rows);
	return err;
}

int nve_page_forecast(struct nve_page *page)
{
	const struct nve_view_process *first = &page->view->processes[0];

	page->predict = (struct nve_predict){
		.rlat_ns = (double)first->rlat_ps / 1e3,
		.wlat_ns = (double)first->wlat_ps / 1e3,
		.symmetric = first->symmetric,
		.dram_lat_ns = page->dram_lat_ns,
		.wall_ns = (double)page->native.wall_ns,
	};
	return from_sums(page);
}
