/* Which of a CPU's events the kernel opens, tried one by one. No malloc, no stdio. */
#ifndef NVE_COUNT_PMU_TRIAL_H
#define NVE_COUNT_PMU_TRIAL_H

#include <stddef.h>

#include "count/pmu/encode.h"
#include "count/pmu/identify.h"
#include "count/pmu/perf.h"

enum { NVE_PMU_TRIALS = NVE_PMU_KINDS * NVE_PMU_ROLES + 2 * NVE_PMU_UNCORES };

struct nve_pmu_trial {
	const char *pmu;  /* in sysfs, without a number; "raw": the kernel has none, tried anyway */
	const char *what; /* what for: a role, "lines written", "lines read" */
	const char *event;        /* the vendor's name, the kernel's, or the terms */
	struct nve_pmu_code code; /* zeros where it could not be encoded */
	int error;                /* 0: it opens; or -errno */
};

/*
 * Opens and closes each event of the kinds' rows: those of roles on the calling thread, the sampled
 * ones with a period, and of each PMU outside of the cores that is there a pair on its first box
 * and CPU. Returns the number of trials.
 */
size_t nve_pmu_try(const struct nve_perf *perf, const struct nve_pmu_kind *kinds, size_t count,
		   const char *root, struct nve_pmu_trial trials[NVE_PMU_TRIALS]);

#endif
