/* The section "timeline" of a report, read back. For the command alone, like report/read.h. */
#ifndef NVE_REPORT_READ_TIMELINE_H
#define NVE_REPORT_READ_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/timeline.h"
#include "report/read.h"

/* The buckets of a thread, or of several together. */
struct nve_view_lane {
	int tid;
	const char *name; /* NULL: of several */
	/* quantities one after the other, each with as many numbers as there are buckets */
	uint64_t *amounts;
};

struct nve_view_timeline {
	uint64_t bucket_ns;
	size_t buckets; /* 0: the report has none */
	struct nve_view_lane total;
	struct nve_view_lane *lanes; /* the busiest threads, then all others if there are any */
	size_t lane_count;
	uint64_t rest_threads; /* in the last lane; 0: there is no such lane */
};

/* 0; or, with the reason in *why, -EINVAL, -ENOMEM. A report without one is an empty timeline. */
int nve_view_read_timeline(const struct nve_view_process *process, struct nve_view_timeline *t,
			   struct nve_read_message *why);
void nve_view_free_timeline(struct nve_view_timeline *t);

/* The numbers of a quantity. */
static inline const uint64_t *nve_view_amounts(const struct nve_view_timeline *t,
					       const struct nve_view_lane *lane,
					       enum nve_timeline_quantity quantity)
{
	return lane->amounts + (size_t)quantity * t->buckets;
}

#endif
