/* Gathers what nve_assess wants to know of this machine, by trying. Leaves nothing behind but a
 * calibration where none was kept. */
#ifndef CLI_FACTS_H
#define CLI_FACTS_H

#include "base/options.h"
#include "count/assess.h"
#include "count/pmu/trial.h"

struct cli_facts {
	struct nve_facts machine;
	struct nve_pmu_trial trials[NVE_PMU_TRIALS]; /* of this CPU's events */
	size_t trial_count;
	const char *formula; /* from counts to stall time, for people; NULL: there are no rows */
};

/*
 * Tries timers, threads, events; reads /proc and sysfs; measures the machine's memory where no
 * calibration is kept (0.1 s and more), and the rates of its counters. What does not work is a
 * fact, not a failure.
 */
void cli_facts_gather(const struct nve_options *options, struct cli_facts *facts);

#endif
