/*
 * From rows to what perf_event_open takes. Pure but for nve_pmu_pfm_encode, which calls libpfm4. No
 * malloc, no stdio of our own.
 */
#ifndef NVE_COUNT_PMU_ENCODE_H
#define NVE_COUNT_PMU_ENCODE_H

#include <linux/perf_event.h>
#include <stdint.h>

#include "count/pmu/rows.h"

/* type, config, config1 and config2 of a perf_event_attr, and precise_ip */
struct nve_pmu_code {
	uint32_t type;
	uint64_t config[3];
	unsigned precise_ip;
};

/* A row's event on the core PMU of this type (PERF_TYPE_RAW, or its type file's). */
struct nve_pmu_code nve_pmu_event_code(const struct nve_pmu_event *event, uint32_t type);

/*
 * An attr that counts user-space time of a thread, disabled, readable as a group with both times:
 * read_format GROUP | TOTAL_TIME_ENABLED | TOTAL_TIME_RUNNING.
 */
void nve_pmu_attr_thread(const struct nve_pmu_code *code, struct perf_event_attr *attr);

/* An attr that counts all that happens on a box: uncore PMUs allow no exclusion. Enabled. */
void nve_pmu_attr_uncore(const struct nve_pmu_code *code, struct perf_event_attr *attr);

/*
 * Places value into config as a format/ file of sysfs says: "config:0-7,32-35", "config1:3".
 * Returns 0, -EINVAL where the format is none, -ERANGE where the value does not fit.
 */
int nve_pmu_place(const char *format, uint64_t value, uint64_t config[3]);

/*
 * Encodes one event, "event=0x4,umask=0xc" or "inv" (which stands for inv=1), as published in
 * events/ or as a row has it. find_format gives the text of the format/ file of that name, or NULL:
 * -ENOENT. A term "config=..." needs no format. Returns 0 or -errno; config starts as zeros.
 */
int nve_pmu_encode_terms(const char *terms, const char *(*find_format)(void *ctx, const char *name),
			 void *ctx, uint64_t config[3]);

/*
 * An event that a user names: "TYPE/CONFIG[/CONFIG1]", numbers as in C. 0 or -EINVAL.
 */
int nve_pmu_parse_code(const char *text, struct nve_pmu_code *code);

/*
 * The two functions of libpfm4 that encoding takes. They are passed in, since not everybody who
 * runs this library shall pay for loading libpfm4 (41,000 relocations).
 */
struct nve_pfm {
	int (*initialize)(void);
	int (*get_os_event_encoding)(const char *str, int dfl_plm, unsigned os, void *args);
};

/*
 * Encodes a libpfm4 event string for user-space counting. Initialises libpfm4, which allocates,
 * reads LIBPFM_ variables, and may print where those ask for it. Returns 0; -ENOENT where libpfm4
 * knows no such PMU or event on this machine, -EINVAL where an attribute is wrong, -ENOTSUP
 * otherwise.
 */
int nve_pmu_pfm_encode(const struct nve_pfm *pfm, const char *text, struct nve_pmu_code *code);

#endif
