#include "markers.h"

#include <stdatomic.h>

#include "base/base.h"
#include "base/clock.h"
#include "emu/handover.h"

enum { MEASURE_ROUNDS = 8, MEASURE_PAIRS = 16 };

static struct {
	struct nve_region_table table;
	uint64_t tsc_khz;
	bool only;
	_Atomic bool off, measured;
	bool inherits;
	struct nve_regions_open open; /* of the thread that forked */
} state;

void nve_markers_setup(bool only, uint64_t tsc_khz)
{
	state.only = only;
	state.tsc_khz = tsc_khz;
}

const struct nve_region_table *nve_markers_table(void)
{
	return &state.table;
}

static const struct nve_record_region *find_recorded(const struct nve_replay *r, uint64_t number)
{
	for (uint64_t i = 0; r->region && i < r->regions; i++)
		if (r->region[i].region == number)
			return &r->region[i];
	return NULL;
}

/* The region's node; parents have lower numbers, so this ends. */
static uint32_t node_of(const struct nve_replay *r, const struct nve_record_region *recorded)
{
	const struct nve_record_region *parent = NULL;
	uint32_t node;

	if (!recorded || !recorded->name[0])
		return 0;
	if (recorded->parent)
		parent = find_recorded(r, recorded->parent);
	node = nve_region_table_find(&state.table, node_of(r, parent), recorded->name);
	return node == NVE_REGION_NONE ? 0 : node;
}

void nve_markers_replay(struct nve_replay *r)
{
	static uint16_t lane[NVE_REPLAY_REGIONS_MAX];

	for (uint64_t i = 0; r->region && i < r->regions; i++) {
		const struct nve_record_region *recorded = &r->region[i];

		lane[recorded->region] = (uint16_t)(2 * node_of(r, recorded) +
						    (recorded->owes == NVE_RECORD_PAUSED));
	}
	for (uint64_t i = 0; i < r->epochs; i++)
		r->epoch[i].region = lane[r->epoch[i].region];
}

void nve_markers_thread(struct nve_thread *t)
{
	uint64_t tsc = nve_tsc();

	nve_regions_start(&t->regions, &state.table, state.only, state.tsc_khz, tsc);
	if (state.inherits)
		nve_regions_inherit(&t->regions, &state.open, tsc);
	state.inherits = false;
}

void nve_markers_before_child(void)
{
	state.inherits = nve_thread_self != NULL;
	if (state.inherits)
		state.open = nve_thread_self->regions.open;
}

/* Their cost is the tool's. On a thread and a table of its own. */
static void measure(void)
{
	static struct nve_region_table table;
	static struct nve_regions regions;
	uint64_t best = UINT64_MAX, start;

	nve_regions_start(&regions, &table, false, state.tsc_khz, nve_tsc());
	for (int i = 0; i < MEASURE_ROUNDS; i++) {
		start = nve_tsc();
		for (int k = 0; k < MEASURE_PAIRS; k++) {
			nve_regions_begin(&regions, nve_regions_find(&regions, "measure"),
					  nve_tsc());
			nve_regions_end(&regions, nve_tsc());
		}
		best = NVE_MIN(best, nve_tsc() - start);
	}
	nve_handover_set_marker_cost((double)best * 1e6 / (double)state.tsc_khz / MEASURE_PAIRS);
}

void nve_markers_off(void)
{
	atomic_store(&state.off, true);
}

/* The calling thread, if markers mean anything in it. */
static struct nve_thread *self(void)
{
	struct nve_thread *t = nve_thread_self;

	if (!t || nve_unlikely(atomic_load_explicit(&state.off, memory_order_relaxed)))
		return NULL;
	return t;
}

/* The time, of a marker. */
static uint64_t now(struct nve_thread *t)
{
	uint64_t tsc = nve_tsc();

	if (!nve_unlikely(nve_regions_want_check(&t->regions, tsc)))
		return tsc;
	nve_regions_check(&t->regions, tsc, nve_clock_ns(CLOCK_THREAD_CPUTIME_ID));
	t->regions.watch.reads++;
	return tsc;
}

/* For the estimates at hand-overs a lane is a place to which a call has returned. */
static uint64_t address_of(uint32_t lane)
{
	return (uint64_t)(uintptr_t)&state.table.node[lane / 2];
}

/* Before the thread goes over to another lane: what it owes is served while the old one runs. */
static void leave(struct nve_thread *t, uint32_t next)
{
	if (!nve_handover_armed)
		return;
	if (nve_regions_emulates(&t->regions, next))
		nve_handover_pass(address_of(next));
	else
		nve_handover_before_wait();
}

/* After that; before it the thread was in the lane was. */
static void enter(struct nve_thread *t, uint32_t was)
{
	if (nve_handover_armed && !nve_regions_emulates(&t->regions, was))
		nve_handover_after_wait(address_of(t->regions.open.lane));
}

void nve_markers_begin(const char *name)
{
	struct nve_thread *t = self();
	uint32_t was, next;

	if (!t)
		return;
	if (nve_unlikely(!atomic_load_explicit(&state.measured, memory_order_relaxed)) &&
	    !atomic_exchange(&state.measured, true))
		measure();
	was = t->regions.open.lane;
	next = nve_regions_find(&t->regions, name);
	leave(t, next);
	nve_regions_begin(&t->regions, next, now(t));
	enter(t, was);
}

static void end(struct nve_thread *t)
{
	uint32_t was = t->regions.open.lane;

	leave(t, nve_regions_outer(&t->regions));
	nve_regions_end(&t->regions, now(t));
	enter(t, was);
}

void nve_markers_end(void)
{
	struct nve_thread *t = self();

	if (t)
		end(t);
}

void nve_markers_end_named(const char *name)
{
	struct nve_thread *t = self();
	uint32_t levels = t ? nve_regions_levels(&t->regions, name) : 0;

	for (uint32_t i = 0; i < levels; i++)
		end(t);
}

/* Odd lanes are those that are paused. */
void nve_markers_pause(void)
{
	struct nve_thread *t = self();

	if (!t)
		return;
	leave(t, t->regions.open.lane | 1);
	nve_regions_pause(&t->regions, now(t));
}

void nve_markers_resume(void)
{
	struct nve_thread *t = self();
	uint32_t was;

	if (!t)
		return;
	was = t->regions.open.lane;
	nve_regions_resume(&t->regions, now(t));
	enter(t, was);
}
