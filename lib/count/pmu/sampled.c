#include "count/pmu/sampled.h"

#include <stddef.h>

/* Of all operations; IBS takes multiples of 16. */
enum { OPERATIONS_PERIOD = 400000 };

const char *nve_pmu_sampled_pmu(const struct nve_pmu_kind *kind)
{
	static const char *const samplers[] = {
		[NVE_PMU_SAMPLER_IBS] = "ibs_op", [NVE_PMU_SAMPLER_SPE] = "arm_spe_0"};
	enum nve_pmu_sampler sampler = kind->row->sampler;

	return sampler == NVE_PMU_SAMPLER_PEBS ? kind->pmu : samplers[sampler];
}

bool nve_pmu_sampled_is_read(const struct nve_pmu_row *row)
{
	return row->sampler != NVE_PMU_SAMPLER_SPE;
}

struct nve_pmu_sampled nve_pmu_sampled_event(const struct nve_pmu_row *row, enum nve_pmu_role role,
					     uint32_t type)
{
	struct nve_pmu_sampled s = {.code = nve_pmu_event_code(&row->roles[role], type),
				    .period = NVE_PMU_MISS_PERIOD};

	/* A latency as config1: all loads that take as long, whoever serves them. */
	s.all_sources = s.code.config[1] != 0;
	if (row->sampler == NVE_PMU_SAMPLER_PEBS)
		return s;
	s.period = OPERATIONS_PERIOD;
	s.whole = row->sampler == NVE_PMU_SAMPLER_IBS;
	s.all_sources = true;
	return s;
}

void nve_pmu_attr_sampled(const struct nve_pmu_sampled *event, struct perf_event_attr *attr)
{
	nve_pmu_attr_thread(&event->code, attr);
	attr->sample_period = event->period;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT;
	if (event->all_sources)
		attr->sample_type |= PERF_SAMPLE_DATA_SRC;
	attr->precise_ip = event->code.precise_ip & 3;
	if (event->whole)
		attr->exclude_kernel = attr->exclude_hv = 0;
}

bool nve_pmu_source_is_memory(uint64_t source)
{
	const union perf_mem_data_src s = {.val = source};
	const uint64_t memory =
		PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2;

	/* Drivers say it in the one field or in the other, newer ones in both. What has missed the
	 * last cache and is not told further came from memory, too. */
	if (s.mem_lvl & PERF_MEM_LVL_MISS)
		return s.mem_lvl & PERF_MEM_LVL_L3;
	return s.mem_lvl & memory || s.mem_lvl_num == PERF_MEM_LVLNUM_RAM ||
	       s.mem_lvl_num == PERF_MEM_LVLNUM_PMEM || s.mem_lvl_num == PERF_MEM_LVLNUM_CXL;
}
