#include "count/ahead/waits.h"

#include "base/base.h"

/* Written in the window; or, as far as those of its instruction that were followed for longer tell,
 * after it. */
static double dirty_probability(const struct nve_line *line, uint32_t steps,
				struct nve_dirty_table *dirty)
{
	double p;

	if (line->written)
		return 1;
	if (!nve_dirty_probability_later(dirty, line->first_ip, steps - line->first_step, &p))
		return 0;
	return p;
}

void nve_waits_tell(const struct nve_waits_sink *sink, const struct nve_waits_window *w,
		    struct nve_dirty_table *dirty)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct nve_line *line = &w->lines->line[w->wait[i].line];

		if (!line->missed || !w->wait[i].missed)
			continue;
		sink->wait(line->id * NVE_LINE_BYTES,
			   (double)w->wait[i].cycles / NVE_MAX(line->latency, 1u),
			   dirty_probability(line, w->steps, dirty));
	}
	sink->end_window(w->stall_share);
}

void nve_waits_tell_window(const struct nve_waits_sink *sink, struct nve_window *window,
			   const struct nve_window_result *r, struct nve_dirty_table *dirty)
{
	struct nve_waits_window w = {
		.lines = nve_window_lines(window),
		.steps = r->steps,
		.stall_share = r->real_cycles > 0 ? 1 - r->resident_cycles / r->real_cycles : 0,
	};

	w.wait = nve_window_waits(window, &w.count);
	nve_waits_tell(sink, &w, dirty);
}
