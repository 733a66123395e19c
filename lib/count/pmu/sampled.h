/* Events that sample the addresses of loads or stores: PEBS, IBS, SPE. Pure. */
#ifndef NVE_COUNT_PMU_SAMPLED_H
#define NVE_COUNT_PMU_SAMPLED_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "count/pmu/encode.h"
#include "count/pmu/identify.h"
#include "count/pmu/rows.h"

/* Of loads that miss, so many that one of them costs next to nothing; prime, so that loops do not
 * fall in step with it. */
enum { NVE_PMU_MISS_PERIOD = 10007 };

struct nve_pmu_sampled {
	struct nve_pmu_code code;
	uint64_t period;
	bool whole;       /* its driver allows no exclusion */
	bool all_sources; /* it sees loads that caches serve, too: records tell the source */
	bool packets;     /* records are packets in an area beside the ring: count/pmu/spe.h */
};

/* The PMU in sysfs that samples for a kind of core: its own, or another; NULL: the kernel has none
 * for the kind. */
const char *nve_pmu_sampled_pmu(const struct nve_pmu_kind *kind);

/*
 * The row's event for LOADS or STORES, its fields placed as the PMU in sysfs (root) says. 0; or
 * -ENODEV where there is no such PMU: then it is encoded as a raw event of the core.
 */
int nve_pmu_sampled_event(const struct nve_pmu_kind *kind, enum nve_pmu_role role, const char *root,
			  struct nve_pmu_sampled *sampled);

/* Samples a thread, disabled: PERF_SAMPLE_IP | ADDR | WEIGHT, and DATA_SRC where the event sees
 * all sources; of one that writes packets, none of these. */
void nve_pmu_attr_sampled(const struct nve_pmu_sampled *event, struct perf_event_attr *attr);

/* Was it memory, here or elsewhere, that served a load of this PERF_SAMPLE_DATA_SRC? */
bool nve_pmu_source_is_memory(uint64_t source);

#endif
