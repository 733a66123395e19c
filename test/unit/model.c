/* The delay model against vectors computed by hand (doc: the equations' numbers are the paper's).
 */
#include "unit.h"

#include "emu/model.h"

static struct nve_model_delay delay(uint64_t rlat_ps, uint64_t wlat_ps, uint64_t stall_ns,
				    uint64_t wb_ns)
{
	struct nve_model_target target = {.rlat_ps = rlat_ps, .wlat_ps = wlat_ps};
	struct nve_epoch epoch = {.cpu_ns = 20000000,
				  .stall_ns = stall_ns,
				  .stall_wb_ns = wb_ns,
				  .latency_ps = 100000,
				  .dram_lat_ps = 100000};
	struct nve_model_carry carry = {0};

	return nve_model_delay(&target, &epoch, &carry);
}

/* 1 ms of stall, a quarter of it on write-backs, DRAM 100 ns: 2500 and 7500 accesses. */
static void equation_5_and_6(void **state)
{
	struct nve_model_delay d = delay(150000, 600000, 1000000, 250000);

	(void)state;
	assert_int_equal(d.ma_wb, 2500);
	assert_int_equal(d.ma_ro, 7500);
	assert_int_equal(d.delay_ns, 2500 * 500 + 7500 * 50);
	assert_int_equal(d.clamps, 0);
	d = delay(0, 600000, 1000000, 250000);
	assert_int_equal(d.delay_ns, 2500 * 500);
	d = delay(150000, 0, 1000000, 250000);
	assert_int_equal(d.delay_ns, 7500 * 50);
	d = delay(100000, 100000, 1000000, 250000);
	assert_int_equal(d.delay_ns, 0);
	assert_int_equal(d.clamps, 0);
}

/* The latency that converts time into a count is the program's, what is subtracted is DRAM's. */
static void two_latencies(void **state)
{
	struct nve_model_target target = {.rlat_ps = 300000};
	struct nve_epoch epoch = {.stall_ns = 1600000, .latency_ps = 160000, .dram_lat_ps = 120000};
	struct nve_model_carry carry = {0};
	struct nve_model_delay d = nve_model_delay(&target, &epoch, &carry);

	(void)state;
	assert_int_equal(d.ma_ro, 10000);
	assert_int_equal(d.delay_ns, 10000 * 180);
}

static void symmetric(void **state)
{
	struct nve_model_target target = {.rlat_ps = 200000, .wlat_ps = 900000, .symmetric = true};
	struct nve_epoch epoch = {.stall_ns = 1000000,
				  .stall_wb_ns = 400000,
				  .latency_ps = 100000,
				  .dram_lat_ps = 100000};
	struct nve_model_carry carry = {0};

	(void)state;
	assert_int_equal(nve_model_delay(&target, &epoch, &carry).delay_ns, 10000 * 100);
	target.rlat_ps = 0;
	assert_int_equal(nve_model_delay(&target, &epoch, &carry).delay_ns, 10000 * 800);
	/* Both alike: equation 5 says the same. */
	target = (struct nve_model_target){.rlat_ps = 900000, .wlat_ps = 900000};
	assert_int_equal(nve_model_delay(&target, &epoch, &carry).delay_ns, 10000 * 800);
}

static void limits(void **state)
{
	struct nve_model_target target = {.rlat_ps = 300000, .wlat_ps = 300000};
	struct nve_epoch epoch = {.stall_ns = 1000, .dram_lat_ps = 100000};
	struct nve_model_carry carry = {0};
	struct nve_model_delay d;

	(void)state;
	/* no latency known */
	d = nve_model_delay(&target, &epoch, &carry);
	assert_int_equal(d.delay_ns + d.ma_ro + d.ma_wb, 0);
	assert_int_equal(d.clamps, 1);
	epoch.stall_ns = 0;
	assert_int_equal(nve_model_delay(&target, &epoch, &carry).clamps, 0);
	/* no stall */
	assert_int_equal(delay(300000, 300000, 0, 0).delay_ns, 0);
	/* a target below DRAM of the moment: no delay, and no negative one */
	d = delay(99999, 300000, 1000000, 500000);
	assert_int_equal(d.delay_ns, 5000 * 200);
	assert_int_equal(d.clamps, 1);
	assert_int_equal(delay(99999, 99999, 1000000, 500000).clamps, 2);
	/* more write-back stall than stall */
	d = delay(200000, 300000, 1000000, 2000000);
	assert_int_equal(d.ma_wb, 10000);
	assert_int_equal(d.ma_ro, 0);
	assert_int_equal(d.clamps, 1);
}

/* A year in one epoch, all of it stall, at the slowest memory there may be. */
static void overflow(void **state)
{
	const uint64_t year_ns = 365ull * 24 * 3600 * 1000000000;
	struct nve_model_target target = {.rlat_ps = 1000000000, .wlat_ps = 1000000000};
	struct nve_epoch epoch = {.cpu_ns = year_ns,
				  .stall_ns = year_ns,
				  .stall_wb_ns = year_ns / 2,
				  .latency_ps = 100000,
				  .dram_lat_ps = 100000};
	struct nve_model_carry carry = {0};
	struct nve_model_delay d = nve_model_delay(&target, &epoch, &carry);

	(void)state;
	assert_true(d.ma_ro == year_ns / 200 && d.ma_wb == year_ns / 200);
	/* 9999 times the year does not fit 64 bits of picoseconds, but does fit nanoseconds up to
	 * 584 years; more than that cannot be owed. */
	assert_true(carry.delay_ps < 1000 && carry.ro_ps < 100000 && carry.wb_ps < 100000);
	target.rlat_ps = target.wlat_ps = 1100000;
	d = nve_model_delay(&target, &epoch, &carry);
	assert_true(d.delay_ns == year_ns / 100 * 1000);
}

/* What many short epochs owe is what one long one owes, to the nanosecond. */
static void remainders(void **state)
{
	struct nve_model_target target = {.rlat_ps = 212345, .wlat_ps = 634567};
	struct nve_epoch epoch = {.latency_ps = 123457, .dram_lat_ps = 98765};
	struct nve_model_carry carry = {0}, carry_once = {0};
	struct nve_model_delay once;
	uint64_t stall = 0, wb = 0, owed = 0, ro = 0, all_wb = 0;
	uint32_t x = 1;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct nve_model_delay d;

		x = x * 1664525u + 1013904223u;
		epoch.stall_ns = x >> 16;
		epoch.stall_wb_ns = epoch.stall_ns * (x & 255) / 255;
		d = nve_model_delay(&target, &epoch, &carry);
		stall += epoch.stall_ns;
		wb += epoch.stall_wb_ns;
		owed += d.delay_ns;
		ro += d.ma_ro;
		all_wb += d.ma_wb;
	}
	epoch.stall_ns = stall;
	epoch.stall_wb_ns = wb;
	once = nve_model_delay(&target, &epoch, &carry_once);
	assert_int_equal(owed, once.delay_ns);
	assert_int_equal(ro, once.ma_ro);
	assert_int_equal(all_wb, once.ma_wb);
	assert_memory_equal(&carry, &carry_once, sizeof(carry));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equation_5_and_6), cmocka_unit_test(two_latencies),
		cmocka_unit_test(symmetric),        cmocka_unit_test(limits),
		cmocka_unit_test(overflow),         cmocka_unit_test(remainders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
