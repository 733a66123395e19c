/*
 * Which CPU is this, and which rows are its own. The first two are pure; the last two read /proc
 * and sysfs. No malloc, no stdio.
 */
#ifndef NVE_COUNT_PMU_IDENTIFY_H
#define NVE_COUNT_PMU_IDENTIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "count/pmu/rows.h"

struct nve_cpu_id {
	enum nve_cpu_vendor vendor;
	unsigned family, model, stepping; /* Arm: 0, the part number, variant * 16 + revision */
	bool hypervisor;                  /* the CPU says that it is a virtual one */
	char name[64];                    /* for people; may be empty */
};

/* kinds of cores of one machine */
enum { NVE_PMU_KINDS = 2 };

struct nve_pmu_kind {
	const struct nve_pmu_row *row;
	const char *pmu; /* its name in sysfs (a constant); NULL: the kernel has none for it */
};

/*
 * Reads the first processor of a /proc/cpuinfo, of x86 or of Arm. Returns 0, or -EINVAL where it
 * does not tell a family and model, or an implementer and part: *id is then of vendor OTHER.
 */
int nve_cpu_parse(const char *cpuinfo, struct nve_cpu_id *id);

/*
 * The rows for a CPU: one; two on a hybrid machine, the performance cores first; none where it is
 * unknown. hybrid: whether the kernel has PMUs of its own for both kinds of cores; where it has
 * not, a hybrid CPU counts as one of performance cores (the others are off or absent).
 */
size_t nve_pmu_rows_find(const struct nve_cpu_id *id, bool hybrid,
			 const struct nve_pmu_row *rows[NVE_PMU_KINDS]);

/* nve_cpu_parse of this machine's. 0 or -errno. */
int nve_cpu_read(struct nve_cpu_id *id);

/*
 * This machine's kinds of cores, with their PMUs. root: "/sys/bus/event_source/devices". A kind
 * whose PMU the kernel does not have is listed with pmu NULL. Returns their number.
 */
size_t nve_pmu_kinds_find(const struct nve_cpu_id *id, const char *root,
			  struct nve_pmu_kind kinds[NVE_PMU_KINDS]);

#endif
