#include "count/pmu/sampled.h"

#include <errno.h>
#include <stddef.h>

#include "count/pmu/sysfs.h"

/* Of all operations; IBS takes multiples of 16, SPE of 256. Of packets the kernel tells so many at
 * a time, besides whenever the thread leaves its core. */
enum { OPERATIONS_PERIOD = 400128, WATERMARK_BYTES = 4096 };

const char *nve_pmu_sampled_pmu(const struct nve_pmu_kind *kind)
{
	static const char *const samplers[] = {
		[NVE_PMU_SAMPLER_IBS] = "ibs_op", [NVE_PMU_SAMPLER_SPE] = "arm_spe_0"};
	enum nve_pmu_sampler sampler = kind->row->sampler;

	return sampler == NVE_PMU_SAMPLER_PEBS ? kind->pmu : samplers[sampler];
}

/* Terms that the PMU's format/ files have no place for leave the row's own encoding. */
static void encode(const struct nve_pmu_event *event, const char *root, const char *pmu,
		   uint32_t type, struct nve_pmu_code *code)
{
	if (!event->terms || nve_pmu_sysfs_encode(root, pmu, event->terms, code))
		*code = nve_pmu_event_code(event, type);
}

int nve_pmu_sampled_event(const struct nve_pmu_kind *kind, enum nve_pmu_role role, const char *root,
			  struct nve_pmu_sampled *s)
{
	const struct nve_pmu_event *event = &kind->row->roles[role];
	enum nve_pmu_sampler sampler = kind->row->sampler;
	const char *pmu = nve_pmu_sampled_pmu(kind);
	uint32_t type = PERF_TYPE_RAW;
	int rc = pmu ? nve_pmu_sysfs_type(root, pmu, &type) : -ENODEV;

	*s = (struct nve_pmu_sampled){.period = NVE_PMU_MISS_PERIOD};
	if (rc)
		s->code = nve_pmu_event_code(event, type);
	else
		encode(event, root, pmu, type, &s->code);
	/* A latency as config1: all loads that take as long, whoever serves them. */
	s->all_sources = s->code.config[1] != 0;
	if (sampler != NVE_PMU_SAMPLER_PEBS) {
		s->period = OPERATIONS_PERIOD;
		s->whole = sampler == NVE_PMU_SAMPLER_IBS;
		s->packets = sampler == NVE_PMU_SAMPLER_SPE;
		s->all_sources = true;
	}
	return rc ? -ENODEV : 0;
}

void nve_pmu_attr_sampled(const struct nve_pmu_sampled *event, struct perf_event_attr *attr)
{
	nve_pmu_attr_thread(&event->code, attr);
	attr->sample_period = event->period;
	attr->precise_ip = event->code.precise_ip & 3;
	if (event->whole)
		attr->exclude_kernel = attr->exclude_hv = 0;
	if (event->packets) {
		attr->aux_watermark = WATERMARK_BYTES;
		return;
	}
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT;
	if (event->all_sources)
		attr->sample_type |= PERF_SAMPLE_DATA_SRC;
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
