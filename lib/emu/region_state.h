/* The state of a thread's regions: emu/regions.h, which says who may touch what. */
#ifndef NVE_EMU_REGION_STATE_H
#define NVE_EMU_REGION_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "emu/region_due.h"
#include "emu/region_open.h"
#include "emu/region_parts.h"
#include "emu/region_table.h"
#include "emu/region_watch.h"

enum { NVE_REGION_LANES = 2 * NVE_REGION_NODES, NVE_REGION_CACHE = 32 };

/* What samples say of a lane. */
struct nve_region_samples {
	uint64_t count, answered; /* taken in it; of them those with a label */
	double answered_ns, label_ns, label_squared_ns; /* as in nve_ahead_counts */
	/* fading: time and stall of its samples; dirty fraction of its windows by their weight */
	double time_ns, stall_ns, dirty_weight, dirty;
};

/* What the model made of a lane's parts of epochs; sums. */
struct nve_region_model {
	uint64_t cpu_ns, stall_ns, stall_wb_ns, ma_ro, ma_wb, delay_owed_ns;
	uint64_t latency_ns; /* equation 5 alone, which goes with stall time */
	bool recorded;       /* the thread's record knows it */
};

/* A sample, or the rest of time without one. */
struct nve_regions_sample {
	uint64_t tsc;                 /* now */
	uint64_t ran_ns;              /* the program's CPU time since nve_regions_mark() */
	bool sampled;                 /* false: the rest */
	double answered_ns, stall_ns; /* of ran_ns, as the sample has it; 0: it gave no answer */
	double dirty_weight, dirty;   /* of its window, if it took one: weight, weight * fraction */
	double delay_per_stall;       /* what the model makes of the thread's stall time */
};

struct nve_regions {
	struct nve_region_table *table;
	double tick_ns;
	bool only; /* nothing is emulated outside */

	/* markers */
	struct nve_regions_open open;
	uint64_t since_tsc; /* when the lane that runs began to */
	uint32_t lanes;     /* those that have been used are below */
	struct nve_region_misuse misuse;
	uint64_t begins, pauses;
	uint64_t ticks[NVE_REGION_LANES], calls[NVE_REGION_NODES];
	uint64_t lost[NVE_REGION_LANES]; /* of these ticks: the thread did not run */
	struct nve_region_watch watch;
	struct {
		const char *name;
		uint16_t parent, node;
	} cache[NVE_REGION_CACHE];

	/* handler */
	uint64_t seen[NVE_REGION_LANES]; /* of ticks less lost, with those of the lane that runs */
	uint64_t ran_ns;                 /* the thread's own time so far */
	uint32_t looked_at;              /* lane that may run no more */
	uint64_t markers_seen;
	double slept;     /* share of the last intervals in which the thread was without a core */
	uint32_t touched; /* parts of the epoch so far */
	struct nve_region_part part[NVE_REGION_PARTS];
	double fresh[NVE_REGION_PARTS]; /* ticks since the last sample */
	struct nve_region_samples all, samples[NVE_REGION_LANES];

	struct nve_region_due due[NVE_REGION_LANES]; /* says itself who may touch what */

	/* settle */
	struct nve_region_model model[NVE_REGION_LANES];
	/* likewise, read by the handler; 0: not known */
	_Atomic uint32_t delay_per_stall_milli[NVE_REGION_LANES];
};

#endif
