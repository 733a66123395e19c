#include "count/ahead/exposed.h"

#include <math.h>

/* Part of the time that misses must hold up retirement for, to tell what hides behind them. */
#define MIN_WAITED  0.02
#define FADE_CYCLES 2e5

void nve_exposed_window(struct nve_exposed *e, const struct nve_window_result *r)
{
	if (e->held > FADE_CYCLES) {
		e->held /= 2;
		e->gained /= 2;
	}
	if (r->waited_cycles < MIN_WAITED * r->real_cycles)
		return;
	e->held += r->waited_cycles + r->waited_far_cycles;
	e->gained += r->real_cycles - r->resident_cycles;
}

double nve_exposed(const struct nve_exposed *e)
{
	if (e->held <= 0)
		return 1;
	return fmin(fmax(e->gained / e->held, 0), 1);
}
