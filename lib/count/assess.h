/*
 * What a machine means for emulation: a pure assessment of facts that somebody else has gathered.
 * What is missing, what that costs, what mends it; and whether emulation is possible at all.
 */
#ifndef NVE_COUNT_ASSESS_H
#define NVE_COUNT_ASSESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "count/calibration.h"
#include "count/pmu/identify.h"
#include "count/source.h"

/* Worse is greater. */
enum nve_severity {
	NVE_SEVERITY_FINE,
	NVE_SEVERITY_NOTE,     /* a source of error, or nothing to be done about */
	NVE_SEVERITY_DEGRADED, /* emulation works, with a piece missing that could be there */
	NVE_SEVERITY_IMPOSSIBLE,
};

enum {
	NVE_FACT_BYTES = 128,
	NVE_FINDINGS = 24,
	NVE_FINDING_BYTES = 400,
	NVE_CHOICES = NVE_QUANTITIES + 2,
	NVE_PENDING_UNLIMITED = -1,
};

/* Errors are errno's own, positive; 0: it works. */
struct nve_facts {
	struct nve_cpu_id cpu;
	const char *rows[NVE_PMU_KINDS]; /* names of this CPU's; NULL: none */
	const char *errata;              /* of the first; or NULL */
	char kernel[NVE_FACT_BYTES];     /* release and machine */
	char container[NVE_FACT_BYTES];  /* what hints at one; empty: nothing */

	bool paranoid_known;
	int paranoid;                       /* kernel.perf_event_paranoid */
	int task_clock_error;               /* of the software event */
	char pmus[NVE_FINDING_BYTES];       /* names, for people */
	unsigned events_tried, events_open; /* of the CPU's rows */
	int events_error;                   /* the first refusal's */

	unsigned seccomp; /* mode of this process, 0: none */
	bool no_new_privileges;

	int timer_error;                     /* of a timer on the thread's CPU clock */
	uint64_t tick_ns;                    /* the kernel's; 0: not known */
	int64_t pending_limit, pending_used; /* signals, of the user; or NVE_PENDING_UNLIMITED */

	const char *no_look_ahead; /* why there is none on this processor; NULL: there is */
	int executable_error;      /* of executable memory */
	int resident_error;        /* of mincore */
	int ask_error;             /* of move_pages */
	int maps_error;            /* of /proc/self/maps */
	int monitor_error;         /* of a thread */
	int own_files_error;       /* of a file table of its own */

	unsigned cores_online, cores_allowed;
	uint64_t quota_milli;            /* cores of the control group, thousandths; 0: no limit */
	char huge_pages[NVE_FACT_BYTES]; /* the mode of transparent ones; empty: none */

	int calibration_error;
	bool calibration_fresh;             /* measured for these facts */
	int keep_error;                     /* of keeping it */
	char calibrated_at[NVE_FACT_BYTES]; /* date, for people */
	char kept_in[NVE_FINDING_BYTES];    /* path, for people */
	struct nve_calibration calibration;

	char governor[NVE_FACT_BYTES]; /* of the frequency; empty: not to be seen */
	bool smt_known, smt;

	char setting_problem[NVE_FINDING_BYTES]; /* a target below DRAM's own, ...; empty: none */

	/* As decided by those who emulate; and why hardware counters do not count, where they do
	 * not. */
	struct nve_sources sources;
	char counters_why[NVE_FINDING_BYTES];
	bool counters_demanded; /* NVM_COUNTERS=pmu */
	bool counts_stalls;     /* stall time comes from hardware counters */
	bool delays;            /* NVM_INJECT is not off */
	bool sleeps;            /* NVM_INJECT=sleep */
};

struct nve_finding {
	const char *subject;
	enum nve_severity severity;
	char text[NVE_FINDING_BYTES], mend[NVE_FINDING_BYTES]; /* mend: or empty */
};

/* What will be emulated how. */
struct nve_choice {
	const char *quantity;
	struct nve_source source;
};

struct nve_assessment {
	enum nve_severity severity; /* the worst finding's */
	size_t count;
	struct nve_finding findings[NVE_FINDINGS];
	struct nve_choice choices[NVE_CHOICES];
};

void nve_assess(const struct nve_facts *facts, struct nve_assessment *assessment);

/* "fine", "note", "degraded", "impossible" */
const char *nve_severity_name(enum nve_severity severity);

#endif
