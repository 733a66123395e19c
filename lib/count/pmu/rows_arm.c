/*
 * Arm's servers. Encodings: Linux 6.12, tools/perf/pmu-events/arch/arm64, and libpfm4 4.13.0 as
 * built for arm64 (the build for amd64 has no Arm tables).
 */
#include "count/pmu/rows_make.h"

/* clang-format off */

#define LL_READS                                                                                   \
	[NVE_PMU_LL_READ] = EVENT("LL_CACHE_RD", "LL_CACHE_RD", 0x36, 0),                          \
	[NVE_PMU_MISS_LOCAL] = EVENT("LL_CACHE_MISS_RD", "LL_CACHE_MISS_RD", 0x37, 0),             \
	[NVE_PMU_ALL_MISSES] = EVENT("LL_CACHE_MISS_RD", "LL_CACHE_MISS_RD", 0x37, 0)
#define MEM_STALL                                                                                  \
	[NVE_PMU_STALL] = EVENT("STALL_BACKEND_MEM", "STALL_BACKEND_MEM", 0x4005, 0)
/*
 * 33: loads, 34: stores, 16: jitter, so that loops do not resonate with the period. Loads that take
 * less than 64 cycles are left out: no memory is as near, and they would fill the buffer.
 */
#define SPE_TERMS(what) what "_filter=1,jitter=1,min_latency=64"
#define SPE                                                                                        \
	[NVE_PMU_LOADS] = {.name = "SPE loads", .config = 0x200010000,                             \
			   .terms = SPE_TERMS("load"),                                             \
			   .source = "Linux drivers/perf/arm_spe_pmu.c"},                          \
	[NVE_PMU_STORES] = {.name = "SPE stores", .config = 0x400010000,                           \
			    .terms = SPE_TERMS("store"),                                           \
			    .source = "Linux drivers/perf/arm_spe_pmu.c"}

#define CMN                                                                                        \
	{.pmu = "arm_cmn", .written_alias = "hnf_slc_eviction", .all_alias = "hnf_cache_miss",     \
	 .written = "type=0x5,eventid=0xa", .all = "type=0x5,eventid=0x1",                         \
	 .meaning = "lines evicted dirty from the system cache, and its misses",                   \
	 .source = "Linux 6.12 pmu-events arm/cmn, drivers/perf/arm-cmn.c"}
#define DSU                                                                                        \
	{.pmu = "arm_dsu", .written_alias = "l3d_cache_wb", .all_alias = "l3d_cache_refill",       \
	 .written = "event=0x2c", .all = "event=0x2a",                                             \
	 .meaning = "lines that the cluster's cache writes back, and those that it brings in",     \
	 .source = "Linux drivers/perf/arm_dsu_pmu.c"}
#define SCF                                                                                        \
	{.pmu = "nvidia_scf_pmu", .written_alias = "scf_cache_wb", .all_alias = "scf_cache_refill",\
	 .written = "event=0xf3", .all = "event=0xf1",                                             \
	 .meaning = "lines that Grace's system cache writes back, and those that it brings in",    \
	 .source = "Linux drivers/perf/arm_cspmu/nvidia_cspmu.c"}

#define BY_FIRMWARE                                                                                \
	"LL_CACHE events count only where firmware sets CPUECTLR.EXTLLC, prefetches included"

#define MEM_ROW(name_, part_, tree_, pmu_, ...)                                                           \
	{                                                                                          \
		.name = name_, ARM(part_), .tree_pmu = tree_, .pfm_pmu = pmu_,                                   \
		.formula = NVE_PMU_FORMULA_READ_RATIO, .counters = 6,                              \
		.sampler = NVE_PMU_SAMPLER_SPE, .quirks = NVE_PMU_QUIRK_LL_BY_FIRMWARE,            \
		.roles = {MEM_STALL, LL_READS, SPE}, .uncore = {__VA_ARGS__, DSU},                 \
		.errata = BY_FIRMWARE,                                                             \
		.source = "Linux 6.12 pmu-events arm64, libpfm4 4.13.0 " pmu_,                     \
	}

const struct nve_pmu_row nve_pmu_rows_arm[] = {
	{
		.name = "Neoverse N1", ARM(0xd0c), .tree_pmu = "armv8_neoverse_n1", .pfm_pmu = "arm_n1",
		.formula = NVE_PMU_FORMULA_BACKEND_RATIO, .counters = 6,
		.sampler = NVE_PMU_SAMPLER_SPE,
		.quirks = NVE_PMU_QUIRK_LL_BY_FIRMWARE | NVE_PMU_QUIRK_APPROXIMATE,
		.roles = {
			[NVE_PMU_STALL] = EVENT("STALL_BACKEND", "STALL_BACKEND", 0x24, 0),
			LL_READS, SPE,
		},
		.uncore = {CMN, DSU},
		.errata = "no event for stalls on memory alone: all stalls of the back end stand "
			  "in, which is an upper bound. " BY_FIRMWARE,
		.source = "Linux 6.12 pmu-events arm64 neoverse-n1, libpfm4 4.13.0 arm_n1",
	},
	MEM_ROW("Neoverse V1", 0xd40, "armv8_neoverse_v1", "arm_v1", CMN),
	MEM_ROW("Neoverse N2", 0xd49, "armv8_neoverse_n2", "arm_n2", CMN),
	MEM_ROW("Neoverse V2", 0xd4f, "armv8_neoverse_v2", "arm_v2", SCF, CMN),
};
/* clang-format on */

const size_t nve_pmu_rows_arm_count = NVE_ARRAY_SIZE(nve_pmu_rows_arm);
