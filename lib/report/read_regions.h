/*
 * Marked regions read back: the section "regions" of all processes of a view as one; those of the
 * same name are one region. For the command alone, like report/read.h; names are the view's, which
 * must live as long.
 */
#ifndef NVE_REPORT_READ_REGIONS_H
#define NVE_REPORT_READ_REGIONS_H

#include <stddef.h>
#include <stdint.h>

#include "report/read.h"

struct nve_view_region_figures {
	uint64_t wall_ns, cpu_ns, stall_ns, stall_wb_ns, ma_ro, ma_wb, delay_owed_ns, delay_paid_ns;
};

struct nve_view_region {
	const char *name;
	uint64_t calls;
	struct nve_view_region_figures exclusive, inclusive; /* without, with the regions within */
};

struct nve_view_regions {
	struct nve_view_region *list; /* where most time was spent first, by exclusive */
	size_t count;                 /* 0: nothing was marked */
	struct nve_view_region_figures outside;
};

/* The view must be finished. 0; or, with the reason in *why, -EINVAL or -ENOENT (a report that is
 * not whole), -ENOMEM. */
int nve_view_read_regions(const struct nve_view *view, struct nve_view_regions *regions,
			  struct nve_read_message *why);
void nve_view_free_regions(struct nve_view_regions *regions);

#endif
