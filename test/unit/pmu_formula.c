/* Equations 3, 7, 8, 9 and their variants against vectors computed by hand, and against limits. */
#include "unit.h"

#include "count/pmu/formula.h"

static const struct nve_pmu_weights w10 = {.l2_ps = 4000, .llc_ps = 12000, .dram_ps = 120000};

#define BIT(role) (1u << NVE_PMU_##role)

static struct nve_pmu_counts counts(uint64_t stall, uint64_t hits, uint64_t misses)
{
	struct nve_pmu_counts c = {.has = BIT(STALL) | BIT(LLC_HIT) | BIT(MISS_LOCAL)};

	c.role[NVE_PMU_STALL] = stall;
	c.role[NVE_PMU_LLC_HIT] = hits;
	c.role[NVE_PMU_MISS_LOCAL] = misses;
	return c;
}

static uint64_t stall(enum nve_pmu_formula formula, struct nve_pmu_counts c, uint64_t clamps_due)
{
	uint64_t clamps = 0, result = nve_pmu_formula_stall(formula, &c, &w10, &clamps);

	assert_int_equal(clamps, clamps_due);
	return result;
}

/* W = 10: 1,000 misses weigh 10,000 beside 3,000 hits: 10/13 of the stalls are theirs. */
static void equation_3(void **state)
{
	struct nve_pmu_counts c = counts(1300000, 3000, 1000);

	(void)state;
	assert_int_equal(stall(NVE_PMU_FORMULA_L2_RATIO, c, 0), 1000000);
	/* another node's memory is memory: 2,000 misses weigh 20,000 of 23,000 */
	c.has |= BIT(MISS_REMOTE);
	c.role[NVE_PMU_MISS_REMOTE] = 1000;
	c.role[NVE_PMU_STALL] = 2300000;
	assert_int_equal(stall(NVE_PMU_FORMULA_L2_RATIO, c, 0), 2000000);
	/* a role that is not counted does not count, whatever stands there */
	c.has &= ~BIT(MISS_REMOTE);
	c.role[NVE_PMU_STALL] = 1300000;
	assert_int_equal(stall(NVE_PMU_FORMULA_L2_RATIO, c, 0), 1000000);
	/* no event for hits: all stalls are misses', an upper bound */
	c.has &= ~BIT(LLC_HIT);
	assert_int_equal(stall(NVE_PMU_FORMULA_L2_RATIO, c, 0), 1300000);
}

static void zeros(void **state)
{
	(void)state;
	assert_int_equal(stall(NVE_PMU_FORMULA_L2_RATIO, counts(1300000, 0, 1000), 0), 1300000);
	assert_int_equal(stall(NVE_PMU_FORMULA_L2_RATIO, counts(1300000, 3000, 0), 0), 0);
	for (int f = 0; f < NVE_PMU_FORMULAS; f++) {
		struct nve_pmu_counts none = {.has = UINT32_MAX};

		assert_int_equal(stall(f, none, 0), 0);
		none.has = 0;
		assert_int_equal(stall(f, none, 0), 0);
		/* stalls of which nothing tells whose they are */
		if (f == NVE_PMU_FORMULA_LLC_STALL || f == NVE_PMU_FORMULA_MEMORY_STALL)
			continue;
		none.has = UINT32_MAX;
		none.role[NVE_PMU_STALL] = 5000;
		assert_int_equal(stall(f, none, 0), 0);
	}
}

static void stalls_as_they_are(void **state)
{
	(void)state;
	assert_int_equal(stall(NVE_PMU_FORMULA_LLC_STALL, counts(77, 3000, 1), 0), 77);
	assert_int_equal(stall(NVE_PMU_FORMULA_MEMORY_STALL, counts(78, 3000, 1), 0), 78);
}

/* 500 * 4 + 1000 * 12 + 100 * 120 = 2000 + 12000 + 12000 */
static void three_way(void **state)
{
	struct nve_pmu_counts c = counts(260000, 1000, 100);

	(void)state;
	c.has |= BIT(L2_HIT);
	c.role[NVE_PMU_L2_HIT] = 500;
	assert_int_equal(stall(NVE_PMU_FORMULA_LOAD_RATIO, c, 0), 120000);
}

/* 1,000 misses of 120 ns, three in flight on average: 40,000 ns */
static void overlap(void **state)
{
	struct nve_pmu_counts c = {.has = BIT(MISS_LOCAL) | BIT(IN_FLIGHT) | BIT(MISS_CYCLES)};

	(void)state;
	c.role[NVE_PMU_MISS_LOCAL] = 1000;
	c.role[NVE_PMU_IN_FLIGHT] = 300000;
	c.role[NVE_PMU_MISS_CYCLES] = 100000;
	assert_int_equal(stall(NVE_PMU_FORMULA_OVERLAP, c, 0), 40000);
	/* fewer in flight than cycles with one in flight */
	c.role[NVE_PMU_IN_FLIGHT] = 50000;
	assert_int_equal(stall(NVE_PMU_FORMULA_OVERLAP, c, 1), 120000);
}

/* reads are hits and misses: 4,000 of which 1,000 missed are equation_3's */
static void reads(void **state)
{
	struct nve_pmu_counts c = counts(1300000, 0, 1000);

	(void)state;
	c.has = BIT(STALL) | BIT(MISS_LOCAL) | BIT(LL_READ);
	c.role[NVE_PMU_LL_READ] = 4000;
	assert_int_equal(stall(NVE_PMU_FORMULA_READ_RATIO, c, 0), 1000000);
	assert_int_equal(stall(NVE_PMU_FORMULA_BACKEND_RATIO, c, 0), 1000000);
	c.role[NVE_PMU_LL_READ] = 900;
	assert_int_equal(stall(NVE_PMU_FORMULA_READ_RATIO, c, 1), 1300000);
}

static void equations_7_to_9(void **state)
{
	uint64_t clamps = 0;

	(void)state;
	/* the paper's example: 50,000 write-backs among 200,000 misses */
	assert_int_equal(nve_pmu_formula_dirty_ppm(50000, 200000, &clamps), 250000);
	assert_int_equal(nve_pmu_formula_stall_wb(1000000, 250000), 250000);
	assert_int_equal(nve_pmu_formula_dirty_ppm(0, 200000, &clamps), 0);
	assert_int_equal(nve_pmu_formula_stall_wb(1000000, 0), 0);
	assert_int_equal(clamps, 0);
	/* more written back than fetched: all of them, and told */
	assert_int_equal(nve_pmu_formula_dirty_ppm(200001, 200000, &clamps), 1000000);
	assert_int_equal(clamps, 1);
	/* nothing fetched: nothing known, and not "all are written back" */
	assert_int_equal(nve_pmu_formula_dirty_ppm(5, 0, &clamps), -1);
	assert_int_equal(nve_pmu_formula_dirty_ppm(0, 0, &clamps), -1);
	/* no more than the whole */
	assert_int_equal(nve_pmu_formula_stall_wb(1000, 2000000), 1000);
}

static void rates(void **state)
{
	(void)state;
	assert_int_equal(nve_pmu_formula_ns(5, 1000000), 5);
	/* 2.5 stall cycles in a nanosecond of misses */
	assert_int_equal(nve_pmu_formula_ns(2500000, 2500000), 1000000);
	assert_int_equal(nve_pmu_formula_ns(2500000, 0), 0);
	assert_true(nve_pmu_formula_ns(UINT64_MAX, 1) == UINT64_MAX);
}

/* A year at 5 GHz in one epoch, and the most that a counter holds: no overflow, never more than
 * the stalls themselves. */
static void limits(void **state)
{
	const uint64_t year = 365ull * 24 * 3600 * 5000000000, most[] = {year, UINT64_MAX};
	const struct nve_pmu_weights slow = {1000000000, 1000000000, 1000000000};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct nve_pmu_counts c = {.has = UINT32_MAX};
		uint64_t clamps = 0;

		for (int role = 0; role < NVE_PMU_ROLES; role++)
			c.role[role] = most[i];
		c.has &= ~BIT(MISS_REMOTE);
		for (int f = 0; f < NVE_PMU_FORMULA_NONE; f++) {
			uint64_t all = nve_pmu_formula_stall(f, &c, &slow, &clamps);

			if (f == NVE_PMU_FORMULA_OVERLAP)
				assert_true(all > most[i] / 2);
			else
				assert_true(all > most[i] / 4 && all <= most[i]);
		}
		assert_int_equal(nve_pmu_formula_dirty_ppm(most[i], most[i], &clamps), 1000000);
		assert_true(nve_pmu_formula_stall_wb(most[i], 500000) == most[i] / 2);
	}
	/* half of the misses' weight stays half, however large the numbers */
	assert_true(stall(NVE_PMU_FORMULA_L2_RATIO, counts(year, year, year / 10), 0) - year / 2 <
		    1000);
}

static void every_formula_needs_something(void **state)
{
	(void)state;
	for (int f = 0; f < NVE_PMU_FORMULAS; f++) {
		assert_true(nve_pmu_formula_needs(f) != 0);
		assert_int_equal(nve_pmu_formula_needs(f) & nve_pmu_formula_wants(f), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equation_3),
		cmocka_unit_test(zeros),
		cmocka_unit_test(stalls_as_they_are),
		cmocka_unit_test(three_way),
		cmocka_unit_test(overlap),
		cmocka_unit_test(reads),
		cmocka_unit_test(equations_7_to_9),
		cmocka_unit_test(rates),
		cmocka_unit_test(limits),
		cmocka_unit_test(every_formula_needs_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
