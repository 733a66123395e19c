#include "count/pmu/pmu.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/log.h"
#include "count/pmu/why.h"

typedef unsigned __int128 wide;

/* So many reads in a row without a figure, and the counters are others'. */
enum { UNREAD_MAX = 8 };

static struct {
	struct nve_pmu_config config;
	bool on;
	struct nve_uncore uncore;
	_Atomic bool told, told_loads;
} state;

void nve_pmu_setup(const struct nve_pmu_config *config)
{
	state.config = *config;
	state.on = true;
	nve_uncore_init(&state.uncore, config->perf, config->plan, config->epoch_ns);
}

bool nve_pmu_is_on(void)
{
	return state.on;
}

bool nve_pmu_samples_loads(void)
{
	return state.on && state.config.loads;
}

static int open_set(struct nve_pmu_group *g, const struct nve_perf *perf,
		    const struct nve_pmu_set *set, bool away_from_low, int tid,
		    enum nve_pmu_role *refused)
{
	const struct nve_pmu_group_plan plan = {
		.codes = set->code, .count = set->count, .away_from_low = away_from_low};
	unsigned failed;
	int rc = nve_pmu_group_open(g, perf, &plan, tid, &failed);

	if (rc)
		*refused = set->role[failed];
	return rc;
}

int nve_pmu_probe(const struct nve_perf *perf, const struct nve_pmu_plan *plan,
		  enum nve_pmu_role *refused)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < plan->sets; i++) {
		struct nve_pmu_group g;

		rc = open_set(&g, perf, &plan->set[i], false, 0, refused);
		if (!rc)
			nve_pmu_group_close(&g);
	}
	return rc;
}

int nve_pmu_probe_loads(const struct nve_perf *perf, const struct nve_pmu_plan *plan)
{
	struct nve_pmu_loads loads = {.open = false};
	int rc = nve_pmu_loads_open(&loads, perf, plan->load, plan->loads, 0, false);

	nve_pmu_loads_close(&loads, perf);
	return rc;
}

/* One line for all threads: they fail alike. A thread that has ended is no failure. */
static void tell(int rc, _Atomic bool *told, const char *what)
{
	const struct nve_pmu_world world = {.paranoid_known = false};
	struct nve_reason reason;
	char why[NVE_SOURCE_WHY_BYTES];

	if (rc == -ESRCH || atomic_exchange(told, true))
		return;
	nve_pmu_why(rc, NVE_PMU_SCOPE_THREAD, &world, &reason);
	nve_reason_join(&reason, why, sizeof(why));
	nve_log(NVE_LOG_WARN, "%s: %s", what, why);
}

static void tell_uncounted(int rc, bool opened)
{
	tell(rc, &state.told,
	     opened ? "hardware counters gave no figures for some threads, whose stall time comes "
		      "from look-ahead instead"
		    : "hardware counters could not be opened for some threads, whose stall time "
		      "comes from look-ahead instead");
}

/* Hardly ever more than once in the thread's life: its ring outlives monitors that are stopped for
 * a while. */
static void open_loads(struct nve_pmu *p)
{
	int rc;

	if (!state.config.loads || !nve_pmu_loads_wanted() || atomic_load(&p->loads.open) ||
	    p->sums.loads.refused)
		return;
	rc = nve_pmu_loads_open(&p->loads, state.config.perf, state.config.plan->load,
				state.config.plan->loads, p->tid, p->in_own_table);
	if (!rc)
		return;
	p->sums.loads.refused = 1;
	tell(rc, &state.told_loads,
	     "addresses are not sampled for some threads, whose stall time remains unattributed");
}

int nve_pmu_open(struct nve_pmu *p, int tid, bool in_own_table)
{
	const struct nve_pmu_plan *plan = state.config.plan;
	enum nve_pmu_role refused;
	int rc = state.on ? 0 : -ENODEV;

	p->in_own_table = in_own_table;
	p->tid = tid;
	p->uncore.away_from_low = !in_own_table;
	p->unread = 0;
	for (unsigned i = 0; !rc && i < plan->sets; i++)
		rc = open_set(&p->group[i], state.config.perf, &plan->set[i], !in_own_table, tid,
			      &refused);
	if (!state.on)
		return rc;
	if (rc) {
		nve_pmu_close(p);
		p->sums.uncounted = 1;
		tell_uncounted(rc, false);
		return rc;
	}
	atomic_store(&p->open, true);
	open_loads(p);
	return 0;
}

static void close_groups(struct nve_pmu *p)
{
	for (int i = 0; i < NVE_PMU_KINDS; i++) {
		if (p->group[i].count)
			nve_pmu_group_close(&p->group[i]);
	}
}

void nve_pmu_close(struct nve_pmu *p)
{
	if (!state.on)
		return;
	atomic_store(&p->open, false);
	close_groups(p);
	nve_pmu_loads_release(&p->loads, state.config.perf);
	nve_uncore_leave(&state.uncore, &p->uncore);
}

void nve_pmu_forget(struct nve_pmu *p)
{
	if (!state.on)
		return;
	/* The kernel does not copy rings. */
	p->loads = (struct nve_pmu_loads){.open = false};
	if (p->in_own_table)
		return;
	close_groups(p);
	nve_uncore_leave(&state.uncore, &p->uncore);
}

void nve_pmu_take_loads(struct nve_pmu *p, bool last)
{
	nve_pmu_loads_take(&p->loads, state.config.perf, state.config.epoch_ns, last,
			   &p->sums.loads);
}

void nve_pmu_end(struct nve_pmu *p)
{
	nve_pmu_loads_close(&p->loads, state.config.perf);
}

void nve_pmu_after_fork(void)
{
	nve_uncore_after_fork(&state.uncore);
}

/* Counts of one read as stall time. */
static uint64_t stall_ns(const struct nve_pmu_set *set, const uint64_t *delta, uint64_t rate,
			 uint64_t *clamps)
{
	struct nve_pmu_counts counts = {.has = 0};

	for (unsigned i = 0; i < set->count; i++) {
		counts.role[set->role[i]] = delta[i];
		counts.has |= 1u << set->role[i];
	}
	return nve_pmu_formula_ns(
		nve_pmu_formula_stall(set->formula, &counts, &state.config.weights, clamps), rate);
}

static int read_groups(struct nve_pmu *p)
{
	const struct nve_pmu_plan *plan = state.config.plan;
	uint64_t delta[NVE_PMU_GROUP_EVENTS];
	int rc = 0, one;

	/* Each group that gives a figure gives it once: one that fails does not undo the other. */
	for (unsigned i = 0; i < plan->sets; i++) {
		one = nve_pmu_group_read(&p->group[i], plan->sets == 1, &p->sums.reads, delta);
		if (one)
			rc = one;
		else
			p->pool_ns += stall_ns(&plan->set[i], delta, state.config.counts_per_ms[i],
					       &p->sums.clamps);
	}
	return rc;
}

int nve_pmu_read(struct nve_pmu *p, struct nve_pmu_pending pending, bool last)
{
	uint64_t looked_ns;
	int rc = read_groups(p);

	if (rc == -ENODATA && ++p->unread < UNREAD_MAX && !last)
		return -EAGAIN;
	if (rc) {
		nve_pmu_close(p);
		p->sums.uncounted = 1;
		p->pool_ns = 0;
		tell_uncounted(rc, true);
		return rc;
	}
	p->unread = 0;
	open_loads(p);
	nve_pmu_loads_restart(&p->loads, state.config.perf);
	looked_ns = NVE_MIN(p->pool_ns, pending.looked_ns);
	p->pool_ns -= looked_ns;
	p->sums.looked_ns += looked_ns;
	return 0;
}

/* The epoch's part by its time. What is more than its time (the counters were read a little after
 * its end) is the next one's; more than an epoch of it is an error of the rate, and clamped. */
static uint64_t take_stall(struct nve_pmu *p, const struct nve_pmu_pending *pending,
			   uint64_t cpu_ns)
{
	uint64_t part =
		pending->cpu_ns ? (uint64_t)((wide)p->pool_ns * cpu_ns / pending->cpu_ns) : 0;

	part = NVE_MIN(part, cpu_ns);
	p->pool_ns -= part;
	if (pending->cpu_ns == cpu_ns && p->pool_ns > cpu_ns) {
		p->pool_ns = cpu_ns;
		p->sums.clamps++;
	}
	return part;
}

static uint32_t dirty_ppm(struct nve_pmu *p, const struct nve_epoch *e)
{
	int32_t ppm = -1;

	if (state.config.uncore)
		ppm = nve_uncore_dirty_ppm(&state.uncore, &p->uncore,
					   nve_clock_ns(CLOCK_MONOTONIC));
	return ppm < 0 ? e->dirty_ppm : (uint32_t)ppm;
}

/* Counts are no samples. */
static void apply_stall(struct nve_pmu *p, const struct nve_pmu_pending *pending,
			struct nve_epoch *e)
{
	p->sums.epochs++;
	p->sums.ahead_stall_ns += e->stall_ns;
	p->sums.ahead_stall_wb_ns += e->stall_wb_ns;
	e->stall_ns = take_stall(p, pending, e->cpu_ns);
	e->stall_se_ns = 0;
	/* A miss is what the rate was measured with: one of DRAM's latency. */
	if (!nve_pmu_formula_sees_walks(state.config.plan->set[0].formula)) {
		e->latency_ps = e->dram_lat_ps;
		e->latency_se_ps = 0;
	}
}

void nve_pmu_apply(struct nve_pmu *p, struct nve_pmu_pending *pending, struct nve_epoch *e)
{
	bool counted = state.config.plan->sets > 0;

	if (counted)
		apply_stall(p, pending, e);
	if (counted || state.config.uncore)
		e->stall_wb_ns = nve_pmu_formula_stall_wb(e->stall_ns, dirty_ppm(p, e));
	/* Who told the dirty fraction is not kept for each epoch. */
	if (state.config.uncore)
		e->dirty_se_ppm = 0;
	atomic_fetch_add(&p->loads.counted_ns, e->stall_ns);
	atomic_fetch_add(&p->loads.counted_wb_ns, e->stall_wb_ns);
	pending->cpu_ns -= e->cpu_ns;
}

void nve_pmu_uncore_counts(uint64_t *reads, uint64_t *clamps, uint64_t *failures)
{
	*reads = atomic_load(&state.uncore.reads);
	*clamps = atomic_load(&state.uncore.clamps);
	*failures = atomic_load(&state.uncore.failures);
}
