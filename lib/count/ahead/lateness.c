#include "count/ahead/lateness.h"

#include "base/base.h"

enum { USUAL_START_NS = 25000, USUAL_LEAST_NS = 100 };

/* The quantile is followed by steps of parts of itself, which balance where a third is earlier. */
#define STEP_UP   0.01
#define STEP_DOWN 0.02

/* How long after the earliest ticks; they are due a little before the first of them was seen. */
static uint64_t late_ns(struct nve_lateness *l, uint64_t now_ns, uint64_t tick_ns)
{
	uint64_t phase_ns = now_ns % tick_ns, late_ns;

	if (!l->known) {
		*l = (struct nve_lateness){
			.phase_ns = phase_ns, .known = true, .usual_ns = USUAL_START_NS};
		return 0;
	}
	late_ns = (phase_ns + tick_ns - l->phase_ns) % tick_ns;
	if (late_ns < tick_ns / 4 * 3)
		return late_ns;
	l->phase_ns = phase_ns;
	return 0;
}

bool nve_lateness_is_late(struct nve_lateness *l, uint64_t now_ns, uint64_t tick_ns)
{
	double late = (double)late_ns(l, now_ns, tick_ns);
	bool is_late = late > l->usual_ns;

	l->usual_ns *= is_late ? 1 + STEP_UP : 1 - STEP_DOWN;
	l->usual_ns = NVE_MAX(l->usual_ns, (double)USUAL_LEAST_NS);
	return is_late;
}
