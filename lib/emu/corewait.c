#include "emu/corewait.h"

#include "base/base.h"

uint64_t nve_corewait_take(struct nve_corewait *w, uint64_t wall_ns, uint64_t cpu_ns,
			   uint64_t given_up)
{
	struct nve_corewait last = *w;
	uint64_t ran_ns;

	*w = (struct nve_corewait){wall_ns, cpu_ns, given_up};
	/* The clocks of a forked child begin anew. */
	if (!last.wall_ns || given_up != last.given_up || wall_ns < last.wall_ns ||
	    cpu_ns < last.cpu_ns)
		return 0;
	ran_ns = cpu_ns - last.cpu_ns;
	wall_ns -= last.wall_ns;
	return wall_ns - NVE_MIN(wall_ns, ran_ns);
}

void nve_corewait_mark(struct nve_corewait *w, uint64_t wall_ns, uint64_t cpu_ns, uint64_t left_ns)
{
	w->wall_ns = wall_ns - NVE_MIN(left_ns, wall_ns);
	w->cpu_ns = cpu_ns;
}
