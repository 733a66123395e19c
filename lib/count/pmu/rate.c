#include "count/pmu/rate.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

#include "base/base.h"
#include "base/clock.h"
#include "count/chase_list.h"
#include "count/pmu/sysfs.h"

enum { LIST_NS = 100000000, STEPS = 65536, TURNS = 3, CPU_WORDS = 16 };

int nve_pmu_rate_check(uint64_t counts_per_ms)
{
	return counts_per_ms < NVE_PMU_RATE_MIN || counts_per_ms > NVE_PMU_RATE_MAX ? -ERANGE : 0;
}

/* Counts per millisecond of one walk; median of a few, since other work on the core disturbs. */
static int measure_turn(struct nve_pmu_group *g, const struct nve_pmu_set *set,
			const struct nve_pmu_weights *weights, struct nve_chase_node **at,
			uint64_t *rate)
{
	struct nve_pmu_counts counts = {.has = 0};
	uint64_t delta[NVE_PMU_GROUP_EVENTS], started_ns, took_ns, ticks, clamps = 0;
	struct nve_pmu_reads reads = {0};
	int rc = nve_pmu_group_read(g, true, &reads, delta);

	started_ns = nve_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	*at = nve_chase_list_walk(*at, STEPS, &ticks);
	took_ns = nve_clock_ns(CLOCK_THREAD_CPUTIME_ID) - started_ns;
	/* The first read may come before the group ever ran. */
	rc = nve_pmu_group_read(g, true, &reads, delta);
	if (rc)
		return rc;
	for (unsigned i = 0; i < set->count; i++) {
		counts.role[set->role[i]] = delta[i];
		counts.has |= 1u << set->role[i];
	}
	*rate = (uint64_t)((unsigned __int128)nve_pmu_formula_stall(set->formula, &counts, weights,
								    &clamps) *
			   1000000 / NVE_MAX(took_ns, UINT64_C(1)));
	return 0;
}

static uint64_t middle(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t low = NVE_MIN(a, b), high = NVE_MAX(a, b);

	return c < low ? low : NVE_MIN(c, high);
}

static int measure_set(const struct nve_perf *perf, const struct nve_pmu_set *set,
		       const struct nve_pmu_weights *weights, struct nve_chase_list *list,
		       uint64_t *rate)
{
	const struct nve_pmu_group_plan plan = {.codes = set->code, .count = set->count};
	/* What was linked last is in the caches still: begin elsewhere. */
	struct nve_chase_node *at = list->node[NVE_CHASE_LIST_NODES - 1];
	uint64_t rates[TURNS];
	struct nve_pmu_group g;
	unsigned failed;
	int rc = nve_pmu_group_open(&g, perf, &plan, 0, &failed);

	if (rc)
		return rc;
	for (int turn = 0; !rc && turn < TURNS; turn++)
		rc = measure_turn(&g, set, weights, &at, &rates[turn]);
	nve_pmu_group_close(&g);
	if (rc)
		return rc;
	*rate = middle(rates[0], rates[1], rates[2]);
	return nve_pmu_rate_check(*rate);
}

/* To the cores that the set's PMU is of. */
static int move_to(const struct nve_pmu_set *set)
{
	uint64_t mask[CPU_WORDS] = {0};
	cpu_set_t cpus;
	int rc = nve_pmu_sysfs_cpus(NVE_PMU_SYSFS_ROOT, set->pmu, mask, CPU_WORDS);

	if (rc)
		return rc;
	CPU_ZERO(&cpus);
	for (int cpu = 0; cpu < CPU_WORDS * 64; cpu++) {
		if (mask[cpu / 64] >> cpu % 64 & 1)
			CPU_SET(cpu, &cpus);
	}
	return sched_setaffinity(0, sizeof(cpus), &cpus) ? -errno : 0;
}

int nve_pmu_rate_measure(const struct nve_perf *perf, const struct nve_pmu_plan *plan,
			 const struct nve_pmu_weights *weights,
			 uint64_t counts_per_ms[NVE_PMU_KINDS])
{
	struct nve_chase_list *list =
		nve_chase_list_new(nve_clock_ns(CLOCK_MONOTONIC_RAW), LIST_NS);
	cpu_set_t before;
	int rc = list ? 0 : -ENOMEM;

	if (rc)
		return rc;
	if (plan->sets > 1 && sched_getaffinity(0, sizeof(before), &before))
		rc = -errno;
	for (unsigned i = 0; !rc && i < plan->sets; i++) {
		nve_chase_list_link(list, list->bytes);
		if (plan->sets > 1)
			rc = move_to(&plan->set[i]);
		if (!rc)
			rc = measure_set(perf, &plan->set[i], weights, list, &counts_per_ms[i]);
		if (plan->sets > 1)
			sched_setaffinity(0, sizeof(before), &before);
	}
	nve_chase_list_delete(list);
	return rc;
}
