/* The part of a thread's accesses on DRAM: whose windows tell it, what each counts, its error. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "emu/tiers.h"

static struct nve_tiers t;
static struct nve_tiers_process process;
static struct nve_epoch epoch;

static int clear(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	memset(&process, 0, sizeof(process));
	memset(&epoch, 0, sizeof(epoch));
	return 0;
}

/* So many reads and writes on each tier. */
static void window(int nvm_reads, int dram_reads, int nvm_writes, int dram_writes, double share)
{
	for (int i = 0; i < nvm_reads; i++)
		nve_tiers_add(&t, 1, 0, NVE_TIER_NVM);
	for (int i = 0; i < dram_reads; i++)
		nve_tiers_add(&t, 1, 0, NVE_TIER_DRAM);
	for (int i = 0; i < nvm_writes; i++)
		nve_tiers_add(&t, 1, 1, NVE_TIER_NVM);
	for (int i = 0; i < dram_writes; i++)
		nve_tiers_add(&t, 1, 1, NVE_TIER_DRAM);
	nve_tiers_end_window(&t, &process, share);
}

static void end(enum nve_tier usual)
{
	nve_tiers_end_epoch(&t, &process, usual, &epoch);
}

static void reads_and_writes_apart(void **state)
{
	(void)state;
	window(90, 10, 20, 60, 0.5);
	end(NVE_TIER_NVM);
	assert_int_equal(epoch.dram_ro_ppm, 100000);
	assert_int_equal(epoch.dram_wb_ppm, 750000);
	assert_int_equal(t.counts.epochs[NVE_TIERS_READ][NVE_TIERS_EPOCH], 1);
	assert_int_equal(t.counts.epochs[NVE_TIERS_WRITE][NVE_TIERS_EPOCH], 1);
	assert_int_equal(t.counts.misses[NVE_TIERS_READ][NVE_TIER_NVM], 90);
	assert_int_equal(t.counts.misses[NVE_TIERS_WRITE][NVE_TIER_DRAM], 60);
	/* lines that may get written are partly both */
	nve_tiers_add(&t, 3, 0.25, NVE_TIER_DRAM);
	nve_tiers_add(&t, 1, 0.25, NVE_TIER_NVM);
	nve_tiers_add(&t, 2, 1, NVE_TIER_NVM);
	nve_tiers_end_window(&t, &process, 1);
	end(NVE_TIER_NVM);
	assert_int_equal(epoch.dram_ro_ppm, 750000);
	assert_int_equal(epoch.dram_wb_ppm, 250000);
}

/* A window with many accesses says no more than one with few that stalls for as long. */
static void by_stall_share(void **state)
{
	(void)state;
	window(10, 0, 0, 0, 0.3);
	window(0, 500, 0, 0, 0.1);
	end(NVE_TIER_NVM);
	assert_int_equal(epoch.dram_ro_ppm, 250000);
	/* nothing seen, nothing counted */
	nve_tiers_end_window(&t, &process, 1);
	window(5, 5, 0, 0, 0);
	end(NVE_TIER_NVM);
	assert_int_equal(t.counts.epochs[NVE_TIERS_READ][NVE_TIERS_THREAD], 1);
}

/* Each epoch by its own windows: phases do not mix. */
static void phases(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		window(100, 0, 0, 0, 0.9);
		end(NVE_TIER_NVM);
		assert_int_equal(epoch.dram_ro_ppm, 0);
		window(0, 100, 0, 0, 0.9);
		end(NVE_TIER_NVM);
		assert_int_equal(epoch.dram_ro_ppm, 1000000);
	}
	/* without windows of its own: both alike */
	end(NVE_TIER_NVM);
	assert_true(fabs(epoch.dram_ro_ppm - 500000.0) < 100000);
	assert_int_equal(t.counts.epochs[NVE_TIERS_READ][NVE_TIERS_THREAD], 1);
	assert_int_equal(t.counts.epochs[NVE_TIERS_READ][NVE_TIERS_EPOCH], 20);
}

static void the_past_fades(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		window(100, 0, 0, 0, 0.9);
	end(NVE_TIER_NVM);
	for (int i = 0; i < 200; i++)
		window(0, 100, 0, 0, 0.9);
	end(NVE_TIER_NVM);
	end(NVE_TIER_NVM);
	assert_true(epoch.dram_ro_ppm > 990000);
	/* of its life it keeps all */
	assert_true(fabs(nve_tiers_part(&t.life, NVE_TIERS_READ) - 1 / 6.0) < 1e-9);
}

static void fallbacks(void **state)
{
	static struct nve_tiers other;

	(void)state;
	end(NVE_TIER_NVM);
	assert_int_equal(epoch.dram_ro_ppm, 0);
	assert_int_equal(epoch.dram_ro_se_ppm, 1000000);
	end(NVE_TIER_DRAM);
	assert_int_equal(epoch.dram_ro_ppm, 1000000);
	assert_int_equal(t.counts.epochs[NVE_TIERS_WRITE][NVE_TIERS_DEFAULT], 2);
	/* another thread of the process knows */
	nve_tiers_add(&other, 1, 0, NVE_TIER_DRAM);
	nve_tiers_add(&other, 3, 0, NVE_TIER_NVM);
	nve_tiers_end_window(&other, &process, 0.8);
	end(NVE_TIER_DRAM);
	assert_int_equal(epoch.dram_ro_ppm, 250000);
	assert_int_equal(epoch.dram_ro_se_ppm, 1000000);
	assert_int_equal(epoch.dram_wb_ppm, 1000000);
	assert_int_equal(t.counts.epochs[NVE_TIERS_READ][NVE_TIERS_PROCESS], 1);
	/* crumbs of writes do not decide on writes while there is better */
	window(0, 0, 100, 0, 0.5);
	window(0, 0, 100, 0, 0.5);
	end(NVE_TIER_DRAM);
	window(1000, 0, 0, 1, 0.5);
	end(NVE_TIER_DRAM);
	assert_true(epoch.dram_wb_ppm < 10000);
	assert_int_equal(t.counts.epochs[NVE_TIERS_WRITE][NVE_TIERS_THREAD], 1);
}

static uint64_t random_below(uint64_t *x, uint64_t limit)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return (uint64_t)((unsigned __int128)*x * limit >> 64);
}

/* The standard error is that of many such runs: 200 of 64 windows of 250 accesses each. */
static void errors(void **state)
{
	enum { RUNS = 200, WINDOWS = 64, ACCESSES = 250 };
	double sum = 0, squares = 0, said = 0, spread;
	uint64_t x = 1;

	(void)state;
	for (int run = 0; run < RUNS; run++) {
		double part;

		memset(&t, 0, sizeof(t));
		for (int w = 0; w < WINDOWS; w++) {
			int dram = 0;

			for (int i = 0; i < ACCESSES; i++)
				dram += random_below(&x, 10) == 0;
			window(ACCESSES - dram, dram, 0, 0, 0.4 + (double)random_below(&x, 4) / 10);
		}
		part = nve_tiers_part(&t.life, NVE_TIERS_READ);
		sum += part;
		squares += part * part;
		said += nve_tiers_se(&t.life, NVE_TIERS_READ);
	}
	assert_true(fabs(sum / RUNS - 0.1) < 0.001);
	spread = sqrt(squares / RUNS - sum / RUNS * sum / RUNS);
	assert_true(fabs(said / RUNS / spread - 1) < 0.2);
	/* an epoch of four windows is four times less sure than 64 */
	end(NVE_TIER_NVM);
	for (int w = 0; w < 4; w++)
		window(225 + w % 2, 25 - w % 2, 0, 0, 0.5);
	end(NVE_TIER_NVM);
	assert_true(epoch.dram_ro_se_ppm > 2 * 1e6 * said / RUNS);
	assert_true(epoch.dram_ro_se_ppm < 8 * 1e6 * said / RUNS);
}

static void one_window_knows_no_error(void **state)
{
	(void)state;
	window(5, 5, 0, 0, 0.5);
	assert_true(nve_tiers_se(&t.life, NVE_TIERS_READ) == 1);
	assert_true(nve_tiers_part(&t.life, NVE_TIERS_WRITE) == 0);
	end(NVE_TIER_NVM);
	assert_int_equal(epoch.dram_ro_se_ppm, 1000000);
	assert_int_equal(epoch.dram_ro_ppm, 500000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(reads_and_writes_apart, clear),
		cmocka_unit_test_setup(by_stall_share, clear),
		cmocka_unit_test_setup(phases, clear),
		cmocka_unit_test_setup(the_past_fades, clear),
		cmocka_unit_test_setup(fallbacks, clear),
		cmocka_unit_test_setup(errors, clear),
		cmocka_unit_test_setup(one_window_knows_no_error, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
