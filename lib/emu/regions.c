#include "emu/regions.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

enum {
	NAMELESS = 0x8000,  /* on the stack: begun, but found no room in the table */
	EXCESS_NS = 5000,   /* of the signal itself, and of hooks, beyond the program's CPU time */
	PRIOR_NS = 4000000, /* of the thread's stall share, in a lane's */
	HALVE_NS = 2000000000, /* samples fade */
	HALVE_WINDOWS = 16,    /* dirty fractions fade, in weights of windows */
	SLEPT_INTERVALS = 32,  /* that are remembered, fading */
	IDLE_NS = 1000000000,  /* the longest epoch: after it a lane's account goes to another */
};

/* Time-stamp counter and CPU clock agree so far while a thread keeps its core. */
#define EXCESS_PART 1.02
/* Of a window with nothing but stall time: the thread's dirty fraction, in a lane's. */
#define PRIOR_WEIGHT 0.25
/* Above, intervals are not split. */
#define SLEPT_MAX 0.125

_Static_assert((uint32_t)NVE_REGION_NODES <= (uint32_t)NAMELESS,
	       "a node's number and the mark fit");
_Static_assert((NVE_REGION_CACHE & (NVE_REGION_CACHE - 1)) == 0, "a hash is masked");

void nve_regions_start(struct nve_regions *r, struct nve_region_table *table, bool only,
		       uint64_t tsc_khz, uint64_t tsc)
{
	r->table = table;
	r->only = only;
	r->tick_ns = 1e6 / (double)tsc_khz;
	r->since_tsc = tsc;
	r->lanes = 1;
}

static uint32_t level(uint32_t depth)
{
	return NVE_MIN(depth, (uint32_t)NVE_REGION_DEPTH);
}

static uint32_t node_at(const struct nve_regions *r, uint32_t depth)
{
	return r->open.stack[level(depth)] & ~(uint32_t)NAMELESS;
}

static uint32_t lane_of(const struct nve_regions *r, uint32_t node)
{
	return 2 * node + (r->open.paused != 0);
}

/* The table compares with all of a name's bytes; here the last node that was found is tried. */
static uint32_t find_node(struct nve_regions *r, uint32_t parent, const char *name)
{
	uint32_t i = ((uint32_t)((uintptr_t)name >> 2) ^ parent * 7) % NVE_REGION_CACHE, node;

	if (r->cache[i].name == name && r->cache[i].parent == parent &&
	    !strcmp(r->table->node[r->cache[i].node].name, name))
		return r->cache[i].node;
	if (strnlen(name, NVE_REGION_NAME_BYTES) == NVE_REGION_NAME_BYTES)
		r->misuse.cut_names++;
	node = nve_region_table_find(r->table, parent, name);
	if (node == NVE_REGION_NONE)
		return node;
	r->cache[i].name = name;
	r->cache[i].parent = (uint16_t)parent;
	r->cache[i].node = (uint16_t)node;
	return node;
}

uint32_t nve_regions_find(struct nve_regions *r, const char *name)
{
	uint32_t parent = node_at(r, r->open.depth), node;

	if (r->open.depth >= NVE_REGION_DEPTH) {
		r->misuse.too_deep++;
		return lane_of(r, parent);
	}
	if (!name || !*name) {
		r->misuse.no_name++;
		name = "(unnamed)";
	}
	node = find_node(r, parent, name);
	if (node != NVE_REGION_NONE)
		return lane_of(r, node);
	r->misuse.no_room++;
	return lane_of(r, parent);
}

uint32_t nve_regions_outer(const struct nve_regions *r)
{
	return r->open.depth ? lane_of(r, node_at(r, r->open.depth - 1)) : r->open.lane;
}

/* A tick that comes between two of these lines takes the time since since_tsc twice or not at all,
 * and finds that out the next time. */
static void switch_to(struct nve_regions *r, uint32_t lane, uint64_t tsc)
{
	if (lane >= r->lanes)
		r->lanes = lane + 1;
	nve_region_watch_stretch(&r->watch, r->open.lane, r->since_tsc, tsc);
	if (tsc > r->since_tsc)
		r->ticks[r->open.lane] += tsc - r->since_tsc;
	atomic_signal_fence(memory_order_seq_cst);
	r->since_tsc = tsc;
	r->open.lane = lane;
}

void nve_regions_begin(struct nve_regions *r, uint32_t lane, uint64_t tsc)
{
	uint32_t depth = r->open.depth, node = lane / 2;

	/* First the depth: a signal handler that begins and ends a region here uses the levels
	 * above. */
	r->open.depth = depth + 1;
	atomic_signal_fence(memory_order_seq_cst);
	r->begins++;
	if (depth >= NVE_REGION_DEPTH)
		return;
	if (node == node_at(r, depth)) {
		r->open.stack[depth + 1] = (uint16_t)(node | NAMELESS);
		return;
	}
	r->open.stack[depth + 1] = (uint16_t)node;
	r->calls[node]++;
	switch_to(r, lane, tsc);
}

void nve_regions_end(struct nve_regions *r, uint64_t tsc)
{
	uint32_t lane = nve_regions_outer(r);

	if (!r->open.depth) {
		r->misuse.no_begin++;
		return;
	}
	if (lane != r->open.lane)
		switch_to(r, lane, tsc);
	r->open.depth--;
}

void nve_regions_pause(struct nve_regions *r, uint64_t tsc)
{
	r->pauses++;
	if (!r->open.paused++)
		switch_to(r, lane_of(r, node_at(r, r->open.depth)), tsc);
}

void nve_regions_resume(struct nve_regions *r, uint64_t tsc)
{
	if (!r->open.paused) {
		r->misuse.no_pause++;
		return;
	}
	if (!--r->open.paused)
		switch_to(r, lane_of(r, node_at(r, r->open.depth)), tsc);
}

/* A level without a name of its own is taken for the one that is meant. */
static bool is_named(const struct nve_regions *r, uint32_t depth, const char *name)
{
	return (r->open.stack[depth] & NAMELESS) ||
	       !strncmp(r->table->node[r->open.stack[depth]].name, name, NVE_REGION_NAME_BYTES - 1);
}

uint32_t nve_regions_levels(struct nve_regions *r, const char *name)
{
	if (r->open.depth > NVE_REGION_DEPTH)
		return 1;
	if (!name || !*name)
		name = "(unnamed)";
	for (uint32_t depth = r->open.depth; depth > 0; depth--) {
		if (!is_named(r, depth, name))
			continue;
		r->misuse.misnested += r->open.depth - depth;
		return r->open.depth - depth + 1;
	}
	r->misuse.no_begin++;
	return 0;
}

bool nve_regions_emulates(const struct nve_regions *r, uint32_t lane)
{
	return !(lane & 1) && (!r->only || lane);
}

void nve_regions_inherit(struct nve_regions *r, const struct nve_regions_open *parent, uint64_t tsc)
{
	r->open.depth = parent->depth;
	r->open.paused = parent->paused;
	memcpy(r->open.stack, parent->stack, sizeof(r->open.stack));
	switch_to(r, parent->lane, tsc);
}

uint64_t nve_regions_ticks(const struct nve_regions *r, uint32_t lane, uint64_t tsc)
{
	uint64_t since = r->since_tsc, running = 0;

	if (lane == r->open.lane && tsc > since)
		running = tsc - since;
	return r->ticks[lane] + running;
}

/* In which the thread ran. */
static uint64_t run_ticks(const struct nve_regions *r, uint32_t lane, uint64_t tsc)
{
	uint64_t ticks = nve_regions_ticks(r, lane, tsc);

	return ticks - NVE_MIN(r->lost[lane], ticks);
}

void nve_regions_check(struct nve_regions *r, uint64_t tsc, uint64_t cpu_ns)
{
	uint32_t lane;
	uint64_t lost;

	nve_region_watch_stretch(&r->watch, r->open.lane, r->since_tsc, tsc);
	lost = nve_region_watch_lost(&r->watch, r->tick_ns, tsc, cpu_ns, &lane);
	r->lost[lane] += lost;
}

void nve_regions_mark(struct nve_regions *r, uint64_t tsc)
{
	uint32_t lane = r->open.lane;

	r->seen[lane] = NVE_MAX(r->seen[lane], run_ticks(r, lane, tsc));
}

void nve_regions_go_on(struct nve_regions *r, uint64_t tsc, uint64_t cpu_ns)
{
	nve_regions_mark(r, tsc);
	nve_region_watch_start(&r->watch, tsc, cpu_ns);
}

void nve_regions_served(struct nve_regions *r, uint64_t served_ns, uint64_t ticks)
{
	r->due[r->open.lane].served_ns += served_ns;
	r->seen[r->open.lane] += ticks;
}

void nve_regions_cost(struct nve_regions *r, int64_t ns)
{
	r->due[r->open.lane].cost_ns += ns;
}

uint64_t nve_regions_take_markers(struct nve_regions *r)
{
	uint64_t markers = r->begins + r->pauses, taken = markers - r->markers_seen;

	r->markers_seen = markers;
	return taken;
}

/* Where the lane's part of the epoch is; home, where there is no room for another one. */
static uint32_t place_of(struct nve_regions *r, uint32_t lane, uint32_t home)
{
	for (uint32_t i = 0; i < r->touched; i++)
		if (r->part[i].lane == lane)
			return i;
	if (r->touched == NVE_REGION_PARTS)
		return home;
	r->part[r->touched] = (struct nve_region_part){.lane = lane};
	r->fresh[r->touched] = 0;
	return r->touched++;
}

/* What each lane has run since it was looked at last. Returns the sum, ticks. */
static double gather(struct nve_regions *r, uint32_t home, uint64_t tsc)
{
	double sum = 0;

	for (uint32_t i = 0; i < r->touched; i++)
		r->fresh[i] = 0;
	for (uint32_t lane = 0; lane < r->lanes; lane++) {
		uint64_t ticks = run_ticks(r, lane, tsc);

		if (ticks <= r->seen[lane])
			continue;
		r->due[lane].ran_at_ns = r->ran_ns;
		r->fresh[place_of(r, lane, home)] += (double)(ticks - r->seen[lane]);
		sum += (double)(ticks - r->seen[lane]);
		r->seen[lane] = ticks;
	}
	return sum;
}

/*
 * May the interval be split by the counter? Not where the thread slept or lost its core in it and
 * the clock was not read often enough to know where. Then it belongs to the lane of the sample,
 * which is right on average. Splitting some intervals and others not is not: a lane that always
 * sleeps would get less than its due. So where that is usual none is split.
 */
static bool may_split(struct nve_regions *r, double ticks, uint64_t ran_ns)
{
	bool excess = ticks * r->tick_ns > EXCESS_PART * (double)ran_ns + EXCESS_NS;

	r->slept += ((excess ? 1 : 0) - r->slept) / SLEPT_INTERVALS;
	return ticks > 0 && !excess && r->slept < SLEPT_MAX;
}

static double ratio(double part, double whole, double prior, double weight)
{
	return whole + weight > 0 ? (part + prior * weight) / (whole + weight) : 0;
}

static double stall_share(const struct nve_regions *r, uint32_t lane)
{
	const struct nve_region_samples *s = &r->samples[lane];

	return ratio(s->stall_ns, s->time_ns, ratio(r->all.stall_ns, r->all.time_ns, 0, 0),
		     PRIOR_NS);
}

static double dirty_fraction(const struct nve_regions *r, uint32_t lane)
{
	const struct nve_region_samples *s = &r->samples[lane];

	return ratio(s->dirty, s->dirty_weight, ratio(r->all.dirty, r->all.dirty_weight, 0, 0),
		     PRIOR_WEIGHT);
}

static void add_sample(struct nve_region_samples *to, const struct nve_regions_sample *s)
{
	to->count++;
	if (to->time_ns > HALVE_NS) {
		to->time_ns /= 2;
		to->stall_ns /= 2;
	}
	if (to->dirty_weight > HALVE_WINDOWS) {
		to->dirty_weight /= 2;
		to->dirty /= 2;
	}
	to->dirty_weight += s->dirty_weight;
	to->dirty += s->dirty;
	if (s->answered_ns <= 0)
		return;
	to->answered++;
	to->answered_ns += s->answered_ns;
	to->label_ns += s->stall_ns;
	to->label_squared_ns += s->stall_ns * s->stall_ns / s->answered_ns;
	to->time_ns += s->answered_ns;
	to->stall_ns += s->stall_ns;
}

/* What the model makes of the lane's stall time. */
static double lane_delay_per_stall(const struct nve_regions *r, uint32_t lane,
				   double delay_per_stall)
{
	if (!nve_regions_emulates(r, lane))
		return 0;
	return delay_per_stall * nve_regions_delay_factor(r, lane, delay_per_stall);
}

/* The parts' time since the last sample, and the stall time that the sample tells of, in proportion
 * to what is expected of each. */
static void book(struct nve_regions *r, const struct nve_regions_sample *s, uint32_t home,
		 double ticks)
{
	double expected_ns = 0, stall_ns;

	for (uint32_t i = 0; i < r->touched; i++)
		expected_ns += r->fresh[i] * stall_share(r, r->part[i].lane);
	expected_ns *= (double)s->ran_ns / ticks;
	stall_ns = s->answered_ns > 0 ? s->stall_ns : expected_ns;
	for (uint32_t i = 0; i < r->touched; i++) {
		struct nve_region_part *p = &r->part[i];
		double time_ns = (double)s->ran_ns * r->fresh[i] / ticks, mine_ns;
		double dirty = dirty_fraction(r, p->lane);

		if (expected_ns > 0)
			mine_ns = stall_ns * time_ns * stall_share(r, p->lane) / expected_ns;
		else
			mine_ns = i == home ? stall_ns : 0;
		p->time += time_ns;
		p->wb += dirty * mine_ns;
		p->ro += (1 - dirty) * mine_ns;
		p->foreseen_ns +=
			(uint64_t)(mine_ns * lane_delay_per_stall(r, p->lane, s->delay_per_stall));
	}
}

/* The account of a lane that runs no more goes to the one that runs, lest what it is owed is never
 * paid, or what it was paid too much never made good. One lane is looked at each time. */
static void close_account(struct nve_regions *r, uint32_t lane)
{
	uint32_t from = r->looked_at = (r->looked_at + 1) % r->lanes;

	if (from != lane && nve_regions_emulates(r, from) && nve_regions_emulates(r, lane) &&
	    r->ran_ns - r->due[from].ran_at_ns > IDLE_NS)
		nve_region_due_move(&r->due[from], &r->due[lane]);
}

bool nve_regions_sample(struct nve_regions *r, const struct nve_regions_sample *s)
{
	uint32_t lane = r->open.lane, home = place_of(r, lane, 0);
	double ticks;

	r->ran_ns += s->ran_ns;
	ticks = gather(r, home, s->tsc);
	close_account(r, lane);
	if (s->sampled) {
		add_sample(&r->samples[lane], s);
		add_sample(&r->all, s);
	}
	if (!may_split(r, ticks, s->ran_ns)) {
		memset(r->fresh, 0, sizeof(r->fresh));
		r->fresh[home] = ticks = 1;
	}
	book(r, s, home, ticks);
	return r->touched > NVE_REGION_PARTS / 2;
}

void nve_regions_moved(struct nve_regions *r, double read, double written, double delay_ns)
{
	struct nve_region_part *p = &r->part[place_of(r, r->open.lane, 0)];

	p->read += read;
	p->written += written;
	p->bandwidth += delay_ns;
}

/* As much as the larger of both demands asks for (emu/model.h). */
static uint64_t foreseen_ns(const struct nve_region_part *p)
{
	return NVE_MAX(p->foreseen_ns, (uint64_t)p->bandwidth);
}

int64_t nve_regions_due_ns(const struct nve_regions *r)
{
	uint32_t lane = r->open.lane;
	int64_t due_ns = nve_region_due_ns(&r->due[lane]);

	if (!nve_regions_emulates(r, lane))
		return 0;
	for (uint32_t i = 0; i < r->touched; i++)
		if (r->part[i].lane == lane)
			due_ns += (int64_t)foreseen_ns(&r->part[i]);
	return due_ns;
}

double nve_regions_rate(const struct nve_regions *r, double delay_per_stall)
{
	uint32_t lane = r->open.lane;

	return stall_share(r, lane) * lane_delay_per_stall(r, lane, delay_per_stall);
}

double nve_regions_expected_ns(const struct nve_regions *r, uint64_t tsc, double delay_per_stall)
{
	uint64_t ticks = run_ticks(r, r->open.lane, tsc), seen = r->seen[r->open.lane];

	return ticks > seen
		       ? (double)(ticks - seen) * r->tick_ns * nve_regions_rate(r, delay_per_stall)
		       : 0;
}

/* Does the epoch have anything of it? */
static bool is_part(const struct nve_region_part *p)
{
	return p->time + p->ro + p->wb + p->read + p->written + p->bandwidth > 0;
}

uint32_t nve_regions_end_epoch(struct nve_regions *r, struct nve_epoch *epoch,
			       struct nve_region_part *parts, uint32_t *lane)
{
	double ro = 0, wb = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < r->touched; i++) {
		ro += r->part[i].ro;
		wb += r->part[i].wb;
		if (!is_part(&r->part[i]))
			continue;
		r->part[i].foreseen_ns = foreseen_ns(&r->part[i]);
		r->due[r->part[i].lane].foreseen_ns += (int64_t)r->part[i].foreseen_ns;
		r->part[count++] = r->part[i];
	}
	if (r->lanes > 1 && ro + wb > 0)
		epoch->stall_wb_ns = (uint64_t)((double)epoch->stall_ns * (wb / (ro + wb)));
	memcpy(parts, r->part, count * sizeof(*parts));
	*lane = count ? r->part[0].lane : r->open.lane;
	r->touched = 0;
	return count;
}

void nve_regions_settle(struct nve_regions *r, uint32_t lane, const struct nve_epoch *part,
			const struct nve_model_delay *d, uint64_t foreseen_ns)
{
	struct nve_region_model *m = &r->model[lane];
	double milli;

	m->cpu_ns += part->cpu_ns;
	m->stall_ns += part->stall_ns;
	m->stall_wb_ns += part->stall_wb_ns;
	m->ma_ro += d->ma_ro;
	m->ma_wb += d->ma_wb;
	m->delay_owed_ns += d->larger_ns;
	m->latency_ns += d->delay_ns;
	nve_region_due_settle(&r->due[lane], d->larger_ns, foreseen_ns);
	milli = m->stall_ns ? 1e3 * (double)m->latency_ns / (double)m->stall_ns : 0;
	atomic_store_explicit(&r->delay_per_stall_milli[lane], (uint32_t)fmin(milli, 4e9),
			      memory_order_relaxed);
}

double nve_regions_delay_factor(const struct nve_regions *r, uint32_t lane, double delay_per_stall)
{
	uint32_t milli =
		atomic_load_explicit(&r->delay_per_stall_milli[lane], memory_order_relaxed);

	return milli && delay_per_stall > 0 ? milli / 1e3 / delay_per_stall : 1;
}
