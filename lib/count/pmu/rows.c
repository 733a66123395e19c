#include "count/pmu/rows.h"

#include "base/base.h"

static const char *const formula_texts[NVE_PMU_FORMULAS] = {
	[NVE_PMU_FORMULA_L2_RATIO] =
		"stalls while L2 misses, times the share of memory (equation 3)",
	[NVE_PMU_FORMULA_LLC_STALL] = "stalls while the last-level cache misses, calibrated",
	[NVE_PMU_FORMULA_MEMORY_STALL] = "stalls on memory, as they are counted",
	[NVE_PMU_FORMULA_LOAD_RATIO] = "stalls on loads, times the share of memory",
	[NVE_PMU_FORMULA_OVERLAP] = "misses over their overlap, times memory's latency",
	[NVE_PMU_FORMULA_READ_RATIO] =
		"stalls while L2 misses, times the share of memory (equation 3)",
	[NVE_PMU_FORMULA_BACKEND_RATIO] = "stalls of the back end, times the share of memory",
	[NVE_PMU_FORMULA_NONE] = "told by none of them",
};

static const char *const role_names[NVE_PMU_ROLES] = {
	[NVE_PMU_STALL] = "stall cycles",
	[NVE_PMU_L2_HIT] = "L2 hits",
	[NVE_PMU_LLC_HIT] = "last-level cache hits",
	[NVE_PMU_MISS_LOCAL] = "misses to memory",
	[NVE_PMU_MISS_REMOTE] = "misses to remote memory",
	[NVE_PMU_LL_READ] = "last-level cache reads",
	[NVE_PMU_IN_FLIGHT] = "misses in flight",
	[NVE_PMU_MISS_CYCLES] = "cycles with a miss",
	[NVE_PMU_ALL_MISSES] = "all misses of a CPU",
	[NVE_PMU_ALL_MISSES_L3] = "prefetches into the last-level cache",
	[NVE_PMU_STREAM] = "streaming stores",
	[NVE_PMU_WRITES] = "stores to memory",
	[NVE_PMU_LOADS] = "sampled loads",
	[NVE_PMU_STORES] = "sampled stores",
};

const struct nve_pmu_row *nve_pmu_row(size_t i)
{
	const struct {
		const struct nve_pmu_row *rows;
		size_t count;
	} tables[] = {
		{nve_pmu_rows_intel, nve_pmu_rows_intel_count},
		{nve_pmu_rows_client, nve_pmu_rows_client_count},
		{nve_pmu_rows_amd, nve_pmu_rows_amd_count},
		{nve_pmu_rows_arm, nve_pmu_rows_arm_count},
	};

	for (size_t t = 0; t < NVE_ARRAY_SIZE(tables); t++) {
		if (i < tables[t].count)
			return &tables[t].rows[i];
		i -= tables[t].count;
	}
	return NULL;
}

const char *nve_pmu_role_name(enum nve_pmu_role role)
{
	return role_names[role];
}

const char *nve_pmu_formula_text(enum nve_pmu_formula formula)
{
	return formula_texts[formula];
}
