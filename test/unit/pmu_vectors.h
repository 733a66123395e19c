/*
 * What each event of each row must encode to. Not taken from the code under test: with a string, it
 * is what libpfm4 4.13.0 gave for it on Debian bookworm (amd64; the Arm ones from its arm64 build),
 * but for clx's samples, which are skx's; without one, it is event | umask << 8 | cmask << 24, and
 * MSRValue as config1, of Intel's and Linux' event files; IBS and SPE are bits of the kernel's
 * formats (ibs_op: cnt_ctl 19, l3missonly 16; arm_spe: jitter 16, load_filter 33, store_filter 34).
 */
#ifndef TEST_PMU_VECTORS_H
#define TEST_PMU_VECTORS_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
enum {
	STALL, L2_HIT, LLC_HIT, MISS_LOCAL, MISS_REMOTE, LL_READ, IN_FLIGHT, MISS_CYCLES,
	ALL_MISSES, ALL_MISSES_L3, STREAM, WRITES, LOADS, STORES, /* as in enum nve_pmu_role */
	SMT_HIT, SMT_MISS
};

static const struct vector {
	const char *row;
	int role;
	const char *pfm; /* PMU::event */
	uint64_t config, config1;
	unsigned precise_ip;
} vectors[] = {
	{"Sandy Bridge-EP", STALL, "snb_ep::CYCLE_ACTIVITY:STALLS_L2_PENDING", 0x50005a3, 0, 0},
	{"Sandy Bridge-EP", LLC_HIT,
	 "snb_ep::MEM_LOAD_UOPS_LLC_HIT_RETIRED:XSNP_NONE", 0x8d2, 0, 0},
	{"Sandy Bridge-EP", MISS_LOCAL,
	 "snb_ep::MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM", 0x1d3, 0, 0},
	{"Sandy Bridge-EP", MISS_REMOTE,
	 "snb_ep::MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_DRAM", 0x4d3, 0, 0},
	{"Sandy Bridge-EP", ALL_MISSES,
	 "snb_ep::OFFCORE_RESPONSE_0:DMND_DATA_RD:DMND_RFO:DMND_IFETCH:PF_DATA_RD:"
	 "PF_RFO:PF_IFETCH:PF_LLC_DATA_RD:PF_LLC_RFO:PF_LLC_IFETCH:LLC_MISS_LOCAL:"
	 "LLC_MISS_REMOTE:SNP_ANY", 0x1b7, 0x3fffc003f7, 0},
	{"Sandy Bridge-EP", LOADS,
	 "snb_ep::MEM_TRANS_RETIRED:LATENCY_ABOVE_THRESHOLD:ldlat=64:precise=2", 0x1cd, 0x40, 2},
	{"Sandy Bridge-EP", STORES,
	 "snb_ep::MEM_TRANS_RETIRED:PRECISE_STORE:precise=2", 0x2cd, 0, 2},
	{"Sandy Bridge-EP", SMT_HIT,
	 "snb_ep::OFFCORE_RESPONSE_0:DMND_DATA_RD:LLC_HITM:LLC_HITE:LLC_HITS:LLC_HITF:"
	 "SNP_ANY", 0x1b7, 0x3f803c0001, 0},
	{"Sandy Bridge-EP", SMT_MISS,
	 "snb_ep::OFFCORE_RESPONSE_1:DMND_DATA_RD:LLC_MISS_LOCAL:SNP_MISS:SNP_NO_FWD",
	 0x1bb, 0x600400001, 0},

	{"Ivy Bridge-EP", STALL, "ivb_ep::CYCLE_ACTIVITY:STALLS_L2_PENDING", 0x50005a3, 0, 0},
	{"Ivy Bridge-EP", LLC_HIT, "ivb_ep::MEM_LOAD_UOPS_LLC_HIT_RETIRED:XSNP_NONE", 0x8d2, 0, 0},
	{"Ivy Bridge-EP", MISS_LOCAL, NULL, 0x3d3, 0, 0},
	{"Ivy Bridge-EP", MISS_REMOTE,
	 "ivb_ep::MEM_LOAD_UOPS_LLC_MISS_RETIRED:REMOTE_DRAM", 0xcd3, 0, 0},
	{"Ivy Bridge-EP", ALL_MISSES,
	 "ivb_ep::OFFCORE_RESPONSE_0:DMND_DATA_RD:DMND_RFO:DMND_IFETCH:PF_DATA_RD:"
	 "PF_RFO:PF_IFETCH:PF_LLC_DATA_RD:PF_LLC_RFO:PF_LLC_IFETCH:LLC_MISS_LOCAL:"
	 "LLC_MISS_REMOTE:SNP_ANY", 0x1b7, 0x3fffc003f7, 0},
	{"Ivy Bridge-EP", STREAM,
	 "ivb_ep::OFFCORE_RESPONSE_0:STRM_ST:ANY_RESPONSE", 0x1b7, 0x10800, 0},
	{"Ivy Bridge-EP", LOADS,
	 "ivb_ep::MEM_TRANS_RETIRED:LATENCY_ABOVE_THRESHOLD:ldlat=64:precise=2", 0x1cd, 0x40, 2},
	{"Ivy Bridge-EP", STORES, "ivb_ep::MEM_TRANS_RETIRED:PRECISE_STORE:precise=2", 0x2cd, 0, 2},
	{"Ivy Bridge-EP", SMT_HIT,
	 "ivb_ep::OFFCORE_RESPONSE_0:DMND_DATA_RD:LLC_HITMESF:SNP_ANY", 0x1b7, 0x3f803c0001, 0},
	{"Ivy Bridge-EP", SMT_MISS,
	 "ivb_ep::OFFCORE_RESPONSE_1:DMND_DATA_RD:LLC_MISS_LOCAL:SNP_MISS:SNP_NO_FWD",
	 0x1bb, 0x600400001, 0},

	{"Haswell-EP", STALL, "hsw_ep::CYCLE_ACTIVITY:STALLS_L2_PENDING", 0x50005a3, 0, 0},
	{"Haswell-EP", LLC_HIT, "hsw_ep::MEM_LOAD_UOPS_L3_HIT_RETIRED:XSNP_NONE", 0x8d2, 0, 0},
	{"Haswell-EP", MISS_LOCAL, "hsw_ep::MEM_LOAD_UOPS_L3_MISS_RETIRED:LOCAL_DRAM", 0x1d3, 0, 0},
	{"Haswell-EP", MISS_REMOTE,
	 "hsw_ep::MEM_LOAD_UOPS_L3_MISS_RETIRED:REMOTE_DRAM", 0x4d3, 0, 0},
	{"Haswell-EP", ALL_MISSES,
	 "hsw_ep::OFFCORE_RESPONSE_0:DMND_DATA_RD:DMND_RFO:DMND_CODE_RD:PF_DATA_RD:"
	 "PF_RFO:PF_CODE_RD:PF_L3_DATA_RD:PF_L3_RFO:PF_L3_CODE_RD:L3_MISS:SNP_ANY",
	 0x1b7, 0x3fb84003f7, 0},
	{"Haswell-EP", STREAM,
	 "hsw_ep::OFFCORE_RESPONSE_0:STRM_ST:ANY_RESPONSE", 0x1b7, 0x10800, 0},
	{"Haswell-EP", LOADS, "hsw_ep::MEM_LOAD_UOPS_RETIRED:L3_MISS:precise=2", 0x20d1, 0, 2},
	{"Haswell-EP", STORES, "hsw_ep::MEM_UOPS_RETIRED:ALL_STORES:precise=2", 0x82d0, 0, 2},
	{"Haswell-EP", SMT_HIT,
	 "hsw_ep::OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_HIT:SNP_ANY", 0x1b7, 0x3f803c0001, 0},
	{"Haswell-EP", SMT_MISS,
	 "hsw_ep::OFFCORE_RESPONSE_1:DMND_DATA_RD:L3_MISS_LOCAL:SNP_MISS:SNP_NO_FWD",
	 0x1bb, 0x600400001, 0},

	{"Broadwell-EP", STALL, "bdw_ep::CYCLE_ACTIVITY:STALLS_L2_PENDING", 0x50005a3, 0, 0},
	{"Broadwell-EP", LLC_HIT, "bdw_ep::MEM_LOAD_UOPS_L3_HIT_RETIRED:XSNP_NONE", 0x8d2, 0, 0},
	{"Broadwell-EP", MISS_LOCAL,
	 "bdw_ep::MEM_LOAD_UOPS_L3_MISS_RETIRED:LOCAL_DRAM", 0x1d3, 0, 0},
	{"Broadwell-EP", MISS_REMOTE,
	 "bdw_ep::MEM_LOAD_UOPS_L3_MISS_RETIRED:REMOTE_DRAM", 0x4d3, 0, 0},
	{"Broadwell-EP", ALL_MISSES,
	 "bdw_ep::OFFCORE_RESPONSE_0:DMND_DATA_RD:DMND_RFO:DMND_CODE_RD:PF_DATA_RD:"
	 "PF_RFO:PF_IFETCH:PF_LLC_DATA_RD:PF_LLC_RFO:PF_LLC_IFETCH:L3_MISS:SNP_ANY",
	 0x1b7, 0x3fbc0003f7, 0},
	{"Broadwell-EP", LOADS, "bdw_ep::MEM_LOAD_UOPS_RETIRED:L3_MISS:precise=2", 0x20d1, 0, 2},

	{"Skylake-SP", STALL, "skx::CYCLE_ACTIVITY:STALLS_L3_MISS", 0x60006a3, 0, 0},
	{"Skylake-SP", LLC_HIT, "skx::MEM_LOAD_RETIRED:L3_HIT", 0x4d1, 0, 0},
	{"Skylake-SP", MISS_LOCAL, "skx::MEM_LOAD_L3_MISS_RETIRED:LOCAL_DRAM", 0x1d3, 0, 0},
	{"Skylake-SP", MISS_REMOTE, "skx::MEM_LOAD_L3_MISS_RETIRED:REMOTE_DRAM", 0x2d3, 0, 0},
	{"Skylake-SP", ALL_MISSES, NULL, 0x1b7, 0x3fbc0007f7, 0},
	{"Skylake-SP", LOADS, "skx::MEM_LOAD_RETIRED:L3_MISS:precise=2", 0x20d1, 0, 2},
	{"Skylake-SP", STORES, "skx::MEM_INST_RETIRED:ALL_STORES:precise=2", 0x82d0, 0, 2},

	{"Cascade Lake, Cooper Lake", STALL, "clx::CYCLE_ACTIVITY:STALLS_L3_MISS", 0x60006a3, 0, 0},
	{"Cascade Lake, Cooper Lake", LLC_HIT, "clx::MEM_LOAD_RETIRED:L3_HIT", 0x4d1, 0, 0},
	{"Cascade Lake, Cooper Lake", MISS_LOCAL,
	 "clx::MEM_LOAD_L3_MISS_RETIRED:LOCAL_DRAM", 0x1d3, 0, 0},
	{"Cascade Lake, Cooper Lake", MISS_REMOTE,
	 "clx::MEM_LOAD_L3_MISS_RETIRED:REMOTE_DRAM", 0x2d3, 0, 0},
	{"Cascade Lake, Cooper Lake", ALL_MISSES, NULL, 0x1b7, 0x3fbc0007f7, 0},
	{"Cascade Lake, Cooper Lake", LOADS,
	 "clx::MEM_LOAD_RETIRED:L3_MISS:precise=2", 0x20d1, 0, 2},
	{"Cascade Lake, Cooper Lake", STORES,
	 "clx::MEM_INST_RETIRED:ALL_STORES:precise=2", 0x82d0, 0, 2},

	{"Ice Lake-SP", STALL, "icx::CYCLE_ACTIVITY:STALLS_L3_MISS", 0x60006a3, 0, 0},
	{"Ice Lake-SP", LLC_HIT, "icx::MEM_LOAD_RETIRED:L3_HIT", 0x4d1, 0, 0},
	{"Ice Lake-SP", MISS_LOCAL, "icx::MEM_LOAD_L3_MISS_RETIRED:LOCAL_DRAM", 0x1d3, 0, 0},
	{"Ice Lake-SP", MISS_REMOTE, "icx::MEM_LOAD_L3_MISS_RETIRED:REMOTE_DRAM", 0x2d3, 0, 0},
	{"Ice Lake-SP", ALL_MISSES,
	 "icx::OFFCORE_RESPONSE_0:READS_TO_CORE_L3_MISS", 0x1b7, 0x3f3fc00477, 0},
	{"Ice Lake-SP", ALL_MISSES_L3,
	 "icx::OFFCORE_RESPONSE_1:HWPF_L3_L3_MISS", 0x1bb, 0x94002380, 0},
	{"Ice Lake-SP", STREAM,
	 "icx::OFFCORE_RESPONSE_0:STREAMING_WR_L3_MISS", 0x1b7, 0x94000800, 0},
	{"Ice Lake-SP", WRITES,
	 "icx::OFFCORE_RESPONSE_0:WRITE_ESTIMATE_MEMORY", 0x1b7, 0xfbff80822, 0},
	{"Ice Lake-SP", LOADS, "icx::MEM_LOAD_RETIRED:L3_MISS:precise=2", 0x20d1, 0, 2},
	{"Ice Lake-SP", STORES, "icx::MEM_INST_RETIRED:ALL_STORES:precise=2", 0x82d0, 0, 2},

	{"Sapphire Rapids", STALL, "spr::MEMORY_ACTIVITY:STALLS_L3_MISS", 0x9000947, 0, 0},
	{"Sapphire Rapids", LLC_HIT, "spr::MEM_LOAD_RETIRED:L3_HIT", 0x4d1, 0, 0},
	{"Sapphire Rapids", MISS_LOCAL, "spr::MEM_LOAD_L3_MISS_RETIRED:LOCAL_DRAM", 0x1d3, 0, 0},
	{"Sapphire Rapids", MISS_REMOTE, "spr::MEM_LOAD_L3_MISS_RETIRED:REMOTE_DRAM", 0x2d3, 0, 0},
	{"Sapphire Rapids", ALL_MISSES, "spr::OCR:READS_TO_CORE_L3_MISS", 0x12a, 0x3f3fc04477, 0},
	{"Sapphire Rapids", ALL_MISSES_L3, "spr::OCR:HWPF_L3_L3_MISS", 0x12a, 0x94002380, 0},
	{"Sapphire Rapids", STREAM, "spr::OCR:STREAMING_WR_L3_MISS", 0x12a, 0x94000800, 0},
	{"Sapphire Rapids", WRITES, "spr::OCR:WRITE_ESTIMATE_MEMORY", 0x12a, 0xfbff80822, 0},
	{"Sapphire Rapids", LOADS, "spr::MEM_LOAD_RETIRED:L3_MISS:precise=2", 0x20d1, 0, 2},
	{"Sapphire Rapids", STORES, "spr::MEM_INST_RETIRED:ALL_STORES:precise=2", 0x82d0, 0, 2},

	{"Emerald Rapids", STALL, NULL, 0x9000947, 0, 0},
	{"Emerald Rapids", LLC_HIT, NULL, 0x4d1, 0, 0},
	{"Emerald Rapids", MISS_LOCAL, NULL, 0x1d3, 0, 0},
	{"Emerald Rapids", ALL_MISSES, NULL, 0x12a, 0x3f3fc04477, 0},
	{"Emerald Rapids", ALL_MISSES_L3, NULL, 0x12a, 0x94002380, 0},
	{"Emerald Rapids", LOADS, NULL, 0x20d1, 0, 2},

	{"Granite Rapids", STALL, NULL, 0x9000947, 0, 0},
	{"Granite Rapids", LLC_HIT, NULL, 0x4d1, 0, 0},
	{"Granite Rapids", MISS_LOCAL, NULL, 0x1d3, 0, 0},
	{"Granite Rapids", ALL_MISSES, NULL, 0x12a, 0x3f3fc04477, 0},
	{"Granite Rapids", LOADS, NULL, 0x20d1, 0, 2},

	{"Sandy Bridge", STALL, "snb::CYCLE_ACTIVITY:STALLS_L2_PENDING", 0x50005a3, 0, 0},
	{"Sandy Bridge", LLC_HIT, "snb::MEM_LOAD_UOPS_RETIRED:L3_HIT", 0x4d1, 0, 0},
	{"Sandy Bridge", MISS_LOCAL, "snb::MEM_LOAD_UOPS_MISC_RETIRED:LLC_MISS", 0x2d4, 0, 0},

	{"Ivy Bridge", STALL, "ivb::CYCLE_ACTIVITY:STALLS_L2_PENDING", 0x50005a3, 0, 0},
	{"Ivy Bridge", LLC_HIT, "ivb::MEM_LOAD_UOPS_RETIRED:L3_HIT", 0x4d1, 0, 0},
	{"Ivy Bridge", MISS_LOCAL, "ivb::MEM_LOAD_UOPS_RETIRED:L3_MISS", 0x20d1, 0, 0},

	{"Haswell", STALL, "hsw::CYCLE_ACTIVITY:STALLS_L2_PENDING", 0x50005a3, 0, 0},
	{"Haswell", LLC_HIT, "hsw::MEM_LOAD_UOPS_RETIRED:L3_HIT", 0x4d1, 0, 0},
	{"Haswell", MISS_LOCAL, "hsw::MEM_LOAD_UOPS_RETIRED:L3_MISS", 0x20d1, 0, 0},

	{"Broadwell", STALL, "bdw::CYCLE_ACTIVITY:STALLS_L2_PENDING", 0x50005a3, 0, 0},
	{"Broadwell", LLC_HIT, "bdw::MEM_LOAD_UOPS_RETIRED:L3_HIT", 0x4d1, 0, 0},
	{"Broadwell", MISS_LOCAL, "bdw::MEM_LOAD_UOPS_RETIRED:L3_MISS", 0x20d1, 0, 0},

	{"Skylake, Kaby Lake, Coffee Lake, Comet Lake", STALL,
	 "skl::CYCLE_ACTIVITY:STALLS_L3_MISS", 0x60006a3, 0, 0},
	{"Skylake, Kaby Lake, Coffee Lake, Comet Lake", LLC_HIT,
	 "skl::MEM_LOAD_RETIRED:L3_HIT", 0x4d1, 0, 0},
	{"Skylake, Kaby Lake, Coffee Lake, Comet Lake", MISS_LOCAL,
	 "skl::MEM_LOAD_RETIRED:L3_MISS", 0x20d1, 0, 0},
	{"Skylake, Kaby Lake, Coffee Lake, Comet Lake", LOADS,
	 "skl::MEM_LOAD_RETIRED:L3_MISS:precise=2", 0x20d1, 0, 2},

	{"Ice Lake, Tiger Lake, Rocket Lake", STALL,
	 "icl::CYCLE_ACTIVITY:STALLS_L3_MISS", 0x60006a3, 0, 0},
	{"Ice Lake, Tiger Lake, Rocket Lake", LLC_HIT, "icl::MEM_LOAD_RETIRED:L3_HIT", 0x4d1, 0, 0},
	{"Ice Lake, Tiger Lake, Rocket Lake", MISS_LOCAL,
	 "icl::MEM_LOAD_RETIRED:L3_MISS", 0x20d1, 0, 0},
	{"Ice Lake, Tiger Lake, Rocket Lake", LOADS,
	 "icl::MEM_LOAD_RETIRED:L3_MISS:precise=2", 0x20d1, 0, 2},

	{"Alder Lake, Raptor Lake: P-core", STALL, NULL, 0x9000947, 0, 0},
	{"Alder Lake, Raptor Lake: P-core", LLC_HIT, NULL, 0x4d1, 0, 0},
	{"Alder Lake, Raptor Lake: P-core", MISS_LOCAL, NULL, 0x20d1, 0, 0},
	{"Alder Lake, Raptor Lake: P-core", LOADS, NULL, 0x20d1, 0, 2},
	{"Alder Lake, Raptor Lake: P-core", STORES, NULL, 0x2cd, 0, 2},

	{"Alder Lake, Raptor Lake: E-core", STALL, NULL, 0x434, 0, 0},
	{"Alder Lake, Raptor Lake: E-core", LLC_HIT, NULL, 0x4d1, 0, 0},
	{"Alder Lake, Raptor Lake: E-core", MISS_LOCAL, NULL, 0x80d1, 0, 0},
	{"Alder Lake, Raptor Lake: E-core", LOADS, NULL, 0x5d0, 0x40, 2},
	{"Alder Lake, Raptor Lake: E-core", STORES, NULL, 0x6d0, 0, 2},

	{"Alder Lake-N", STALL, NULL, 0x434, 0, 0},
	{"Alder Lake-N", LLC_HIT, NULL, 0x4d1, 0, 0},
	{"Alder Lake-N", MISS_LOCAL, NULL, 0x80d1, 0, 0},
	{"Alder Lake-N", LOADS, NULL, 0x5d0, 0x40, 2},
	{"Alder Lake-N", STORES, NULL, 0x6d0, 0, 2},

	{"Meteor Lake, Arrow Lake-U: P-core", STALL, NULL, 0x9000947, 0, 0},
	{"Meteor Lake, Arrow Lake-U: P-core", LLC_HIT, NULL, 0x4d1, 0, 0},
	{"Meteor Lake, Arrow Lake-U: P-core", MISS_LOCAL, NULL, 0x20d1, 0, 0},
	{"Meteor Lake, Arrow Lake-U: P-core", LOADS, NULL, 0x20d1, 0, 2},

	{"Meteor Lake, Arrow Lake-U: E-core", STALL, NULL, 0x7834, 0, 0},
	{"Meteor Lake, Arrow Lake-U: E-core", LLC_HIT, NULL, 0x1cd1, 0, 0},
	{"Meteor Lake, Arrow Lake-U: E-core", MISS_LOCAL, NULL, 0x2d4, 0, 0},

	{"Lunar Lake, Arrow Lake: P-core", STALL, NULL, 0x846, 0, 0},
	{"Lunar Lake, Arrow Lake: P-core", LLC_HIT, NULL, 0x4d1, 0, 0},
	{"Lunar Lake, Arrow Lake: P-core", MISS_LOCAL, NULL, 0x20d1, 0, 0},
	{"Lunar Lake, Arrow Lake: P-core", LOADS, NULL, 0x20d1, 0, 2},

	{"Lunar Lake, Arrow Lake: E-core", STALL, NULL, 0x7834, 0, 0},

	{"Zen 1", LOADS, NULL, 0x80000, 0, 0},
	{"Zen 1", STORES, NULL, 0x80000, 0, 0},

	{"Zen 2", L2_HIT,
	 "amd64_fam17h_zen2::DATA_CACHE_REFILLS_FROM_SYSTEM:MABRESP_LCL_L2", 0x143, 0, 0},
	{"Zen 2", LLC_HIT,
	 "amd64_fam17h_zen2::DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_CACHE", 0x243, 0, 0},
	{"Zen 2", MISS_LOCAL,
	 "amd64_fam17h_zen2::DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM", 0x843, 0, 0},
	{"Zen 2", MISS_REMOTE,
	 "amd64_fam17h_zen2::DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_RMT_DRAM", 0x4043, 0, 0},
	{"Zen 2", LOADS, NULL, 0x80000, 0, 0},
	{"Zen 2", STORES, NULL, 0x80000, 0, 0},

	{"Zen 3", L2_HIT,
	 "amd64_fam19h_zen3::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2", 0x143, 0, 0},
	{"Zen 3", LLC_HIT,
	 "amd64_fam19h_zen3::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:INT_CACHE", 0x243, 0, 0},
	{"Zen 3", MISS_LOCAL,
	 "amd64_fam19h_zen3::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL", 0x843, 0, 0},
	{"Zen 3", MISS_REMOTE,
	 "amd64_fam19h_zen3::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_RMT", 0x4043, 0, 0},
	{"Zen 3", IN_FLIGHT, NULL, 0x5f, 0, 0},
	{"Zen 3", MISS_CYCLES, NULL, 0x100005f, 0, 0},
	{"Zen 3", LOADS, NULL, 0x80000, 0, 0},
	{"Zen 3", STORES, NULL, 0x80000, 0, 0},

	{"Zen 4", STALL,
	 "amd64_fam19h_zen4::CYCLES_NO_RETIRE:NOT_COMPLETE_MISSING_LOAD", 0xa2d6, 0, 0},
	{"Zen 4", L2_HIT,
	 "amd64_fam19h_zen4::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2", 0x143, 0, 0},
	{"Zen 4", LLC_HIT,
	 "amd64_fam19h_zen4::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LOCAL_CCX", 0x243, 0, 0},
	{"Zen 4", MISS_LOCAL,
	 "amd64_fam19h_zen4::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR", 0x843, 0, 0},
	{"Zen 4", MISS_REMOTE,
	 "amd64_fam19h_zen4::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_FAR", 0x4043, 0, 0},
	{"Zen 4", ALL_MISSES, NULL, 0x4844, 0, 0},
	{"Zen 4", LOADS, NULL, 0x90000, 0, 0},
	{"Zen 4", STORES, NULL, 0x90000, 0, 0},

	{"Zen 5", STALL, NULL, 0xa2d6, 0, 0},
	{"Zen 5", L2_HIT, NULL, 0x143, 0, 0},
	{"Zen 5", LLC_HIT, NULL, 0x243, 0, 0},
	{"Zen 5", MISS_LOCAL, NULL, 0x843, 0, 0},
	{"Zen 5", MISS_REMOTE, NULL, 0x4043, 0, 0},
	{"Zen 5", ALL_MISSES, NULL, 0x4844, 0, 0},
	{"Zen 5", LOADS, NULL, 0x90000, 0, 0},
	{"Zen 5", STORES, NULL, 0x90000, 0, 0},

	{"Neoverse N1", STALL, "arm_n1::STALL_BACKEND", 0x24, 0, 0},
	{"Neoverse N1", MISS_LOCAL, "arm_n1::LL_CACHE_MISS_RD", 0x37, 0, 0},
	{"Neoverse N1", LL_READ, "arm_n1::LL_CACHE_RD", 0x36, 0, 0},
	{"Neoverse N1", ALL_MISSES, "arm_n1::LL_CACHE_MISS_RD", 0x37, 0, 0},
	{"Neoverse N1", LOADS, NULL, 0x200010000, 0, 0},
	{"Neoverse N1", STORES, NULL, 0x400010000, 0, 0},

	{"Neoverse V1", STALL, "arm_v1::STALL_BACKEND_MEM", 0x4005, 0, 0},
	{"Neoverse V1", MISS_LOCAL, "arm_v1::LL_CACHE_MISS_RD", 0x37, 0, 0},
	{"Neoverse V1", LL_READ, "arm_v1::LL_CACHE_RD", 0x36, 0, 0},
	{"Neoverse V1", ALL_MISSES, "arm_v1::LL_CACHE_MISS_RD", 0x37, 0, 0},
	{"Neoverse V1", LOADS, NULL, 0x200010000, 0, 0},
	{"Neoverse V1", STORES, NULL, 0x400010000, 0, 0},

	{"Neoverse N2", STALL, "arm_n2::STALL_BACKEND_MEM", 0x4005, 0, 0},
	{"Neoverse N2", MISS_LOCAL, "arm_n2::LL_CACHE_MISS_RD", 0x37, 0, 0},
	{"Neoverse N2", LL_READ, "arm_n2::LL_CACHE_RD", 0x36, 0, 0},
	{"Neoverse N2", ALL_MISSES, "arm_n2::LL_CACHE_MISS_RD", 0x37, 0, 0},
	{"Neoverse N2", LOADS, NULL, 0x200010000, 0, 0},
	{"Neoverse N2", STORES, NULL, 0x400010000, 0, 0},

	{"Neoverse V2", STALL, "arm_v2::STALL_BACKEND_MEM", 0x4005, 0, 0},
	{"Neoverse V2", MISS_LOCAL, "arm_v2::LL_CACHE_MISS_RD", 0x37, 0, 0},
	{"Neoverse V2", LL_READ, "arm_v2::LL_CACHE_RD", 0x36, 0, 0},
	{"Neoverse V2", ALL_MISSES, "arm_v2::LL_CACHE_MISS_RD", 0x37, 0, 0},
	{"Neoverse V2", LOADS, NULL, 0x200010000, 0, 0},
	{"Neoverse V2", STORES, NULL, 0x400010000, 0, 0},
};

/*
 * The same for the PMUs outside of the cores, as the rows' terms are to be placed by the kernel's
 * formats; config1 in the second word.
 */
static const struct uncore_vector {
	const char *row, *pmu;
	uint64_t written[2][2], all[2][2]; /* one event or two; no event: zeros */
	const char *written_pfm, *all_pfm; /* PMU::event */
} uncore_vectors[] = {
	{"Sandy Bridge-EP", "uncore_cbox", {{0x137}}, {{0}},
	 "snbep_unc_cbo0::UNC_C_LLC_VICTIMS:M_STATE", NULL},
	{"Sandy Bridge-EP", "uncore_imc", {{0xc04}}, {{0x304}},
	 "snbep_unc_imc0::UNC_M_CAS_COUNT:WR", "snbep_unc_imc0::UNC_M_CAS_COUNT:RD"},
	{"Ivy Bridge-EP", "uncore_cbox", {{0x137}}, {{0}},
	 "ivbep_unc_cbo0::UNC_C_LLC_VICTIMS:STATE_M", NULL},
	{"Ivy Bridge-EP", "uncore_imc", {{0xc04}}, {{0x304}},
	 "ivbep_unc_imc0::UNC_M_CAS_COUNT:WR", "ivbep_unc_imc0::UNC_M_CAS_COUNT:RD"},
	{"Haswell-EP", "uncore_cbox", {{0x137}}, {{0x2a35}},
	 "hswep_unc_cbo0::UNC_C_LLC_VICTIMS:STATE_M",
	 "hswep_unc_cbo0::UNC_C_TOR_INSERTS:MISS_LOCAL"},
	{"Haswell-EP", "uncore_imc", {{0xc04}}, {{0x304}},
	 "hswep_unc_imc0::UNC_M_CAS_COUNT:WR", "hswep_unc_imc0::UNC_M_CAS_COUNT:RD"},
	{"Broadwell-EP", "uncore_cbox", {{0x137}}, {{0}},
	 "bdx_unc_cbo0::UNC_C_LLC_VICTIMS:M_STATE", NULL},
	{"Broadwell-EP", "uncore_imc", {{0xc04}}, {{0x304}},
	 "bdx_unc_imc0::UNC_M_CAS_COUNT:WR", "bdx_unc_imc0::UNC_M_CAS_COUNT:RD"},
	{"Skylake-SP", "uncore_imc", {{0xc04}}, {{0x304}},
	 "skx_unc_imc0::UNC_M_CAS_COUNT:WR", "skx_unc_imc0::UNC_M_CAS_COUNT:RD"},
	{"Skylake-SP", "uncore_cha", {{0x15b}}, {{0x2135, 0x300000000}},
	 "skx_unc_cha0::UNC_C_IMC_WRITES_COUNT:FULL",
	 "skx_unc_cha0::UNC_C_TOR_INSERTS:IA_MISS:loc=1:rem=1"},
	{"Cascade Lake, Cooper Lake", "uncore_imc", {{0xc04}}, {{0x304}},
	 "skx_unc_imc0::UNC_M_CAS_COUNT:WR", "skx_unc_imc0::UNC_M_CAS_COUNT:RD"},
	{"Cascade Lake, Cooper Lake", "uncore_cha", {{0x15b}}, {{0x2135, 0x300000000}},
	 "skx_unc_cha0::UNC_C_IMC_WRITES_COUNT:FULL",
	 "skx_unc_cha0::UNC_C_TOR_INSERTS:IA_MISS:loc=1:rem=1"},
	{"Ice Lake-SP", "uncore_imc", {{0x3004}}, {{0xf04}}, NULL, NULL},
	{"Ice Lake-SP", "uncore_cha", {{0x15b}}, {{0xc001fe00000135}}, NULL, NULL},
	{"Sapphire Rapids", "uncore_imc", {{0xf005}}, {{0xcf05}}, NULL, NULL},
	{"Sapphire Rapids", "uncore_cha", {{0x15b}}, {{0xc001fe00000135}}, NULL, NULL},
	{"Emerald Rapids", "uncore_imc", {{0xf005}}, {{0xcf05}}, NULL, NULL},
	{"Granite Rapids", "uncore_imc", {{0xf005}, {0xf006}}, {{0xcf05}, {0xcf06}}, NULL, NULL},
	{"Sandy Bridge", "uncore_imc", {{2}}, {{1}}, NULL, NULL},
	{"Ivy Bridge", "uncore_imc", {{2}}, {{1}}, NULL, NULL},
	{"Haswell", "uncore_imc", {{2}}, {{1}}, NULL, NULL},
	{"Broadwell", "uncore_imc", {{2}}, {{1}}, NULL, NULL},
	{"Skylake, Kaby Lake, Coffee Lake, Comet Lake", "uncore_imc", {{2}}, {{1}}, NULL, NULL},
	{"Ice Lake, Tiger Lake, Rocket Lake", "uncore_imc_free_running", {{0x30ff}}, {{0x20ff}},
	 NULL, NULL},
	{"Ice Lake, Tiger Lake, Rocket Lake", "uncore_imc", {{2}}, {{1}}, NULL, NULL},
	{"Alder Lake, Raptor Lake: P-core", "uncore_imc_free_running", {{0x30ff}}, {{0x20ff}},
	 NULL, NULL},
	{"Alder Lake, Raptor Lake: P-core", "uncore_imc", {{0x23}}, {{0x22}}, NULL, NULL},
	{"Alder Lake, Raptor Lake: E-core", "uncore_imc_free_running", {{0x30ff}}, {{0x20ff}},
	 NULL, NULL},
	{"Alder Lake, Raptor Lake: E-core", "uncore_imc", {{0x23}}, {{0x22}}, NULL, NULL},
	{"Alder Lake-N", "uncore_imc_free_running", {{0x30ff}}, {{0x20ff}}, NULL, NULL},
	{"Alder Lake-N", "uncore_imc", {{0x23}}, {{0x22}}, NULL, NULL},
	{"Meteor Lake, Arrow Lake-U: P-core", "uncore_imc_free_running", {{0x30ff}}, {{0x20ff}},
	 NULL, NULL},
	{"Meteor Lake, Arrow Lake-U: P-core", "uncore_imc", {{0x23}}, {{0x22}}, NULL, NULL},
	{"Meteor Lake, Arrow Lake-U: E-core", "uncore_imc_free_running", {{0x30ff}}, {{0x20ff}},
	 NULL, NULL},
	{"Meteor Lake, Arrow Lake-U: E-core", "uncore_imc", {{0x23}}, {{0x22}}, NULL, NULL},
	{"Lunar Lake, Arrow Lake: P-core", "uncore_imc", {{0x23}}, {{0x22}}, NULL, NULL},
	{"Lunar Lake, Arrow Lake: E-core", "uncore_imc", {{0x23}}, {{0x22}}, NULL, NULL},
	{"Zen 4", "amd_umc", {{0x20a}}, {{0x10a}}, NULL, NULL},
	{"Zen 5", "amd_umc", {{0x20a}}, {{0x10a}}, NULL, NULL},
	{"Neoverse N1", "arm_cmn", {{0xa0005}}, {{0x10005}}, NULL, NULL},
	{"Neoverse N1", "arm_dsu", {{0x2c}}, {{0x2a}}, NULL, NULL},
	{"Neoverse V1", "arm_cmn", {{0xa0005}}, {{0x10005}}, NULL, NULL},
	{"Neoverse V1", "arm_dsu", {{0x2c}}, {{0x2a}}, NULL, NULL},
	{"Neoverse N2", "arm_cmn", {{0xa0005}}, {{0x10005}}, NULL, NULL},
	{"Neoverse N2", "arm_dsu", {{0x2c}}, {{0x2a}}, NULL, NULL},
	{"Neoverse V2", "nvidia_scf_pmu", {{0xf3}}, {{0xf1}}, NULL, NULL},
	{"Neoverse V2", "arm_cmn", {{0xa0005}}, {{0x10005}}, NULL, NULL},
	{"Neoverse V2", "arm_dsu", {{0x2c}}, {{0x2a}}, NULL, NULL},
};
/* clang-format on */

#endif
