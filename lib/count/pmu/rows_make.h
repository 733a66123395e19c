/* What the files of rows are written with. */
#ifndef NVE_COUNT_PMU_ROWS_MAKE_H
#define NVE_COUNT_PMU_ROWS_MAKE_H

#include "base/base.h"
#include "count/pmu/rows.h"

enum { NVE_PMU_PRECISE = 2 }; /* precise_ip that all samplers of addresses take */

/* an event that libpfm4 encodes; one that has a number and its source alone */
#define EVENT(name_, pfm_, config_, config1_)                                                      \
	{                                                                                          \
		.name = name_, .pfm = pfm_, .config = config_, .config1 = config1_                 \
	}
#define RAW(name_, config_, config1_, source_)                                                     \
	{                                                                                          \
		.name = name_, .config = config_, .config1 = config1_, .source = source_           \
	}
#define SAMPLED(name_, pfm_, config_, config1_)                                                    \
	{                                                                                          \
		.name = name_, .pfm = pfm_, .config = config_, .config1 = config1_,                \
		.precise_ip = NVE_PMU_PRECISE                                                      \
	}
#define RAW_SAMPLED(name_, config_, config1_, source_)                                             \
	{                                                                                          \
		.name = name_, .config = config_, .config1 = config1_,                             \
		.precise_ip = NVE_PMU_PRECISE, .source = source_                                   \
	}

/* identification: ranges of models, as in INTEL({79, 79}, {86, 86}) */
#define MODELS(vendor_, family_, ...) .vendor = vendor_, .family = family_, .models = {__VA_ARGS__}
#define ANY_STEPPING                  .stepping_first = 0, .stepping_last = 255
#define INTEL(...)                    MODELS(NVE_CPU_INTEL, 6, __VA_ARGS__), ANY_STEPPING
#define INTEL_STEPPINGS(model, first, last)                                                        \
	MODELS(NVE_CPU_INTEL, 6, {model, model}), .stepping_first = first, .stepping_last = last
#define AMD(family_, ...) MODELS(NVE_CPU_AMD, family_, __VA_ARGS__), ANY_STEPPING
#define ARM(part)         MODELS(NVE_CPU_ARM, 0, {part, part}), ANY_STEPPING

#endif
