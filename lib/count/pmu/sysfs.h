/*
 * The kernel's PMUs, as sysfs lists them. root is "/sys/bus/event_source/devices", or a test's
 * stand-in. No malloc, no stdio; all return 0 or -errno unless said otherwise.
 */
#ifndef NVE_COUNT_PMU_SYSFS_H
#define NVE_COUNT_PMU_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "count/pmu/encode.h"

#define NVE_PMU_SYSFS_ROOT "/sys/bus/event_source/devices"

enum { NVE_PMU_NAME_BYTES = 64 };

struct nve_pmu_names {
	size_t count, more; /* more: there was no room for */
	char names[128][NVE_PMU_NAME_BYTES];
};

/* All PMUs; or with prefix, those of that very name or with "_N" behind it, N decimal. Sorted. */
int nve_pmu_sysfs_list(const char *root, const char *prefix, struct nve_pmu_names *names);

/* For perf_event_attr.type. -ENOENT: there is no such PMU. */
int nve_pmu_sysfs_type(const char *root, const char *pmu, uint32_t *type);

/* The CPUs to open a box's events on: bit i of mask for CPU i; of files cpumask or cpus. */
int nve_pmu_sysfs_cpus(const char *root, const char *pmu, uint64_t *mask, size_t words);

/* One event by terms ("event=0x4,umask=0xc"), placed by the PMU's format/ files; with type. */
int nve_pmu_sysfs_encode(const char *root, const char *pmu, const char *terms,
			 struct nve_pmu_code *code);

/* The same, by the name of a published event. -ENOENT: it is not published. */
int nve_pmu_sysfs_published(const char *root, const char *pmu, const char *event,
			    struct nve_pmu_code *code);

/* Is root there at all, and is one of its entries so named? */
bool nve_pmu_sysfs_has(const char *root, const char *pmu);

#endif
