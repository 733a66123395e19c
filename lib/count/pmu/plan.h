/*
 * What is to be opened on this machine: groups of core events for each thread, by the rows of its
 * CPU or by the user's word (NVM_PMU_EVENTS), and socket-wide events for the dirty fraction.
 */
#ifndef NVE_COUNT_PMU_PLAN_H
#define NVE_COUNT_PMU_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "count/pmu/encode.h"
#include "count/pmu/formula.h"
#include "count/pmu/group.h"
#include "count/pmu/identify.h"
#include "count/pmu/rows.h"
#include "count/pmu/sampled.h"

enum { NVE_PMU_BOX_EVENTS = 256, NVE_PMU_EVENT_BYTES = 64 };

/* One group's events. */
struct nve_pmu_set {
	const char *pmu; /* its directory in sysfs, or NULL */
	enum nve_pmu_formula formula;
	unsigned count;
	enum nve_pmu_role role[NVE_PMU_GROUP_EVENTS];
	struct nve_pmu_code code[NVE_PMU_GROUP_EVENTS];
	/* the vendor's names, or the user's words */
	char event[NVE_PMU_GROUP_EVENTS][NVE_PMU_EVENT_BYTES];
};

/* A socket-wide event, opened on one CPU of each socket and summed. */
struct nve_pmu_box_event {
	struct nve_pmu_code code;
	int cpu;
	bool written; /* lines written back; else lines fetched */
};

struct nve_pmu_plan {
	char cpu[64];     /* the row's name, or "NVM_PMU_EVENTS" */
	bool given;       /* by the user: counts of STALL are nanoseconds */
	bool approximate; /* an upper bound or an approximation, the row says */
	unsigned sets;    /* 0: stall time comes from elsewhere; 2: a hybrid machine */
	struct nve_pmu_set set[NVE_PMU_KINDS];
	/* loads that miss, sampled; 0: no event is known for them that could be read */
	unsigned loads;
	struct nve_pmu_sampled load[NVE_PMU_KINDS];
	const char *load_pmu[NVE_PMU_KINDS]; /* or NULL */
	char load_event[NVE_PMU_KINDS][NVE_PMU_EVENT_BYTES];
	const char *box_pmu, *box_meaning; /* where the socket-wide events come from; or NULL */
	/* of the first box, lines written last: names that the kernel publishes, or terms */
	char box_event[2][2 * NVE_PMU_EVENT_BYTES];
	unsigned boxes; /* events; 0: none to be had */
	struct nve_pmu_box_event box[NVE_PMU_BOX_EVENTS];
};

/* The machine that a plan is made for. */
struct nve_pmu_machine {
	struct nve_cpu_id id;
	const char *sysfs; /* NVE_PMU_SYSFS_ROOT, or a test's */
	unsigned nodes;    /* with memory; misses in other nodes' are counted where there are any */
	bool smt;          /* two threads share a core */
};

/*
 * The plan of a machine's rows. Returns 0; -ENOENT where no row knows the CPU, or none of its
 * formulas has the events it needs; -ENODEV where the kernel has no PMU for it: then there are no
 * sets. The cpu is named in any case, and loads and boxes are what they are.
 */
int nve_pmu_plan_make(const struct nve_pmu_machine *machine, struct nve_pmu_plan *plan);

/*
 * The plan of a user: "ROLE=EVENT,...". Roles: stall, l2-hit, llc-hit, miss, written, all, loads;
 * events: TYPE/CONFIG[/CONFIG1], or one of libpfm4's where pfm is not NULL; that of loads may have
 * a period behind it, "@1000". written and all are opened on CPU 0. Without llc-hit and miss, stall
 * is taken as it is; with them by equation 3. Without any of these there are no sets. Returns 0, or
 * -EINVAL (or what libpfm4's encoding gave) with *bad where in text it went wrong.
 */
int nve_pmu_plan_parse(const char *text, const struct nve_pfm *pfm, struct nve_pmu_plan *plan,
		       const char **bad);

/* A number that differs where plans do, for figures that belong to a plan; never 0. */
uint64_t nve_pmu_plan_hash(const struct nve_pmu_plan *plan);

#endif
