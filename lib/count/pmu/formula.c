#include "count/pmu/formula.h"

#include "base/base.h"

typedef unsigned __int128 wide;

enum { PPM = 1000000 };

#define ROLE(name) (1u << NVE_PMU_##name)

static const struct {
	uint32_t needs, wants;
	bool walks;
} roles[NVE_PMU_FORMULAS] = {
	[NVE_PMU_FORMULA_L2_RATIO] = {ROLE(STALL) | ROLE(MISS_LOCAL),
				      ROLE(LLC_HIT) | ROLE(MISS_REMOTE), false},
	[NVE_PMU_FORMULA_LLC_STALL] = {ROLE(STALL), 0, false},
	[NVE_PMU_FORMULA_MEMORY_STALL] = {ROLE(STALL), 0, false},
	[NVE_PMU_FORMULA_LOAD_RATIO] = {ROLE(STALL) | ROLE(MISS_LOCAL),
					ROLE(L2_HIT) | ROLE(LLC_HIT) | ROLE(MISS_REMOTE), true},
	[NVE_PMU_FORMULA_OVERLAP] = {ROLE(MISS_LOCAL) | ROLE(IN_FLIGHT) | ROLE(MISS_CYCLES),
				     ROLE(MISS_REMOTE), false},
	[NVE_PMU_FORMULA_READ_RATIO] = {ROLE(STALL) | ROLE(MISS_LOCAL) | ROLE(LL_READ), 0, false},
	[NVE_PMU_FORMULA_BACKEND_RATIO] = {ROLE(STALL) | ROLE(MISS_LOCAL) | ROLE(LL_READ), 0, true},
	/* never to be had */
	[NVE_PMU_FORMULA_NONE] = {UINT32_MAX, 0, false},
};

uint32_t nve_pmu_formula_needs(enum nve_pmu_formula formula)
{
	return roles[formula].needs;
}

uint32_t nve_pmu_formula_wants(enum nve_pmu_formula formula)
{
	return roles[formula].wants;
}

bool nve_pmu_formula_sees_walks(enum nve_pmu_formula formula)
{
	return roles[formula].walks;
}

/* A role that is not counted has been seen no time. */
static uint64_t count_of(const struct nve_pmu_counts *c, enum nve_pmu_role role)
{
	return c->has & 1u << role ? c->role[role] : 0;
}

static uint64_t narrow(wide value, uint64_t *clamps)
{
	if (value <= UINT64_MAX)
		return (uint64_t)value;
	++*clamps;
	return UINT64_MAX;
}

/* part of stall, in proportion to all; 64 bits of counts times 30 of picoseconds fit well. */
static uint64_t proportion(uint64_t stall, wide part, wide all)
{
	if (!all)
		return 0;
	/* For 128 bits: both are shortened alike until the product fits. */
	while (all >> 63) {
		all >>= 1;
		part >>= 1;
	}
	return (uint64_t)((wide)stall * part / all);
}

static uint64_t misses(const struct nve_pmu_counts *c)
{
	uint64_t local = count_of(c, NVE_PMU_MISS_LOCAL);
	uint64_t remote = count_of(c, NVE_PMU_MISS_REMOTE), sum;

	return __builtin_add_overflow(local, remote, &sum) ? UINT64_MAX : sum;
}

static uint64_t by_hits(const struct nve_pmu_counts *c, const struct nve_pmu_weights *w,
			uint64_t hits, uint64_t missed)
{
	wide part = (wide)missed * w->dram_ps;

	return proportion(count_of(c, NVE_PMU_STALL), part, (wide)hits * w->llc_ps + part);
}

static uint64_t by_loads(const struct nve_pmu_counts *c, const struct nve_pmu_weights *w)
{
	wide part = (wide)misses(c) * w->dram_ps;
	wide all = part + (wide)count_of(c, NVE_PMU_LLC_HIT) * w->llc_ps +
		   (wide)count_of(c, NVE_PMU_L2_HIT) * w->l2_ps;

	return proportion(count_of(c, NVE_PMU_STALL), part, all);
}

/* Misses that are in flight together share their latency. Fewer in flight than cycles with one in
 * flight cannot be. */
static uint64_t by_overlap(const struct nve_pmu_counts *c, const struct nve_pmu_weights *w,
			   uint64_t *clamps)
{
	uint64_t cycles = count_of(c, NVE_PMU_MISS_CYCLES);
	uint64_t in_flight = count_of(c, NVE_PMU_IN_FLIGHT);
	uint64_t serial_ns = narrow((wide)misses(c) * w->dram_ps / 1000, clamps);

	if (cycles > in_flight) {
		++*clamps;
		cycles = in_flight;
	}
	return proportion(serial_ns, cycles, in_flight);
}

static uint64_t by_reads(const struct nve_pmu_counts *c, const struct nve_pmu_weights *w,
			 uint64_t *clamps)
{
	uint64_t reads = count_of(c, NVE_PMU_LL_READ), missed = misses(c);

	if (missed > reads) {
		++*clamps;
		missed = reads;
	}
	return by_hits(c, w, reads - missed, missed);
}

uint64_t nve_pmu_formula_stall(enum nve_pmu_formula formula, const struct nve_pmu_counts *c,
			       const struct nve_pmu_weights *w, uint64_t *clamps)
{
	switch (formula) {
	case NVE_PMU_FORMULA_L2_RATIO:
		return by_hits(c, w, count_of(c, NVE_PMU_LLC_HIT), misses(c));
	case NVE_PMU_FORMULA_LLC_STALL:
	case NVE_PMU_FORMULA_MEMORY_STALL: return count_of(c, NVE_PMU_STALL);
	case NVE_PMU_FORMULA_LOAD_RATIO: return by_loads(c, w);
	case NVE_PMU_FORMULA_OVERLAP: return by_overlap(c, w, clamps);
	case NVE_PMU_FORMULA_READ_RATIO:
	case NVE_PMU_FORMULA_BACKEND_RATIO: return by_reads(c, w, clamps);
	default: return 0;
	}
}

int32_t nve_pmu_formula_dirty_ppm(uint64_t written, uint64_t all, uint64_t *clamps)
{
	if (!all)
		return -1;
	if (written > all) {
		++*clamps;
		return PPM;
	}
	return (int32_t)((wide)written * PPM / all);
}

uint64_t nve_pmu_formula_stall_wb(uint64_t stall_ns, uint32_t dirty_ppm)
{
	return (uint64_t)((wide)stall_ns * NVE_MIN(dirty_ppm, (uint32_t)PPM) / PPM);
}

uint64_t nve_pmu_formula_ns(uint64_t counts, uint64_t counts_per_ms)
{
	uint64_t ignored = 0;

	return counts_per_ms ? narrow((wide)counts * PPM / counts_per_ms, &ignored) : 0;
}
