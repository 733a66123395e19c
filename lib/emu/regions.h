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
#include "emu/region_state.h"

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

/* Adds what the model has said of a part of an epoch, which was foreseen to owe so much. */
void nve_regions_settle(struct nve_regions *r, uint32_t lane, const struct nve_epoch *part,
			const struct nve_model_delay *d, uint64_t foreseen_ns);

/* Is delay owed for what the thread does in this lane? */
bool nve_regions_emulates(const struct nve_regions *r, uint32_t lane);

/* A forked child's thread begins with what the parent's had open. */
void nve_regions_inherit(struct nve_regions *r, const struct nve_regions_open *parent,
			 uint64_t tsc);

/* The program goes on now: what was before is not its time. In the handler. */
void nve_regions_mark(struct nve_regions *r, uint64_t tsc);

/* The thread's CPU clock was read. Should it be, at a marker? */
void nve_regions_check(struct nve_regions *r, uint64_t tsc, uint64_t cpu_ns);
static inline bool nve_regions_want_check(const struct nve_regions *r, uint64_t tsc)
{
	return nve_region_watch_is_due(&r->watch, r->tick_ns, tsc);
}

/* Both, at the end of the handler: the program goes on now. */
void nve_regions_go_on(struct nve_regions *r, uint64_t tsc, uint64_t cpu_ns);

/* The thread has been delayed, or looked at, for so long in the lane that runs. Then its clock is
 * to be told anew (nve_region_watch_start). */
void nve_regions_served(struct nve_regions *r, uint64_t served_ns, uint64_t ticks);

/* So much of its time, less what it saved, the tool has cost the lane that runs. */
void nve_regions_cost(struct nve_regions *r, int64_t ns);

/* What the lane that runs is owed, as far as samples and the model tell, and has not been paid, ns;
 * negative: it was paid too much. 0 where nothing is emulated. In the handler, or in hooks. */
int64_t nve_regions_due_ns(const struct nve_regions *r);

/* Delay that is to be expected of the time that the running lane has run since the last sample. */
double nve_regions_expected_ns(const struct nve_regions *r, uint64_t tsc, double delay_per_stall);

/* The same of all of its time, on average: delay per time. */
double nve_regions_rate(const struct nve_regions *r, double delay_per_stall);

/* Begins and pauses since the last call. In the handler. */
uint64_t nve_regions_take_markers(struct nve_regions *r);

/* Books a sample. Returns whether the epoch should end, lest there be more parts than one may
 * have. */
bool nve_regions_sample(struct nve_regions *r, const struct nve_regions_sample *s);

/* So many bytes were moved since the last call, which bandwidth delays by delay_ns; it is the
 * lane's that runs. In the handler. */
void nve_regions_moved(struct nve_regions *r, double read, double written, double delay_ns);

/*
 * The epoch ends. Returns how many parts it has, NVE_REGION_PARTS at most, which are in parts
 * then; *lane is that of the first. In a thread that has been in regions *epoch gets the written
 * part of its stall time anew, from the dirty fractions of the lanes that it was in.
 */
uint32_t nve_regions_end_epoch(struct nve_regions *r, struct nve_epoch *epoch,
			       struct nve_region_part *parts, uint32_t *lane);

/* What the model makes of the lane's stall time, in parts of what it makes of the thread's, which
 * is delay_per_stall; 1 while that is not known. Signal-safe. */
double nve_regions_delay_factor(const struct nve_regions *r, uint32_t lane, double delay_per_stall);

/* Ticks from the lane's begins to its ends, at tsc. */
uint64_t nve_regions_ticks(const struct nve_regions *r, uint32_t lane, uint64_t tsc);

#endif
