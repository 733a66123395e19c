#include "emu/region_due.h"

#include "base/base.h"

void nve_region_due_settle(struct nve_region_due *d, uint64_t owed_ns, uint64_t foreseen_ns)
{
	atomic_fetch_add(&d->corrected_ns, (int64_t)(owed_ns - foreseen_ns));
}

int64_t nve_region_due_ns(const struct nve_region_due *d)
{
	return d->foreseen_ns + atomic_load(&d->corrected_ns) + d->moved_ns -
	       (int64_t)d->served_ns - NVE_MAX(d->cost_ns, (int64_t)0);
}

void nve_region_due_move(struct nve_region_due *from, struct nve_region_due *to)
{
	int64_t due_ns = nve_region_due_ns(from);

	from->moved_ns -= due_ns;
	to->moved_ns += due_ns;
}
