/* The devices that are built in: figures as their sources have them. */
#include "base/preset.h"

#include "base/base.h"

#define TIME(ns, source)                                                                           \
	{                                                                                          \
		NVE_PRESET_TIME, (uint64_t)((ns)*1000.0 + 0.5), source                             \
	}
#define TIMES(n, source)                                                                           \
	{                                                                                          \
		NVE_PRESET_TIMES, (uint64_t)((n)*1000.0 + 0.5), source                             \
	}
#define MORE(ns, source)                                                                           \
	{                                                                                          \
		NVE_PRESET_MORE, (uint64_t)((ns)*1000.0 + 0.5), source                             \
	}
#define ARRAY(ns, source)                                                                          \
	{                                                                                          \
		NVE_PRESET_ARRAY, (uint64_t)((ns)*1000.0 + 0.5), source                            \
	}
#define BYTES(gb, source)                                                                          \
	{                                                                                          \
		NVE_PRESET_BYTES, (uint64_t)((gb)*1e9 + 0.5), source                               \
	}
#define SHARE(p, source)                                                                           \
	{                                                                                          \
		NVE_PRESET_SHARE, (uint64_t)((p)*10000.0 + 0.5), source                            \
	}

/* clang-format off */
#define HIROFUCHI "Hirofuchi and Takano 2019, arXiv:1907.12014"
#define IZRAELEVITZ "Izraelevitz et al. 2019, arXiv:1903.05714"
#define CHOI "Choi et al., ISSCC 2012, as in NVMain 2.0 (2015), PCM_ISSCC_2012_4GB"
#define ASIFUZZAMAN "Asifuzzaman et al., MEMSYS 2017, STT-MRAM-2.0x"
#define KAWAHARA "Kawahara et al., ISSCC 2012, as in NVMain 2.0 (2015), RRAM_ISSCC_2012_4GB"
#define WANG "Wang et al. 2024, arXiv:2411.02282"
#define MELODY "Liu et al., ASPLOS 2025, the slowest of 140 to 410 ns"
#define POND "Li et al. (Pond), ASPLOS 2023"
#define QUARTZ "Quartz (Volos et al., Middleware 2015), its README-BENCHMARKS-TESTING"
#define ZNAND "Samsung at ISSCC 2018, in AnandTech's review of the 983 ZET (2019)"

static const struct nve_preset rows[] = {
	{"optane", "Intel Optane DC PMM, App Direct, against the same machine's DRAM",
	 {TIMES(5.0, HIROFUCHI ": 400 % higher"), TIMES(5.07, HIROFUCHI ": 407 % higher"),
	  SHARE(37, HIROFUCHI), SHARE(8, HIROFUCHI)}, 0},
	{"optane-ucsd", "Intel Optane DC PMM, App Direct, six modules, random loads",
	 {TIME(305, IZRAELEVITZ), {NVE_PRESET_NONE, 0, NULL},
	  BYTES(39.4, IZRAELEVITZ), BYTES(13.9, IZRAELEVITZ)}, 0},
	{"pcm", "phase-change memory, 20 nm",
	 {ARRAY(120, CHOI ": tRCD"), ARRAY(150, CHOI ": tWP")}, 0},
	{"stt-mram", "spin-transfer torque memory, the slowest of three timings",
	 {ARRAY(17.5, ASIFUZZAMAN ": tRCD, 14 cycles of 800 MHz"),
	  ARRAY(60, ASIFUZZAMAN ": tWR, 48 cycles")}, 0},
	{"reram", "resistive memory, cross-point macro",
	 {ARRAY(25, KAWAHARA ": tRCD"), ARRAY(8.2, KAWAHARA ": write pulse")}, 0},
	{"numa", "memory of the other socket of a two-socket Xeon: 163.9 ns instead of 91.9",
	 {TIMES(1.783, QUARTZ), TIMES(1.783, QUARTZ)}, 0},
	{"cxl-near", "CXL memory pool of few sockets, no switch: 70 to 90 ns more than DRAM",
	 {MORE(70, POND), MORE(70, POND)}, 0},
	{"cxl", "CXL memory expander, ASIC",
	 {TIMES(2.18, WANG), TIMES(2.18, WANG),
	  SHARE(82, WANG ": 82 to 83 %"), SHARE(82, WANG ": 82 to 83 %")}, 0},
	{"cxl-fpga", "CXL memory expander, FPGA",
	 {TIMES(2.88, WANG), TIMES(2.88, WANG),
	  SHARE(45, WANG ": 45 to 69 %"), SHARE(45, WANG ": 45 to 69 %")}, 0},
	{"cxl-far", "the slowest of four CXL devices on sale",
	 {TIME(410, MELODY), TIME(410, MELODY)}, 0},
	{"z-nand", "low-latency flash as memory (HAMS, ISCA 2021), without the cache before it",
	 {ARRAY(3000, ZNAND ": tR"), ARRAY(100000, ZNAND ": tPROG")}, 0},
};
/* clang-format on */

const struct nve_preset *nve_preset_builtin(size_t i)
{
	return i < NVE_ARRAY_SIZE(rows) ? &rows[i] : NULL;
}
