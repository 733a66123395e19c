/*
 * AMD's Zen. Encodings: Linux 6.12, tools/perf/pmu-events/arch/x86/amdzenN, and libpfm4 4.13.0 for
 * those with a string. Addresses come from IBS, whose bits are in arch/x86/events/amd/ibs.c:
 * 19 counts dispatched operations instead of cycles, 16 keeps those that missed the L3 alone.
 */
#include "count/pmu/rows_make.h"

/* clang-format off */

#define IBS(config_)                                                                               \
	[NVE_PMU_LOADS] = {.name = "IBS op", .config = config_,                                    \
			   .source = "Linux arch/x86/events/amd/ibs.c"},                           \
	[NVE_PMU_STORES] = {.name = "IBS op", .config = config_,                                   \
			    .source = "Linux arch/x86/events/amd/ibs.c"}
#define IBS_ALL IBS(0x80000)
#define IBS_L3MISS IBS(0x90000)

#define READS_AND_WRITES                                                                      \
	"the data fabric counts reads and writes together: it tells no dirty fraction"
#define UMC(source_)                                                                               \
	{.pmu = "amd_umc", .written = "event=0xa,rdwrmask=0x2", .all = "event=0xa,rdwrmask=0x1",   \
	 .meaning = "lines that the memory controllers write and read", .source = source_}
#define ZEN5(name_, config_) RAW(name_, config_, 0, "Linux 6.12 pmu-events amdzen5")

const struct nve_pmu_row nve_pmu_rows_amd[] = {
	{
		.name = "Zen 1", AMD(0x17, {0x00, 0x2f}, {0x50, 0x5f}),
		.pfm_pmu = "amd64_fam17h_zen1", .formula = NVE_PMU_FORMULA_NONE, .counters = 6,
		.sampler = NVE_PMU_SAMPLER_IBS, .roles = {IBS_ALL},
		.errata = "no event tells where a load was served. L3 counters inaccurate (1067), "
			  "miss buffers too (1047). " READS_AND_WRITES,
		.source = "Linux 6.12 pmu-events amdzen1",
	},
	{
		.name = "Zen 2",
		AMD(0x17, {0x30, 0x4f}, {0x60, 0x7f}, {0x90, 0x91}, {0xa0, 0xaf}),
		.pfm_pmu = "amd64_fam17h_zen2", .formula = NVE_PMU_FORMULA_NONE, .counters = 6,
		.sampler = NVE_PMU_SAMPLER_IBS,
		.roles = {
			[NVE_PMU_L2_HIT] = EVENT("ls_refills_from_sys.ls_mabresp_lcl_l2",
				"DATA_CACHE_REFILLS_FROM_SYSTEM:MABRESP_LCL_L2", 0x143, 0),
			[NVE_PMU_LLC_HIT] = EVENT("ls_refills_from_sys.ls_mabresp_lcl_cache",
				"DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_CACHE", 0x243, 0),
			[NVE_PMU_MISS_LOCAL] = EVENT("ls_refills_from_sys.ls_mabresp_lcl_dram",
				"DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM", 0x843, 0),
			[NVE_PMU_MISS_REMOTE] = EVENT("ls_refills_from_sys.ls_mabresp_rmt_dram",
				"DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_RMT_DRAM", 0x4043, 0),
			IBS_ALL,
		},
		.errata = "no event counts the time that loads take. " READS_AND_WRITES,
		.source = "Linux 6.12 pmu-events amdzen2, libpfm4 4.13.0 amd64_fam17h_zen2",
	},
	{
		.name = "Zen 3", AMD(0x19, {0x00, 0x0f}, {0x20, 0x5f}),
		.pfm_pmu = "amd64_fam19h_zen3", .formula = NVE_PMU_FORMULA_OVERLAP, .counters = 6,
		.sampler = NVE_PMU_SAMPLER_IBS, .quirks = NVE_PMU_QUIRK_APPROXIMATE,
		.roles = {
			[NVE_PMU_L2_HIT] = EVENT("ls_dmnd_fills_from_sys.lcl_l2",
				"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2", 0x143, 0),
			[NVE_PMU_LLC_HIT] = EVENT("ls_dmnd_fills_from_sys.int_cache",
				"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:INT_CACHE", 0x243, 0),
			[NVE_PMU_MISS_LOCAL] = EVENT("ls_dmnd_fills_from_sys.mem_io_local",
				"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL", 0x843, 0),
			[NVE_PMU_MISS_REMOTE] = EVENT("ls_dmnd_fills_from_sys.mem_io_remote",
				"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_RMT", 0x4043, 0),
			[NVE_PMU_IN_FLIGHT] = RAW("ls_alloc_mab_count", 0x5f, 0,
				"Linux 6.12 pmu-events amdzen3 memory.json"),
			[NVE_PMU_MISS_CYCLES] = RAW("ls_alloc_mab_count, cmask 1", 0x100005f, 0,
				"Linux 6.12 pmu-events amdzen3 memory.json"),
			IBS_ALL,
		},
		.errata = "no event counts the time that loads take: misses over their overlap "
			  "stand in, which is an upper bound. " READS_AND_WRITES,
		.source = "Linux 6.12 pmu-events amdzen3, libpfm4 4.13.0 amd64_fam19h_zen3",
	},
	{
		.name = "Zen 4", AMD(0x19, {0x10, 0x1f}, {0x60, 0xaf}),
		.pfm_pmu = "amd64_fam19h_zen4", .formula = NVE_PMU_FORMULA_LOAD_RATIO,
		.counters = 6, .sampler = NVE_PMU_SAMPLER_IBS,
		.roles = {
			[NVE_PMU_STALL] = EVENT("ex_no_retire.load_not_complete",
				"CYCLES_NO_RETIRE:NOT_COMPLETE_MISSING_LOAD", 0xa2d6, 0),
			[NVE_PMU_L2_HIT] = EVENT("ls_dmnd_fills_from_sys.local_l2",
				"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2", 0x143, 0),
			[NVE_PMU_LLC_HIT] = EVENT("ls_dmnd_fills_from_sys.local_ccx",
				"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LOCAL_CCX", 0x243, 0),
			[NVE_PMU_MISS_LOCAL] = EVENT("ls_dmnd_fills_from_sys.dram_io_near",
				"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR", 0x843, 0),
			[NVE_PMU_MISS_REMOTE] = EVENT("ls_dmnd_fills_from_sys.dram_io_far",
				"DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_FAR", 0x4043, 0),
			[NVE_PMU_ALL_MISSES] = RAW("ls_any_fills_from_sys.dram_io_all", 0x4844, 0,
				"Linux 6.12 pmu-events amdzen4 cache.json"),
			IBS_L3MISS,
		},
		.uncore = {UMC("Linux 6.12 pmu-events amdzen4 memory-controller.json")},
		.errata = "fills count lines of mapped I/O as memory's",
		.source = "Linux 6.12 pmu-events amdzen4, libpfm4 4.13.0 amd64_fam19h_zen4",
	},
	{
		/* as the kernel tells them: family 1Ah, but for the models of Zen 6 */
		.name = "Zen 5", AMD(0x1a, {0x00, 0x2f}, {0x40, 0x4f}, {0x60, 0x7f}),
		.formula = NVE_PMU_FORMULA_LOAD_RATIO, .counters = 6,
		.sampler = NVE_PMU_SAMPLER_IBS,
		.roles = {
			[NVE_PMU_STALL] = ZEN5("ex_no_retire.load_not_complete", 0xa2d6),
			[NVE_PMU_L2_HIT] = ZEN5("ls_dmnd_fills_from_sys.local_l2", 0x143),
			[NVE_PMU_LLC_HIT] = ZEN5("ls_dmnd_fills_from_sys.local_ccx", 0x243),
			[NVE_PMU_MISS_LOCAL] = ZEN5("ls_dmnd_fills_from_sys.dram_io_near", 0x843),
			[NVE_PMU_MISS_REMOTE] = ZEN5("ls_dmnd_fills_from_sys.dram_io_far", 0x4043),
			[NVE_PMU_ALL_MISSES] = ZEN5("ls_any_fills_from_sys.dram_io_all", 0x4844),
			IBS_L3MISS,
		},
		.uncore = {UMC("Linux 6.12 pmu-events amdzen5 memory-controller.json")},
		.errata = "fills count lines of mapped I/O as memory's",
		.source = "Linux 6.12 pmu-events amdzen5; unknown to libpfm4 4.13.0",
	},
};
/* clang-format on */

const size_t nve_pmu_rows_amd_count = NVE_ARRAY_SIZE(nve_pmu_rows_amd);
