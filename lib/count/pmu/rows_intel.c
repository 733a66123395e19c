/*
 * Intel's servers. Encodings: Intel's event files (github.com/intel/perfmon, one directory per
 * family, named in each row's source), and libpfm4 4.13.0 for those with a string.
 */
#include "count/pmu/rows_make.h"

/* clang-format off */

#define L2_PENDING                                                                                 \
	[NVE_PMU_STALL] = EVENT("CYCLE_ACTIVITY.STALLS_L2_PENDING",                                \
				"CYCLE_ACTIVITY:STALLS_L2_PENDING", 0x50005a3, 0)
#define L3_STALLS                                                                                  \
	[NVE_PMU_STALL] = EVENT("CYCLE_ACTIVITY.STALLS_L3_MISS",                                   \
				"CYCLE_ACTIVITY:STALLS_L3_MISS", 0x60006a3, 0)
#define L3_HIT                                                                                     \
	[NVE_PMU_LLC_HIT] = EVENT("MEM_LOAD_RETIRED.L3_HIT", "MEM_LOAD_RETIRED:L3_HIT", 0x4d1, 0)
#define L3_MISSES                                                                                  \
	[NVE_PMU_MISS_LOCAL] = EVENT("MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM",                        \
				     "MEM_LOAD_L3_MISS_RETIRED:LOCAL_DRAM", 0x1d3, 0),             \
	[NVE_PMU_MISS_REMOTE] = EVENT("MEM_LOAD_L3_MISS_RETIRED.REMOTE_DRAM",                      \
				      "MEM_LOAD_L3_MISS_RETIRED:REMOTE_DRAM", 0x2d3, 0)
#define L3_SAMPLES                                                                                 \
	[NVE_PMU_LOADS] = SAMPLED("MEM_LOAD_RETIRED.L3_MISS",                                      \
				  "MEM_LOAD_RETIRED:L3_MISS:precise=2", 0x20d1, 0),                \
	[NVE_PMU_STORES] = SAMPLED("MEM_INST_RETIRED.ALL_STORES",                                  \
				   "MEM_INST_RETIRED:ALL_STORES:precise=2", 0x82d0, 0)
#define LATENCY_SAMPLES                                                                            \
	[NVE_PMU_LOADS] = SAMPLED("MEM_TRANS_RETIRED.LOAD_LATENCY_GT_64",                          \
				  "MEM_TRANS_RETIRED:LATENCY_ABOVE_THRESHOLD:ldlat=64:precise=2",  \
				  0x1cd, 64),                                                      \
	[NVE_PMU_STORES] = SAMPLED("MEM_TRANS_RETIRED.PRECISE_STORE",                              \
				   "MEM_TRANS_RETIRED:PRECISE_STORE:precise=2", 0x2cd, 0)
#define STREAMING_STORES                                                                           \
	[NVE_PMU_STREAM] = EVENT("OFFCORE_RESPONSE.STREAMING_STORES.ANY_RESPONSE",                 \
				 "OFFCORE_RESPONSE_0:STRM_ST:ANY_RESPONSE", 0x1b7, 0x10800)

#define SNB_READS                                                                                  \
	"OFFCORE_RESPONSE_0:DMND_DATA_RD:DMND_RFO:DMND_IFETCH:PF_DATA_RD:PF_RFO:PF_IFETCH:"        \
	"PF_LLC_DATA_RD:PF_LLC_RFO:PF_LLC_IFETCH:LLC_MISS_LOCAL:LLC_MISS_REMOTE:SNP_ANY"
#define HSW_READS                                                                                  \
	"OFFCORE_RESPONSE_0:DMND_DATA_RD:DMND_RFO:DMND_CODE_RD:PF_DATA_RD:PF_RFO:PF_CODE_RD:"      \
	"PF_L3_DATA_RD:PF_L3_RFO:PF_L3_CODE_RD:L3_MISS:SNP_ANY"
#define BDW_READS                                                                                  \
	"OFFCORE_RESPONSE_0:DMND_DATA_RD:DMND_RFO:DMND_CODE_RD:PF_DATA_RD:PF_RFO:PF_IFETCH:"       \
	"PF_LLC_DATA_RD:PF_LLC_RFO:PF_LLC_IFETCH:L3_MISS:SNP_ANY"
#define ALL_READS "OFFCORE_RESPONSE.ALL_READS.LLC_MISS.ANY_RESPONSE"
#define DEMAND_HIT "OFFCORE_RESPONSE.DEMAND_DATA_RD.LLC_HIT.ANY_RESPONSE"
#define DEMAND_MISS "OFFCORE_RESPONSE.DEMAND_DATA_RD.LLC_MISS.LOCAL_DRAM"
#define SNB_DEMAND_MISS "OFFCORE_RESPONSE_1:DMND_DATA_RD:LLC_MISS_LOCAL:SNP_MISS:SNP_NO_FWD"

#define VICTIMS "lines evicted dirty from the last-level cache"
#define CAS "lines that the memory controllers write and read"

#define CBOX(pmu_, victims_, source_)                                                              \
	{.pmu = "uncore_cbox", .written = "event=0x37,umask=0x1", .meaning = VICTIMS,              \
	 .pfm_pmu = pmu_, .written_pfm = victims_, .source = source_}
#define IMC(written_, read_, pmu_, source_)                                                        \
	{.pmu = "uncore_imc", .written_alias = "cas_count_write", .all_alias = "cas_count_read",   \
	 .written = written_, .all = read_, .pfm_pmu = pmu_,                                       \
	 .written_pfm = "UNC_M_CAS_COUNT:WR", .all_pfm = "UNC_M_CAS_COUNT:RD", .meaning = CAS,     \
	 .source = source_}
#define IMC_RAW(written_, read_, source_)                                                          \
	{.pmu = "uncore_imc", .written_alias = "cas_count_write", .all_alias = "cas_count_read",   \
	 .written = written_, .all = read_, .meaning = CAS, .source = source_}
#define CHA(source_)                                                                               \
	{.pmu = "uncore_cha", .written = "event=0x5b,umask=0x1",                                   \
	 .all = "event=0x35,umask=0xc001fe01",                                                     \
	 .meaning = "full lines that cores' misses make the controllers write, and those misses",  \
	 .source = source_}
#define IMC_JKT(pmu, file) IMC("event=0x4,umask=0xc", "event=0x4,umask=0x3", pmu, file)

#define HALVED                                                                                     \
	"with SMT on, events d0 to d3 may corrupt the sibling's counters (BJ122, BV98, HSD29): "   \
	"Linux halves the counters while one is in use. "


const struct nve_pmu_row nve_pmu_rows_intel[] = {
	{
		.name = "Sandy Bridge-EP", INTEL({45, 45}), .pfm_pmu = "snb_ep",
		.formula = NVE_PMU_FORMULA_L2_RATIO, .counters = 4,
		.quirks = NVE_PMU_QUIRK_SMT_HALVES,
		.roles = {
			L2_PENDING,
			[NVE_PMU_LLC_HIT] = EVENT("MEM_LOAD_UOPS_LLC_HIT_RETIRED.XSNP_NONE",
				"MEM_LOAD_UOPS_LLC_HIT_RETIRED:XSNP_NONE", 0x8d2, 0),
			[NVE_PMU_MISS_LOCAL] = EVENT("MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM",
				"MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM", 0x1d3, 0),
			[NVE_PMU_MISS_REMOTE] = EVENT("MEM_LOAD_UOPS_LLC_MISS_RETIRED.REMOTE_DRAM",
				"MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_DRAM", 0x4d3, 0),
			[NVE_PMU_ALL_MISSES] = EVENT(ALL_READS, SNB_READS, 0x1b7, 0x3fffc003f7),
			LATENCY_SAMPLES,
		},
		.smt_hit = EVENT(DEMAND_HIT, "OFFCORE_RESPONSE_0:DMND_DATA_RD:LLC_HITM:LLC_HITE:"
				 "LLC_HITS:LLC_HITF:SNP_ANY", 0x1b7, 0x3f803c0001),
		.smt_miss = EVENT(DEMAND_MISS, SNB_DEMAND_MISS, 0x1bb, 0x600400001),
		.uncore = {
			CBOX("snbep_unc_cbo0", "UNC_C_LLC_VICTIMS:M_STATE", "intel/perfmon JKT"),
			IMC_JKT("snbep_unc_imc0", "intel/perfmon JKT"),
		},
		.errata = HALVED "Local and remote DRAM and L3-hit loads are undercounted unless "
			  "direct-to-core is switched off",
		.source = "intel/perfmon JKT, libpfm4 4.13.0 snb_ep",
	},
	{
		.name = "Ivy Bridge-EP", INTEL({62, 62}), .pfm_pmu = "ivb_ep",
		.formula = NVE_PMU_FORMULA_L2_RATIO, .counters = 4,
		.quirks = NVE_PMU_QUIRK_SMT_HALVES,
		.roles = {
			L2_PENDING,
			[NVE_PMU_LLC_HIT] = EVENT("MEM_LOAD_UOPS_LLC_HIT_RETIRED.XSNP_NONE",
				"MEM_LOAD_UOPS_LLC_HIT_RETIRED:XSNP_NONE", 0x8d2, 0),
			[NVE_PMU_MISS_LOCAL] = RAW("MEM_LOAD_UOPS_LLC_MISS_RETIRED.LOCAL_DRAM", 0x3d3, 0,
				"intel/perfmon IVT ivytown_core.json; libpfm4 4.13.0 has 1d3"),
			[NVE_PMU_MISS_REMOTE] = EVENT("MEM_LOAD_UOPS_LLC_MISS_RETIRED.REMOTE_DRAM",
				"MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_DRAM", 0xcd3, 0),
			[NVE_PMU_ALL_MISSES] = EVENT(ALL_READS, SNB_READS, 0x1b7, 0x3fffc003f7),
			STREAMING_STORES,
			LATENCY_SAMPLES,
		},
		.smt_hit = EVENT(DEMAND_HIT, "OFFCORE_RESPONSE_0:DMND_DATA_RD:LLC_HITMESF:SNP_ANY",
				 0x1b7, 0x3f803c0001),
		.smt_miss = EVENT(DEMAND_MISS, SNB_DEMAND_MISS, 0x1bb, 0x600400001),
		.uncore = {
			CBOX("ivbep_unc_cbo0", "UNC_C_LLC_VICTIMS:STATE_M", "intel/perfmon IVT"),
			IMC_JKT("ivbep_unc_imc0", "intel/perfmon IVT"),
		},
		.errata = HALVED,
		.source = "intel/perfmon IVT, libpfm4 4.13.0 ivb_ep",
	},
	{
		.name = "Haswell-EP", INTEL({63, 63}), .pfm_pmu = "hsw_ep",
		.formula = NVE_PMU_FORMULA_L2_RATIO, .counters = 4,
		.quirks = NVE_PMU_QUIRK_SMT_HALVES,
		.roles = {
			L2_PENDING,
			[NVE_PMU_LLC_HIT] = EVENT("MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_NONE",
				"MEM_LOAD_UOPS_L3_HIT_RETIRED:XSNP_NONE", 0x8d2, 0),
			[NVE_PMU_MISS_LOCAL] = EVENT("MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM",
				"MEM_LOAD_UOPS_L3_MISS_RETIRED:LOCAL_DRAM", 0x1d3, 0),
			[NVE_PMU_MISS_REMOTE] = EVENT("MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_DRAM",
				"MEM_LOAD_UOPS_L3_MISS_RETIRED:REMOTE_DRAM", 0x4d3, 0),
			[NVE_PMU_ALL_MISSES] = EVENT(ALL_READS, HSW_READS, 0x1b7, 0x3fb84003f7),
			STREAMING_STORES,
			[NVE_PMU_LOADS] = SAMPLED("MEM_LOAD_UOPS_RETIRED.L3_MISS",
				"MEM_LOAD_UOPS_RETIRED:L3_MISS:precise=2", 0x20d1, 0),
			[NVE_PMU_STORES] = SAMPLED("MEM_UOPS_RETIRED.ALL_STORES",
				"MEM_UOPS_RETIRED:ALL_STORES:precise=2", 0x82d0, 0),
		},
		.smt_hit = EVENT(DEMAND_HIT, "OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_HIT:SNP_ANY",
				 0x1b7, 0x3f803c0001),
		.smt_miss = EVENT(DEMAND_MISS, "OFFCORE_RESPONSE_1:DMND_DATA_RD:L3_MISS_LOCAL:"
				  "SNP_MISS:SNP_NO_FWD", 0x1bb, 0x600400001),
		.uncore = {
			{.pmu = "uncore_cbox", .written = "event=0x37,umask=0x1",
			 .all = "event=0x35,umask=0x2a", .pfm_pmu = "hswep_unc_cbo0",
			 .written_pfm = "UNC_C_LLC_VICTIMS:STATE_M",
			 .all_pfm = "UNC_C_TOR_INSERTS:MISS_LOCAL", .meaning = VICTIMS,
			 .source = "intel/perfmon HSX, libpfm4 4.13.0 hswep_unc_cbo0"},
			IMC_JKT("hswep_unc_imc0", "intel/perfmon HSX"),
		},
		.errata = HALVED "STALLS_L2_PENDING: HSM63, HSM80; loads by source: HSD25, HSD29, "
			  "HSD74, HSM26, HSM30 (undercount)",
		.source = "intel/perfmon HSX, libpfm4 4.13.0 hsw_ep; the CPU of the model's paper",
	},
	{
		.name = "Broadwell-EP", INTEL({79, 79}, {86, 86}), .pfm_pmu = "bdw_ep",
		.formula = NVE_PMU_FORMULA_L2_RATIO, .counters = 4,
		.roles = {
			L2_PENDING,
			[NVE_PMU_LLC_HIT] = EVENT("MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_NONE",
				"MEM_LOAD_UOPS_L3_HIT_RETIRED:XSNP_NONE", 0x8d2, 0),
			[NVE_PMU_MISS_LOCAL] = EVENT("MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM",
				"MEM_LOAD_UOPS_L3_MISS_RETIRED:LOCAL_DRAM", 0x1d3, 0),
			[NVE_PMU_MISS_REMOTE] = EVENT("MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_DRAM",
				"MEM_LOAD_UOPS_L3_MISS_RETIRED:REMOTE_DRAM", 0x4d3, 0),
			[NVE_PMU_ALL_MISSES] = EVENT(ALL_READS, BDW_READS, 0x1b7, 0x3fbc0003f7),
			[NVE_PMU_LOADS] = SAMPLED("MEM_LOAD_UOPS_RETIRED.L3_MISS",
				"MEM_LOAD_UOPS_RETIRED:L3_MISS:precise=2", 0x20d1, 0),
		},
		.uncore = {
			CBOX("bdx_unc_cbo0", "UNC_C_LLC_VICTIMS:M_STATE", "intel/perfmon BDX"),
			IMC_JKT("bdx_unc_imc0", "intel/perfmon BDX"),
		},
		.errata = "loads by source: BDE70, BDM35, BDM100 (undercount)",
		.source = "intel/perfmon BDX, libpfm4 4.13.0 bdw_ep",
	},
#define SKX_ROW(name_, first, last, pmu_, file_)                                                   \
	{                                                                                          \
		.name = name_, INTEL_STEPPINGS(85, first, last), .pfm_pmu = pmu_,                  \
		.formula = NVE_PMU_FORMULA_LLC_STALL, .counters = 4,                               \
		.roles = {                                                                         \
			L3_STALLS, L3_HIT, L3_MISSES,                                              \
			[NVE_PMU_ALL_MISSES] = RAW("OCR.ALL_READS.L3_MISS.ANY_SNOOP", 0x1b7,       \
				0x3fbc0007f7, "intel/perfmon CLX cascadelakex_core.json; "         \
				"libpfm4 4.13.0's L3_MISS has the local bit only"),                \
			L3_SAMPLES,                                                                \
		},                                                                                 \
		.uncore = {                                                                        \
			IMC_JKT("skx_unc_imc0", "intel/perfmon " file_),                           \
			{.pmu = "uncore_cha", .written = "event=0x5b,umask=0x1",                   \
			 .all = "event=0x35,umask=0x21,filter_loc=1,filter_rem=1",                 \
			 .pfm_pmu = "skx_unc_cha0",                                                \
			 .written_pfm = "UNC_C_IMC_WRITES_COUNT:FULL",                             \
			 .all_pfm = "UNC_C_TOR_INSERTS:IA_MISS:loc=1:rem=1",                       \
			 .meaning = "full lines that the controllers are made to write, and "      \
				    "cores' misses",                                               \
			 .source = "intel/perfmon " file_ ", libpfm4 4.13.0 skx_unc_cha0"},        \
		},                                                                                 \
		.errata = "the last-level cache holds not all of L2's lines: victims of it are "   \
			  "not all write-backs, so the controllers are asked",                     \
		.source = "intel/perfmon " file_ ", libpfm4 4.13.0 " pmu_,                         \
	}
	SKX_ROW("Skylake-SP", 0, 4, "skx", "SKX"),
	SKX_ROW("Cascade Lake, Cooper Lake", 5, 15, "clx", "CLX"),
	{
		.name = "Ice Lake-SP", INTEL({106, 106}, {108, 108}), .pfm_pmu = "icx",
		.formula = NVE_PMU_FORMULA_LLC_STALL, .counters = 8,
		.roles = {
			L3_STALLS, L3_HIT, L3_MISSES, L3_SAMPLES,
			[NVE_PMU_ALL_MISSES] = EVENT("OCR.READS_TO_CORE.L3_MISS",
				"OFFCORE_RESPONSE_0:READS_TO_CORE_L3_MISS", 0x1b7, 0x3f3fc00477),
			[NVE_PMU_ALL_MISSES_L3] = EVENT("OCR.HWPF_L3.L3_MISS",
				"OFFCORE_RESPONSE_1:HWPF_L3_L3_MISS", 0x1bb, 0x94002380),
			[NVE_PMU_STREAM] = EVENT("OCR.STREAMING_WR.L3_MISS",
				"OFFCORE_RESPONSE_0:STREAMING_WR_L3_MISS", 0x1b7, 0x94000800),
			[NVE_PMU_WRITES] = EVENT("OCR.WRITE_ESTIMATE.MEMORY",
				"OFFCORE_RESPONSE_0:WRITE_ESTIMATE_MEMORY", 0x1b7, 0xfbff80822),
		},
		.uncore = {
			IMC_RAW("event=0x4,umask=0x30", "event=0x4,umask=0xf",
				"intel/perfmon ICX icelakex_uncore.json"),
			CHA("intel/perfmon ICX icelakex_uncore.json"),
		},
		.source = "intel/perfmon ICX, libpfm4 4.13.0 icx (which takes Ice Lake-D for a client)",
	},
	{
		.name = "Sapphire Rapids", INTEL({143, 143}), .pfm_pmu = "spr",
		.formula = NVE_PMU_FORMULA_LLC_STALL, .counters = 8,
		.roles = {
			[NVE_PMU_STALL] = EVENT("MEMORY_ACTIVITY.STALLS_L3_MISS",
				"MEMORY_ACTIVITY:STALLS_L3_MISS", 0x9000947, 0),
			L3_HIT, L3_MISSES, L3_SAMPLES,
			[NVE_PMU_ALL_MISSES] = EVENT("OCR.READS_TO_CORE.L3_MISS",
				"OCR:READS_TO_CORE_L3_MISS", 0x12a, 0x3f3fc04477),
			[NVE_PMU_ALL_MISSES_L3] = EVENT("OCR.HWPF_L3.L3_MISS",
				"OCR:HWPF_L3_L3_MISS", 0x12a, 0x94002380),
			[NVE_PMU_STREAM] = EVENT("OCR.STREAMING_WR.L3_MISS",
				"OCR:STREAMING_WR_L3_MISS", 0x12a, 0x94000800),
			[NVE_PMU_WRITES] = EVENT("OCR.WRITE_ESTIMATE.MEMORY",
				"OCR:WRITE_ESTIMATE_MEMORY", 0x12a, 0xfbff80822),
		},
		.uncore = {
			IMC_RAW("event=0x5,umask=0xf0", "event=0x5,umask=0xcf",
				"intel/perfmon SPR sapphirerapids_uncore.json"),
			CHA("intel/perfmon SPR sapphirerapids_uncore.json"),
		},
		.source = "intel/perfmon SPR, libpfm4 4.13.0 spr",
	},
	{
		.name = "Emerald Rapids", INTEL({207, 207}), .formula = NVE_PMU_FORMULA_LLC_STALL,
		.counters = 8,
		.roles = {
#define EMR(name, config, config1) RAW(name, config, config1, "intel/perfmon EMR emeraldrapids_core.json")
			[NVE_PMU_STALL] = EMR("MEMORY_ACTIVITY.STALLS_L3_MISS", 0x9000947, 0),
			[NVE_PMU_LLC_HIT] = EMR("MEM_LOAD_RETIRED.L3_HIT", 0x4d1, 0),
			[NVE_PMU_MISS_LOCAL] = EMR("MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", 0x1d3, 0),
			[NVE_PMU_ALL_MISSES] = EMR("OCR.READS_TO_CORE.L3_MISS", 0x12a, 0x3f3fc04477),
			[NVE_PMU_ALL_MISSES_L3] = EMR("OCR.HWPF_L3.L3_MISS", 0x12a, 0x94002380),
			[NVE_PMU_LOADS] = RAW_SAMPLED("MEM_LOAD_RETIRED.L3_MISS", 0x20d1, 0,
				"intel/perfmon EMR emeraldrapids_core.json"),
		},
		.uncore = {
			IMC_RAW("event=0x5,umask=0xf0", "event=0x5,umask=0xcf",
				"intel/perfmon EMR emeraldrapids_uncore.json"),
		},
		.source = "intel/perfmon EMR; unknown to libpfm4 4.13.0",
	},
	{
		.name = "Granite Rapids", INTEL({173, 173}, {174, 174}), .formula = NVE_PMU_FORMULA_LLC_STALL,
		.counters = 8,
		.roles = {
#define GNR(name, config, config1) RAW(name, config, config1, "intel/perfmon GNR graniterapids_core.json")
			[NVE_PMU_STALL] = GNR("MEMORY_ACTIVITY.STALLS_L3_MISS", 0x9000947, 0),
			[NVE_PMU_LLC_HIT] = GNR("MEM_LOAD_RETIRED.L3_HIT", 0x4d1, 0),
			[NVE_PMU_MISS_LOCAL] = GNR("MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", 0x1d3, 0),
			[NVE_PMU_ALL_MISSES] = GNR("OCR.READS_TO_CORE.L3_MISS", 0x12a, 0x3f3fc04477),
			[NVE_PMU_LOADS] = RAW_SAMPLED("MEM_LOAD_RETIRED.L3_MISS", 0x20d1, 0,
				"intel/perfmon GNR graniterapids_core.json"),
		},
		.uncore = {
			/* two subchannels */
			{.pmu = "uncore_imc",
			 .written_alias = "cas_count_write_sch0,cas_count_write_sch1",
			 .all_alias = "cas_count_read_sch0,cas_count_read_sch1",
			 .written = "event=0x5,umask=0xf0;event=0x6,umask=0xf0",
			 .all = "event=0x5,umask=0xcf;event=0x6,umask=0xcf", .meaning = CAS,
			 .source = "intel/perfmon GNR graniterapids_uncore.json"},
		},
		.source = "intel/perfmon GNR; unknown to libpfm4 4.13.0",
	},
};
/* clang-format on */

const size_t nve_pmu_rows_intel_count = NVE_ARRAY_SIZE(nve_pmu_rows_intel);
