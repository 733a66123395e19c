#include "count/pmu/loads.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"

typedef unsigned __int128 wide;

enum { BATCH = 32 };

static struct {
	const struct nve_miss_sink *misses;
	const struct nve_waits_sink *waits;
} state;

void nve_pmu_loads_set_sink(const struct nve_miss_sink *sink)
{
	state.misses = sink;
}

void nve_pmu_loads_set_waits_sink(const struct nve_waits_sink *sink)
{
	state.waits = sink;
}

bool nve_pmu_loads_wanted(void)
{
	return state.misses || state.waits;
}

int nve_pmu_loads_open(struct nve_pmu_loads *l, const struct nve_perf *perf,
		       const struct nve_pmu_sampled *events, unsigned count, int tid, bool keep)
{
	int rc = count ? 0 : -ENODEV;

	l->count = 0;
	for (unsigned i = 0; !rc && i < count; i++) {
		rc = nve_pmu_load_ring_open(&l->ring[i], perf, &events[i], tid, keep);
		l->count += rc == 0;
	}
	while (rc && l->count)
		nve_pmu_load_ring_close(&l->ring[--l->count], perf);
	if (!rc)
		atomic_store(&l->open, true);
	return rc;
}

void nve_pmu_loads_close(struct nve_pmu_loads *l, const struct nve_perf *perf)
{
	if (!atomic_load(&l->open))
		return;
	while (l->count)
		nve_pmu_load_ring_close(&l->ring[--l->count], perf);
	/* Last: from now on a monitor may open others. */
	atomic_store(&l->open, false);
}

void nve_pmu_loads_restart(struct nve_pmu_loads *l, const struct nve_perf *perf)
{
	for (unsigned i = 0; atomic_load(&l->open) && i < l->count; i++)
		nve_pmu_load_ring_restart(&l->ring[i], perf);
}

void nve_pmu_loads_release(struct nve_pmu_loads *l, const struct nve_perf *perf)
{
	for (unsigned i = 0; atomic_load(&l->open) && i < l->count; i++)
		nve_pmu_load_ring_release(&l->ring[i], perf);
}

static void keep(struct nve_pmu_loads *l, const struct nve_pmu_load *load)
{
	l->kept[l->kept_at] = *load;
	l->kept_at = (l->kept_at + 1) % NVE_PMU_LOADS_KEPT;
	l->kept_count = NVE_MIN(l->kept_count + 1, (unsigned)NVE_PMU_LOADS_KEPT);
}

/* What is there to be shared out, and what has been so far. */
struct shares {
	uint64_t due_ns;
	wide weight, passed; /* of all loads; of those that have come */
	float dirty;
	struct nve_miss batch[BATCH];
	size_t count;
};

static void flush(struct shares *s)
{
	if (state.misses && s->count)
		state.misses->take(s->batch, s->count);
	s->count = 0;
}

/* Up to its end all shares come to due_ns * passed / weight: nothing is lost in rounding. */
static void hand(struct shares *s, const struct nve_pmu_load *load)
{
	uint64_t line = load->addr / NVE_LINE_BYTES * NVE_LINE_BYTES;
	uint64_t before_ns = (uint64_t)(s->due_ns * s->passed / s->weight);

	s->passed += load->weight;
	if (state.waits)
		state.waits->wait(line, (double)load->weight, s->dirty);
	if (!state.misses)
		return;
	s->batch[s->count++] = (struct nve_miss){
		.addr = line,
		.ip = load->ip,
		.place = state.misses->locate ? state.misses->locate(line) : 0,
		.stall_ns = (uint64_t)(s->due_ns * s->passed / s->weight) - before_ns,
		.dirty = s->dirty,
	};
	if (s->count == BATCH)
		flush(s);
}

/* Counts what the rings hold. Returns the sum of the loads' weights. */
static wide scan(struct nve_pmu_loads *l, struct nve_pmu_load_cursor *c,
		 struct nve_pmu_load_sums *sums)
{
	struct nve_pmu_load load;
	wide weight = 0;

	for (unsigned i = 0; i < l->count; i++) {
		while (nve_pmu_load_ring_next(&l->ring[i], &c[i], sums, &load)) {
			weight += load.weight;
			sums->taken++;
			keep(l, &load);
		}
	}
	return weight;
}

static void hand_all(struct nve_pmu_loads *l, struct nve_pmu_load_cursor *c, struct shares *s)
{
	struct nve_pmu_load load;

	for (unsigned i = 0; i < l->count; i++) {
		while (nve_pmu_load_ring_next(&l->ring[i], &c[i], NULL, &load))
			hand(s, &load);
	}
}

static void hand_kept(const struct nve_pmu_loads *l, struct shares *s)
{
	for (unsigned i = 0; i < l->kept_count; i++)
		s->weight += l->kept[i].weight;
	for (unsigned i = 0; i < l->kept_count; i++)
		hand(s, &l->kept[i]);
}

/* Looks at the rings as they are now. Returns whether one of them is half full. */
static bool look(const struct nve_pmu_loads *l, struct nve_pmu_load_cursor *c)
{
	bool any = false, filling;

	for (unsigned i = 0; i < l->count; i++) {
		c[i] = nve_pmu_load_ring_begin(&l->ring[i], &filling);
		any |= filling;
	}
	return any;
}

/* One that has been stopped, and whose descriptor ended with its monitor, is of no more use: the
 * next monitor opens another. */
static void bury(struct nve_pmu_loads *l, const struct nve_perf *perf)
{
	bool dead = false;

	for (unsigned i = 0; i < l->count; i++)
		dead |= nve_pmu_load_ring_is_dead(&l->ring[i]);
	if (dead)
		nve_pmu_loads_close(l, perf);
}

void nve_pmu_loads_take(struct nve_pmu_loads *l, const struct nve_perf *perf, uint64_t epoch_ns,
			bool last, struct nve_pmu_load_sums *sums)
{
	struct nve_pmu_load_cursor first[NVE_PMU_KINDS], second[NVE_PMU_KINDS];
	struct shares s = {.count = 0};
	uint64_t wb_ns;

	if (!atomic_load(&l->open))
		return;
	/* In this order: what is written is part of what has been counted before. */
	wb_ns = atomic_load(&l->counted_wb_ns) - l->handed_wb_ns;
	s.due_ns = atomic_load(&l->counted_ns) - l->handed_ns;
	/* Loads wait for their epoch's counts, but not until there is no room. */
	if (!look(l, first) && !s.due_ns)
		return;
	s.dirty = s.due_ns ? (float)NVE_MIN((double)wb_ns / (double)s.due_ns, 1.0) : 0;
	memcpy(second, first, sizeof(second));
	s.weight = scan(l, first, sums);
	if (s.weight && s.due_ns)
		hand_all(l, second, &s);
	else if (last && s.due_ns)
		hand_kept(l, &s);
	for (unsigned i = 0; i < l->count; i++)
		nve_pmu_load_ring_done(&l->ring[i], &first[i]);
	bury(l, perf);
	if (!s.passed)
		return;
	flush(&s);
	if (state.waits)
		state.waits->end_window(NVE_MIN((double)s.due_ns / (double)epoch_ns, 1.0));
	l->handed_ns += s.due_ns;
	l->handed_wb_ns += wb_ns;
}
