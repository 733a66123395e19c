/*
 * A thread's regions: which are open, how long each ran, and which of them the thread's samples and
 * epochs belong to. Pure: time is passed in.
 *
 * A lane is where time goes: the innermost open region, running or paused; number 2 * region, plus
 * 1 where emulation is paused. Lane 0 is outside of all regions.
 *
 * Markers only add up ticks of the time-stamp counter. A tick of the thread's timer looks at the
 * sums and says which lane its sample was taken in, and how the CPU time since the last one is to
 * be split (nve_regions_sample). An epoch that has been in several lanes is settled in as many
 * parts, whose sums are the epoch's to the nanosecond.
 *
 * Who may touch what, as in emu/thread.h: "markers" belong to the thread itself, the tick only
 * reads them, so that markers need not keep it out: what it finds half done it makes good the next
 * time. "handler" belongs to the tick, and to the thread with its timer off; "settle" to whoever
 * settles.
 */
#ifndef NVE_EMU_REGIONS_H
#define NVE_EMU_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "count/source.h"
#include "emu/model.h"
#include "emu/region_open.h"
#include "emu/region_parts.h"
#include "emu/region_table.h"

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
	struct {
		const char *name;
		uint16_t parent, node;
	} cache[NVE_REGION_CACHE];

	/* handler */
	uint64_t seen[NVE_REGION_LANES];      /* of ticks, with those of the lane that runs */
	uint64_t served_ns[NVE_REGION_LANES]; /* delay, while the lane ran */
	uint64_t markers_seen;
	double slept;     /* share of the last intervals in which the thread was without a core */
	uint32_t touched; /* parts of the epoch so far */
	struct nve_region_part part[NVE_REGION_PARTS];
	double fresh[NVE_REGION_PARTS]; /* ticks since the last sample */
	struct nve_region_samples all, samples[NVE_REGION_LANES];

	/* settle */
	struct nve_region_model model[NVE_REGION_LANES];
	/* likewise, read by the handler; 0: not known */
	_Atomic uint32_t delay_per_stall_milli[NVE_REGION_LANES];
};

/* Of a new thread; the structure is zeroed. tsc_khz: of the time-stamp counter. */
void nve_regions_start(struct nve_regions *r, struct nve_region_table *table, bool only,
		       uint64_t tsc_khz, uint64_t tsc);

/* The lanes that a begin, and an end, lead to. The first counts what is wrong with the name. */
uint32_t nve_regions_find(struct nve_regions *r, const char *name);
uint32_t nve_regions_outer(const struct nve_regions *r);

/* Markers. lane: what nve_regions_find() has said. */
void nve_regions_begin(struct nve_regions *r, uint32_t lane, uint64_t tsc);
void nve_regions_end(struct nve_regions *r, uint64_t tsc);
void nve_regions_pause(struct nve_regions *r, uint64_t tsc);
void nve_regions_resume(struct nve_regions *r, uint64_t tsc);

/* How many regions are to be ended so that the one of that name is: 0, and counted, if it is not
 * open; 1 if it is the innermost. What is ended besides it is counted as misnested. */
uint32_t nve_regions_levels(struct nve_regions *r, const char *name);

/* Adds what the model has said of a part of an epoch. */
void nve_regions_settle(struct nve_regions *r, uint32_t lane, const struct nve_epoch *part,
			const struct nve_model_delay *d);

/* Is delay owed for what the thread does in this lane? */
bool nve_regions_emulates(const struct nve_regions *r, uint32_t lane);

/* A forked child's thread begins with what the parent's had open. */
void nve_regions_inherit(struct nve_regions *r, const struct nve_regions_open *parent,
			 uint64_t tsc);

/* The program goes on now: what was before is not its time. In the handler. */
void nve_regions_mark(struct nve_regions *r, uint64_t tsc);

/* The thread has been delayed, or looked at, for so long in the lane that runs. */
void nve_regions_served(struct nve_regions *r, uint64_t served_ns, uint64_t ticks);

/* Begins and pauses since the last call. In the handler. */
uint64_t nve_regions_take_markers(struct nve_regions *r);

/* Books a sample. Returns whether the epoch should end, lest there be more parts than one may
 * have. */
bool nve_regions_sample(struct nve_regions *r, const struct nve_regions_sample *s);

/* So many bytes were moved since the last call, which bandwidth delays by delay_ns; it is the
 * lane's that runs. In the handler. */
void nve_regions_moved(struct nve_regions *r, double read, double written, double delay_ns);

/*
 * The epoch ends. Returns how many parts it has, NVE_REGION_PARTS at most. Several are in parts
 * then; of one only *lane tells. In a thread that has been in regions *epoch gets the written part
 * of its stall time anew, from the dirty fractions of the lanes that it was in.
 */
uint32_t nve_regions_end_epoch(struct nve_regions *r, struct nve_epoch *epoch,
			       struct nve_region_part *parts, uint32_t *lane);

/* What the model makes of the lane's stall time, in parts of what it makes of the thread's, which
 * is delay_per_stall; 1 while that is not known. Signal-safe. */
double nve_regions_delay_factor(const struct nve_regions *r, uint32_t lane, double delay_per_stall);

/* Ticks that the lane has run, at tsc. */
uint64_t nve_regions_ticks(const struct nve_regions *r, uint32_t lane, uint64_t tsc);

#endif
