/*
 * Intel's clients. On a hybrid CPU each kind of core has a row and a PMU of its own. What memory
 * controllers count is the whole package's, graphics and I/O included.
 */
#include "count/pmu/rows_make.h"

/* clang-format off */

#define TRAFFIC "lines that the memory controllers write and read, graphics and I/O included"
#define FREE_RUNNING(source_)                                                                      \
	{.pmu = "uncore_imc_free_running", .written_alias = "data_write", .all_alias = "data_read",\
	 .written = "event=0xff,umask=0x30", .all = "event=0xff,umask=0x20", .meaning = TRAFFIC,   \
	 .source = source_}
#define OLD_IMC                                                                                    \
	{.pmu = "uncore_imc", .written_alias = "data_writes", .all_alias = "data_reads",           \
	 .written = "event=0x2", .all = "event=0x1", .meaning = TRAFFIC,                           \
	 .source = "Linux arch/x86/events/intel/uncore_snb.c"}
#define CAS_IMC(source_)                                                                           \
	{.pmu = "uncore_imc", .written = "event=0x23", .all = "event=0x22", .meaning = TRAFFIC,    \
	 .source = source_}
#define FREE_RUNNING_TGL FREE_RUNNING("Linux arch/x86/events/intel/uncore_snb.c")

#define SNB_HALVED                                                                                 \
	"with SMT on, events d0 to d3 may corrupt the sibling's counters (BJ122, BV98, HSD29): "   \
	"Linux halves the counters while one is in use"

#define L2_PENDING                                                                                 \
	[NVE_PMU_STALL] = EVENT("CYCLE_ACTIVITY.STALLS_L2_PENDING",                                \
				"CYCLE_ACTIVITY:STALLS_L2_PENDING", 0x50005a3, 0)
#define UOPS_L3_HIT(name_)                                                                         \
	[NVE_PMU_LLC_HIT] = EVENT("MEM_LOAD_UOPS_RETIRED." name_, "MEM_LOAD_UOPS_RETIRED:L3_HIT",  \
				  0x4d1, 0)
#define UOPS_L3_MISS(name_)                                                                        \
	[NVE_PMU_MISS_LOCAL] = EVENT("MEM_LOAD_UOPS_RETIRED." name_,                               \
				     "MEM_LOAD_UOPS_RETIRED:L3_MISS", 0x20d1, 0)

/* Ivy Bridge to Broadwell: the same events under two names. */
#define UOPS_ROW(name_, pmu_, file_, hit_, miss_, quirks_, errata_, ...)                           \
	{                                                                                          \
		.name = name_, INTEL(__VA_ARGS__), .pfm_pmu = pmu_,                                \
		.formula = NVE_PMU_FORMULA_L2_RATIO, .counters = 4, .quirks = quirks_,             \
		.roles = {L2_PENDING, UOPS_L3_HIT(hit_), UOPS_L3_MISS(miss_)},                     \
		.uncore = {OLD_IMC}, .errata = errata_,                                            \
		.source = "intel/perfmon " file_ ", libpfm4 4.13.0 " pmu_,                         \
	}

/* Skylake to Rocket Lake. */
#define L3_STALLS_ROW(name_, pmu_, file_, counters_, uncore_, ...)                                 \
	{                                                                                          \
		.name = name_, INTEL(__VA_ARGS__), .pfm_pmu = pmu_,                                \
		.formula = NVE_PMU_FORMULA_LLC_STALL, .counters = counters_,                       \
		.roles = {                                                                         \
			[NVE_PMU_STALL] = EVENT("CYCLE_ACTIVITY.STALLS_L3_MISS",                   \
				"CYCLE_ACTIVITY:STALLS_L3_MISS", 0x60006a3, 0),                    \
			[NVE_PMU_LLC_HIT] = EVENT("MEM_LOAD_RETIRED.L3_HIT",                       \
				"MEM_LOAD_RETIRED:L3_HIT", 0x4d1, 0),                              \
			[NVE_PMU_MISS_LOCAL] = EVENT("MEM_LOAD_RETIRED.L3_MISS",                   \
				"MEM_LOAD_RETIRED:L3_MISS", 0x20d1, 0),                            \
			[NVE_PMU_LOADS] = SAMPLED("MEM_LOAD_RETIRED.L3_MISS",                      \
				"MEM_LOAD_RETIRED:L3_MISS:precise=2", 0x20d1, 0),                  \
		},                                                                                 \
		.uncore = uncore_,                                                                 \
		.source = "intel/perfmon " file_ ", libpfm4 4.13.0 " pmu_,                         \
	}
#define UNCORES(...) {__VA_ARGS__}

/* Performance cores since Alder Lake; libpfm4 4.13.0 knows none of them. */
#define P_ROW(name_, formula_, counters_, stall_name, stall, file_, stores_, uncore_, ...)         \
	{                                                                                          \
		.name = name_, INTEL(__VA_ARGS__), .core = NVE_PMU_CORE_PERFORMANCE,               \
		.formula = formula_, .counters = counters_,                                        \
		.roles = {                                                                         \
			[NVE_PMU_STALL] = RAW(stall_name, stall, 0, "intel/perfmon " file_),       \
			[NVE_PMU_LLC_HIT] = RAW("MEM_LOAD_RETIRED.L3_HIT", 0x4d1, 0,               \
				"intel/perfmon " file_),                                           \
			[NVE_PMU_MISS_LOCAL] = RAW("MEM_LOAD_RETIRED.L3_MISS", 0x20d1, 0,          \
				"intel/perfmon " file_),                                           \
			[NVE_PMU_LOADS] = RAW_SAMPLED("MEM_LOAD_RETIRED.L3_MISS", 0x20d1, 0,       \
				"intel/perfmon " file_),                                           \
			stores_                                                                    \
		},                                                                                 \
		.uncore = uncore_, .source = "intel/perfmon " file_,                               \
	}
#define ADL_STORES                                                                                 \
	[NVE_PMU_STORES] = RAW_SAMPLED("MEM_TRANS_RETIRED.STORE_SAMPLE", 0x2cd, 0,                 \
				       "intel/perfmon ADL alderlake_goldencove_core.json"),
#define NO_STORES

/* Efficient cores. */
#define GRACEMONT_FILE "intel/perfmon ADL alderlake_gracemont_core.json"
#define GRACEMONT_ROW(name_, core_, ...)                                                           \
	{                                                                                          \
		.name = name_, INTEL(__VA_ARGS__), .core = core_,                                  \
		.formula = NVE_PMU_FORMULA_MEMORY_STALL, .counters = 6,                            \
		.roles = {                                                                         \
			[NVE_PMU_STALL] = RAW("MEM_BOUND_STALLS.LOAD_DRAM_HIT", 0x434, 0,          \
					      GRACEMONT_FILE),                                     \
			[NVE_PMU_LLC_HIT] = RAW("MEM_LOAD_UOPS_RETIRED.L3_HIT", 0x4d1, 0,          \
						GRACEMONT_FILE),                                   \
			[NVE_PMU_MISS_LOCAL] = RAW("MEM_LOAD_UOPS_RETIRED.DRAM_HIT", 0x80d1, 0,    \
						   GRACEMONT_FILE),                                \
			[NVE_PMU_LOADS] = RAW_SAMPLED("MEM_UOPS_RETIRED.LOAD_LATENCY_GT_64",       \
						      0x5d0, 64, GRACEMONT_FILE),                  \
			[NVE_PMU_STORES] = RAW_SAMPLED("MEM_UOPS_RETIRED.STORE_LATENCY", 0x6d0, 0, \
						       GRACEMONT_FILE),                            \
		},                                                                                 \
		.uncore = {FREE_RUNNING_TGL, CAS_IMC("intel/perfmon ADL alderlake_uncore.json")},  \
		.source = GRACEMONT_FILE,                                                          \
	}

const struct nve_pmu_row nve_pmu_rows_client[] = {
	{
		.name = "Sandy Bridge", INTEL({42, 42}), .pfm_pmu = "snb",
		.formula = NVE_PMU_FORMULA_L2_RATIO, .counters = 4,
		.quirks = NVE_PMU_QUIRK_SMT_HALVES,
		.roles = {
			L2_PENDING, UOPS_L3_HIT("LLC_HIT"),
			[NVE_PMU_MISS_LOCAL] = EVENT("MEM_LOAD_UOPS_MISC_RETIRED.LLC_MISS",
				"MEM_LOAD_UOPS_MISC_RETIRED:LLC_MISS", 0x2d4, 0),
		},
		.uncore = {OLD_IMC}, .errata = SNB_HALVED,
		.source = "intel/perfmon SNB, libpfm4 4.13.0 snb",
	},
	UOPS_ROW("Ivy Bridge", "ivb", "IVB", "LLC_HIT", "LLC_MISS", NVE_PMU_QUIRK_SMT_HALVES,
		 SNB_HALVED, {58, 58}),
	UOPS_ROW("Haswell", "hsw", "HSW", "L3_HIT", "L3_MISS", NVE_PMU_QUIRK_SMT_HALVES,
		 SNB_HALVED "; loads by source: HSD25, HSD29, HSD74 (undercount)",
		 {60, 60}, {69, 70}),
	UOPS_ROW("Broadwell", "bdw", "BDW", "L3_HIT", "L3_MISS", 0,
		 "loads by source: BDM35, BDM100 (undercount)", {61, 61}, {71, 71}),
	L3_STALLS_ROW("Skylake, Kaby Lake, Coffee Lake, Comet Lake", "skl", "SKL", 4,
		      UNCORES(OLD_IMC), {78, 78}, {94, 94}, {142, 142}, {158, 158}, {165, 166}),
	L3_STALLS_ROW("Ice Lake, Tiger Lake, Rocket Lake", "icl", "ICL", 8,
		      UNCORES(FREE_RUNNING_TGL, OLD_IMC), {125, 126}, {140, 141}, {167, 167}),
	P_ROW("Alder Lake, Raptor Lake: P-core", NVE_PMU_FORMULA_LLC_STALL, 8,
	      "MEMORY_ACTIVITY.STALLS_L3_MISS", 0x9000947, "ADL alderlake_goldencove_core.json",
	      ADL_STORES,
	      UNCORES(FREE_RUNNING_TGL, CAS_IMC("intel/perfmon ADL alderlake_uncore.json")),
	      {151, 151}, {154, 154}, {183, 183}, {186, 186}, {191, 191}),
	GRACEMONT_ROW("Alder Lake, Raptor Lake: E-core", NVE_PMU_CORE_EFFICIENT,
		      {151, 151}, {154, 154}, {183, 183}, {186, 186}, {191, 191}),
	GRACEMONT_ROW("Alder Lake-N", NVE_PMU_CORE_ONLY, {190, 190}),
	P_ROW("Meteor Lake, Arrow Lake-U: P-core", NVE_PMU_FORMULA_LLC_STALL, 8,
	      "MEMORY_ACTIVITY.STALLS_L3_MISS", 0x9000947, "MTL meteorlake_redwoodcove_core.json",
	      NO_STORES,
	      UNCORES(FREE_RUNNING_TGL, CAS_IMC("intel/perfmon MTL meteorlake_uncore.json")),
	      {170, 170}, {172, 172}, {181, 181}),
	{
		.name = "Meteor Lake, Arrow Lake-U: E-core",
		INTEL({170, 170}, {172, 172}, {181, 181}), .core = NVE_PMU_CORE_EFFICIENT,
		.formula = NVE_PMU_FORMULA_MEMORY_STALL, .counters = 8,
#define CRESTMONT(name, config) RAW(name, config, 0, "intel/perfmon MTL meteorlake_crestmont_core.json")
		.roles = {
			[NVE_PMU_STALL] = CRESTMONT("MEM_BOUND_STALLS_LOAD.LLC_MISS", 0x7834),
			[NVE_PMU_LLC_HIT] = CRESTMONT("MEM_LOAD_UOPS_RETIRED.L3_HIT", 0x1cd1),
			[NVE_PMU_MISS_LOCAL] = CRESTMONT("MEM_LOAD_UOPS_MISC_RETIRED.LOCAL_DRAM",
							 0x2d4),
		},
		.uncore = {FREE_RUNNING_TGL, CAS_IMC("intel/perfmon MTL meteorlake_uncore.json")},
		.source = "intel/perfmon MTL meteorlake_crestmont_core.json",
	},
	P_ROW("Lunar Lake, Arrow Lake: P-core", NVE_PMU_FORMULA_MEMORY_STALL, 10,
	      "MEMORY_STALLS.MEM", 0x846, "LNL lunarlake_lioncove_core.json", NO_STORES,
	      UNCORES(CAS_IMC("intel/perfmon LNL lunarlake_uncore.json")),
	      {189, 189}, {197, 198}),
	{
		.name = "Lunar Lake, Arrow Lake: E-core", INTEL({189, 189}, {197, 198}),
		.core = NVE_PMU_CORE_EFFICIENT, .formula = NVE_PMU_FORMULA_MEMORY_STALL,
		.counters = 8,
		.roles = {
			[NVE_PMU_STALL] = RAW("MEM_BOUND_STALLS_LOAD.LLC_MISS", 0x7834, 0,
				"intel/perfmon LNL lunarlake_skymont_core.json"),
		},
		.uncore = {CAS_IMC("intel/perfmon LNL lunarlake_uncore.json")},
		.source = "intel/perfmon LNL lunarlake_skymont_core.json",
	},
};
/* clang-format on */

const size_t nve_pmu_rows_client_count = NVE_ARRAY_SIZE(nve_pmu_rows_client);
