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

/* Only what is on NVM earns delay, reads and writes apart; all is counted. */
static void placed(void **state)
{
	struct nve_model_target target = {.rlat_ps = 150000, .wlat_ps = 600000};
	struct nve_epoch epoch = {.stall_ns = 1000000,
				  .stall_wb_ns = 250000,
				  .latency_ps = 100000,
				  .dram_lat_ps = 100000,
				  .dram_ro_ppm = 900000,
				  .dram_wb_ppm = 200000};
	struct nve_model_carry carry = {0};
	struct nve_model_delay d = nve_model_delay(&target, &epoch, &carry);

	(void)state;
	assert_int_equal(d.ma_wb, 2500);
	assert_int_equal(d.ma_ro, 7500);
	assert_int_equal(d.nvm_ma_wb, 2000);
	assert_int_equal(d.nvm_ma_ro, 750);
	assert_int_equal(d.delay_ns, 2000 * 500 + 750 * 50);
	epoch.dram_ro_ppm = epoch.dram_wb_ppm = 1000000;
	d = nve_model_delay(&target, &epoch, &carry);
	assert_int_equal(d.delay_ns + d.nvm_ma_ro + d.nvm_ma_wb + d.clamps, 0);
	assert_int_equal(d.ma_ro, 7500);
	/* equation 1, too */
	target.symmetric = true;
	epoch.dram_ro_ppm = 0;
	assert_int_equal(nve_model_delay(&target, &epoch, &carry).delay_ns, 7500 * 50);
	/* more than all is all, and told */
	epoch.dram_ro_ppm = 1000001;
	d = nve_model_delay(&target, &epoch, &carry);
	assert_int_equal(d.delay_ns, 0);
	assert_int_equal(d.clamps, 1);
}

/* Short epochs with any parts: the sum over them in exact arithmetic. */
static void placed_remainders(void **state)
{
	struct nve_model_target target = {.rlat_ps = 300000, .wlat_ps = 300000};
	struct nve_epoch epoch = {.latency_ps = 123457, .dram_lat_ps = 98765};
	struct nve_model_carry carry = {0};
	uint64_t nvm_ro_ps = 0, nvm_wb_ps = 0, owed = 0, ro = 0, wb = 0;
	uint32_t x = 1;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct nve_model_delay d;

		x = x * 1664525u + 1013904223u;
		epoch.stall_ns = x >> 16;
		epoch.stall_wb_ns = epoch.stall_ns * (x & 255) / 255;
		epoch.dram_ro_ppm = x % 1001 * 1000;
		epoch.dram_wb_ppm = x % 997 * 1000;
		nvm_wb_ps += epoch.stall_wb_ns * (1000000 - epoch.dram_wb_ppm) / 1000;
		nvm_ro_ps +=
			(epoch.stall_ns - epoch.stall_wb_ns) * (1000000 - epoch.dram_ro_ppm) / 1000;
		d = nve_model_delay(&target, &epoch, &carry);
		owed += d.delay_ns;
		ro += d.nvm_ma_ro;
		wb += d.nvm_ma_wb;
	}
	assert_int_equal(ro, nvm_ro_ps / 123457);
	assert_int_equal(wb, nvm_wb_ps / 123457);
	assert_int_equal(owed, (ro + wb) * (300000 - 98765) / 1000);
}

/* A target that equals DRAM's latency in force owes nothing when that drifts; another one does. */
static void own_latency(void **state)
{
	struct nve_model_target target = {.rlat_ps = 100000, .wlat_ps = 300000, .own_ps = 100000};
	struct nve_epoch epoch = {.stall_ns = 900000,
				  .stall_wb_ns = 450000,
				  .latency_ps = 90000,
				  .dram_lat_ps = 90000};
	struct nve_model_carry carry = {0};

	(void)state;
	assert_int_equal(nve_model_delay(&target, &epoch, &carry).delay_ns, 5000 * 210);
	target.symmetric = true;
	assert_int_equal(nve_model_delay(&target, &epoch, &carry).delay_ns, 0);
	epoch.dram_lat_ps = epoch.latency_ps = 110000;
	target.symmetric = false;
	target.wlat_ps = 0;
	assert_int_equal(nve_model_delay(&target, &epoch, &carry).clamps, 0);
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
	/* 9999 years: more than the 584 that 64 bits of nanoseconds hold cannot be owed. */
	assert_true(d.delay_ns == UINT64_MAX && d.clamps == 1);
	assert_true(carry.delay_ps < 1000 && carry.ro_ps < 100000 && carry.wb_ps < 100000);
	target.rlat_ps = target.wlat_ps = 1100000;
	d = nve_model_delay(&target, &epoch, &carry);
	assert_true(d.delay_ns == year_ns / 100 * 1000);
}

static uint64_t random_below(uint64_t *x, uint64_t limit)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return (uint64_t)((unsigned __int128)*x * limit >> 64);
}

/*
 * A year of epochs of the greatest length, with any shares and latencies: what comes out is what
 * equations 5 and 6 give for each, in exact arithmetic, and remainders stay remainders.
 */
static void year(void **state)
{
	enum { SECONDS = 365 * 24 * 3600, STEP = 16 };
	struct nve_model_target target = {.rlat_ps = 50000000, .wlat_ps = 60000000};
	struct nve_epoch epoch = {.cpu_ns = 1000000000};
	struct nve_model_carry carry = {0};
	unsigned __int128 ro_ps = 0, wb_ps = 0, owed_ps = 0, owed_ns = 0;
	uint64_t x = 1, ma_ro = 0, ma_wb = 0;

	(void)state;
	epoch.latency_ps = 150001;
	for (int i = 0; i < SECONDS; i += STEP) {
		struct nve_model_delay d;

		epoch.stall_ns = STEP * random_below(&x, epoch.cpu_ns + 1);
		epoch.stall_wb_ns = random_below(&x, epoch.stall_ns + 1);
		epoch.dram_lat_ps = 80000 + random_below(&x, 70000);
		wb_ps += (unsigned __int128)epoch.stall_wb_ns * 1000;
		ro_ps += (unsigned __int128)(epoch.stall_ns - epoch.stall_wb_ns) * 1000;
		d = nve_model_delay(&target, &epoch, &carry);
		assert_int_equal(d.clamps, 0);
		ma_ro += d.ma_ro;
		ma_wb += d.ma_wb;
		owed_ns += d.delay_ns;
		owed_ps += (unsigned __int128)d.ma_ro * (target.rlat_ps - epoch.dram_lat_ps) +
			   (unsigned __int128)d.ma_wb * (target.wlat_ps - epoch.dram_lat_ps);
		if (carry.delay_ps >= 1000 || carry.ro_ps >= 150001 || carry.wb_ps >= 150001)
			fail_msg("a remainder that is none, second %d", i);
	}
	assert_true(ma_ro == ro_ps / epoch.latency_ps && ma_wb == wb_ps / epoch.latency_ps);
	assert_true(owed_ns == owed_ps / 1000 && owed_ns <= UINT64_MAX);
	assert_true(carry.delay_ps == owed_ps % 1000);
}

/* Anything at all: never less than nothing, never more than the equations say without rounding. */
static void anything(void **state)
{
	uint64_t x = 7;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct nve_model_target target = {.rlat_ps = random_below(&x, 1000000001),
						  .wlat_ps = random_below(&x, 1000000001),
						  .symmetric = i % 7 == 0};
		struct nve_epoch epoch = {.stall_ns = random_below(&x, UINT64_MAX) >> i % 64,
					  .stall_wb_ns = random_below(&x, UINT64_MAX) >> i % 61,
					  .latency_ps =
						  random_below(&x, UINT64_MAX) >> (i % 63 + 1),
					  .dram_lat_ps = random_below(&x, 300000)};
		struct nve_model_carry carry = {0};
		struct nve_model_delay d = nve_model_delay(&target, &epoch, &carry);
		uint64_t highest =
			target.rlat_ps > target.wlat_ps ? target.rlat_ps : target.wlat_ps;
		unsigned __int128 stall_ps = (unsigned __int128)epoch.stall_ns * 1000, most;

		if (!epoch.latency_ps) {
			assert_true(d.delay_ns + d.ma_ro + d.ma_wb == 0);
			continue;
		}
		most = stall_ps / epoch.latency_ps;
		assert_true((unsigned __int128)d.ma_ro + d.ma_wb <= most);
		/* The greatest latency that may be set times the most accesses that fit 128 bits.
		 */
		assert_true(d.delay_ns <= most * highest / 1000);
		assert_true(carry.delay_ps < 1000);
	}
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

/* The larger of two demands, and neither has a say in the other. */
static void bandwidth(void **state)
{
	struct nve_model_target target = {.rlat_ps = 300000};
	struct nve_epoch epoch = {.stall_ns = 1000000,
				  .latency_ps = 100000,
				  .dram_lat_ps = 100000,
				  .bandwidth_ns = 1500000};
	struct nve_model_carry carry = {0};
	struct nve_model_delay d = nve_model_delay(&target, &epoch, &carry);

	(void)state;
	assert_int_equal(d.delay_ns, 2000000);
	assert_int_equal(d.larger_ns, 2000000);
	epoch.bandwidth_ns = 2500000;
	d = nve_model_delay(&target, &epoch, &carry);
	assert_int_equal(d.delay_ns, 2000000);
	assert_int_equal(d.larger_ns, 2500000);
	/* Bandwidth alone: no latency is emulated, or none was seen. */
	target.rlat_ps = 0;
	assert_int_equal(nve_model_delay(&target, &epoch, &carry).larger_ns, 2500000);
	epoch.latency_ps = 0;
	assert_int_equal(nve_model_delay(&target, &epoch, &carry).larger_ns, 2500000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equation_5_and_6),
		cmocka_unit_test(two_latencies),
		cmocka_unit_test(placed),
		cmocka_unit_test(placed_remainders),
		cmocka_unit_test(own_latency),
		cmocka_unit_test(symmetric),
		cmocka_unit_test(limits),
		cmocka_unit_test(overflow),
		cmocka_unit_test(year),
		cmocka_unit_test(anything),
		cmocka_unit_test(remainders),
		cmocka_unit_test(bandwidth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
