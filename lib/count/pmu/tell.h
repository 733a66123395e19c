/* How a plan's events are read, in words for reports: which events of which PMU, by whom. Pure. */
#ifndef NVE_COUNT_PMU_TELL_H
#define NVE_COUNT_PMU_TELL_H

#include <stddef.h>

#include "count/pmu/plan.h"

/* Events stand as "what NAME TYPE/CONFIG[/CONFIG1]", the code as NVM_PMU_EVENTS takes it. What is
 * too long is cut. */
void nve_pmu_tell_stall(const struct nve_pmu_plan *plan, char *buf, size_t size);
void nve_pmu_tell_boxes(const struct nve_pmu_plan *plan, char *buf, size_t size);
void nve_pmu_tell_loads(const struct nve_pmu_plan *plan, char *buf, size_t size);

#endif
