/*
 * CPU families as rows of data: how to recognise one, which event counts what the model needs, and
 * which formula turns the counts into stall time. A new CPU is a row here and a vector in
 * test/unit/pmu_rows.c.
 *
 * Encodings stand in the rows as numbers, so that nothing but the kernel is needed to open them.
 * The libpfm4 strings beside them are what the unit test proves the numbers with.
 */
#ifndef NVE_COUNT_PMU_ROWS_H
#define NVE_COUNT_PMU_ROWS_H

#include <stddef.h>
#include <stdint.h>

enum nve_cpu_vendor { NVE_CPU_OTHER, NVE_CPU_INTEL, NVE_CPU_AMD, NVE_CPU_ARM };

/* What a core event is for. Which of them a row must have is the formula's matter. */
enum nve_pmu_role {
	NVE_PMU_STALL,         /* cycles; of what, says the formula */
	NVE_PMU_L2_HIT,        /* demand loads that L2 served */
	NVE_PMU_LLC_HIT,       /* demand loads that the last-level cache served */
	NVE_PMU_MISS_LOCAL,    /* demand loads that memory served, that of the own node first */
	NVE_PMU_MISS_REMOTE,   /* demand loads that another node's memory served */
	NVE_PMU_LL_READ,       /* reads that reached the last-level cache, hits and misses */
	NVE_PMU_IN_FLIGHT,     /* sum over cycles of the misses of L1 in flight */
	NVE_PMU_MISS_CYCLES,   /* cycles with at least one of them */
	NVE_PMU_ALL_MISSES,    /* all misses of the last-level cache, prefetches too, of one CPU */
	NVE_PMU_ALL_MISSES_L3, /* to be added to it: prefetches into the last-level cache */
	NVE_PMU_STREAM,        /* streaming stores, which controllers count as writes too */
	NVE_PMU_WRITES,        /* this thread's stores that likely end in memory */
	NVE_PMU_LOADS,         /* sampled: loads that miss, with their address */
	NVE_PMU_STORES,        /* sampled: stores, with their address */
	NVE_PMU_ROLES
};

/*
 * How stall time (LLC_STALL) comes from the roles. W is DRAM latency over LLC latency; w1, w2, w3
 * are the latencies of L2, LLC and DRAM.
 */
enum nve_pmu_formula {
	/* equation 3: STALL * W*MISS / (LLC_HIT + W*MISS); STALL: an L2 miss is pending */
	NVE_PMU_FORMULA_L2_RATIO,
	/* STALL: a miss of the last-level cache is pending. Counts from when the miss is known:
	 * fewer cycles than the latency, by a factor that calibration must find */
	NVE_PMU_FORMULA_LLC_STALL,
	/* STALL: the core waits for memory; nothing to correct */
	NVE_PMU_FORMULA_MEMORY_STALL,
	/* STALL * w3*MISS / (w1*L2_HIT + w2*LLC_HIT + w3*MISS); STALL: a load is the oldest */
	NVE_PMU_FORMULA_LOAD_RATIO,
	/* MISS / (IN_FLIGHT / MISS_CYCLES) * w3: an upper bound, nothing hides behind computing */
	NVE_PMU_FORMULA_OVERLAP,
	/* equation 3 with MISS = MISS_LOCAL, hits = LL_READ - MISS; STALL: an L2 miss is pending */
	NVE_PMU_FORMULA_READ_RATIO,
	/* the same, STALL has all causes in the back end: an upper bound */
	NVE_PMU_FORMULA_BACKEND_RATIO,
	/* no event tells; stall time comes from elsewhere */
	NVE_PMU_FORMULA_NONE,
	NVE_PMU_FORMULAS
};

struct nve_pmu_event {
	const char *name; /* the vendor's; NULL: the row has no such event */
	const char *pfm;  /* libpfm4's, without its PMU; NULL: 4.13.0 has none, or a wrong one */
	uint64_t config, config1;
	unsigned precise_ip; /* of a sampled event */
	const char *source;  /* of the encoding, where pfm is NULL */
	/* the same as "field=value,...", to be placed by the PMU's format/ files; or NULL */
	const char *terms;
};

/* A family of PMUs outside of the cores, one box or many, to be summed: socket-wide counts. */
struct nve_pmu_uncore {
	const char *pmu; /* in sysfs: the name itself, or with "_N"; NULL ends a list */
	/* Comma-separated names under events/ that the kernel publishes; where all are there they
	 * are right on every machine, and come before the rows' own. NULL: never published. */
	const char *written_alias, *all_alias;
	/* Semicolon-separated events to be summed, each as in "event=0x4,umask=0xc", to be placed
	 * by the PMU's format/ files. NULL: only published ones. */
	const char *written, *all;
	const char *pfm_pmu, *written_pfm, *all_pfm; /* or NULL */
	const char *meaning; /* of written and all: lines evicted dirty, writes to memory, ... */
	const char *source;
};

enum nve_pmu_core { NVE_PMU_CORE_ONLY, NVE_PMU_CORE_PERFORMANCE, NVE_PMU_CORE_EFFICIENT };

/* How data addresses are sampled beyond the events of the roles LOADS and STORES. */
enum nve_pmu_sampler { NVE_PMU_SAMPLER_PEBS, NVE_PMU_SAMPLER_IBS, NVE_PMU_SAMPLER_SPE };

enum nve_pmu_quirk {
	/* With SMT on, the kernel halves the counters while an event of d0 to d3 is in use: the
	 * usual four open and never run. smt_roles are the way out. */
	NVE_PMU_QUIRK_SMT_HALVES = 1 << 0,
	/* LL_READ and MISS_LOCAL count only if firmware says so: check at calibration. */
	NVE_PMU_QUIRK_LL_BY_FIRMWARE = 1 << 1,
	/* Stall time by the formula is an upper bound or an approximation: say so. */
	NVE_PMU_QUIRK_APPROXIMATE = 1 << 2,
};

struct nve_pmu_range {
	uint16_t first, last; /* both included; 0 to 0 after the last of a list */
};

enum { NVE_PMU_RANGES = 8, NVE_PMU_UNCORES = 4 };

struct nve_pmu_row {
	const char *name; /* for people, unique */
	enum nve_cpu_vendor vendor;
	unsigned family;                             /* Arm: 0 */
	struct nve_pmu_range models[NVE_PMU_RANGES]; /* Arm: part numbers */
	uint8_t stepping_first, stepping_last;
	enum nve_pmu_core core;
	const char *tree_pmu; /* Arm: the name in sysfs of a PMU that a device tree tells of */
	const char *pfm_pmu;  /* libpfm4's PMU, whether it recognises this CPU or not; or NULL */
	enum nve_pmu_formula formula;
	unsigned counters; /* general ones, of a thread with SMT on */
	enum nve_pmu_sampler sampler;
	unsigned quirks; /* of enum nve_pmu_quirk */
	struct nve_pmu_event roles[NVE_PMU_ROLES];
	/* in place of LLC_HIT and MISS_LOCAL where NVE_PMU_QUIRK_SMT_HALVES bites; or without name
	 */
	struct nve_pmu_event smt_hit, smt_miss;
	struct nve_pmu_uncore uncore[NVE_PMU_UNCORES]; /* best first */
	const char *errata; /* what is known to be wrong; NULL: nothing is */
	const char *source; /* of the row */
};

extern const struct nve_pmu_row nve_pmu_rows_intel[], nve_pmu_rows_client[], nve_pmu_rows_amd[],
	nve_pmu_rows_arm[];
extern const size_t nve_pmu_rows_intel_count, nve_pmu_rows_client_count, nve_pmu_rows_amd_count,
	nve_pmu_rows_arm_count;

/* Row i of all; NULL past the end. */
const struct nve_pmu_row *nve_pmu_row(size_t i);

/* For messages. */
const char *nve_pmu_role_name(enum nve_pmu_role role);
const char *nve_pmu_formula_text(enum nve_pmu_formula formula);

#endif
