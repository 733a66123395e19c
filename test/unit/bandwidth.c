/* What a thread's traffic adds to its delay, in exact numbers. */
#include "unit.h"

#include "emu/bandwidth.h"

enum { US = 1000, MS = 1000 * US };

static struct nve_bandwidth thread[2];

static uint64_t serve(int number, double read, double written, uint64_t now_ns, uint64_t ran_ns,
		      uint64_t waited_ns)
{
	const struct nve_stream_bytes moved = {.read = read, .written = written};
	const struct nve_bandwidth_stretch stretch = {now_ns, ran_ns, waited_ns};

	return nve_bandwidth_serve(&thread[number], (uint64_t)number, &moved, &stretch);
}

static int setup(void **state)
{
	(void)state;
	thread[0] = thread[1] = (struct nve_bandwidth){0};
	nve_bandwidth_setup(2000000000, 1000000000); /* 2 and 1 bytes a ns */
	return 0;
}

/* Reads and writes go at the same time: the longer of both, less what it ran. */
static void longer_of_both(void **state)
{
	struct nve_epoch epoch = {0};

	(void)state;
	assert_int_equal(serve(0, 4e6, 1e6, 10 * MS, MS / 2, 0), 3 * MS / 2);
	assert_int_equal(serve(0, 4e6, 3e6, 20 * MS, MS / 2, 0), 5 * MS / 2);
	assert_int_equal(serve(0, 1e6, 5e5, 30 * MS, MS / 2, 0), 0);
	nve_bandwidth_epoch(&thread[0], &epoch);
	assert_int_equal(epoch.bandwidth_ns, 4 * MS);
	nve_bandwidth_epoch(&thread[0], &epoch);
	assert_int_equal(epoch.bandwidth_ns, 0);
}

/* It was without a core for 1 ms before it ran: it waits so much less, and no less than nothing. */
static void no_core_no_transfer(void **state)
{
	(void)state;
	assert_int_equal(serve(0, 4e6, 0, 10 * MS, MS / 2, 0), 3 * MS / 2);
	assert_int_equal(serve(0, 4e6, 0, 13 * MS, MS / 2, MS), MS / 2);
	assert_int_equal(serve(0, 4e6, 0, 20 * MS, MS / 2, 5 * MS), 0);
	/* what is left of the 5 ms, 3.5 ms, serves the next two */
	assert_int_equal(serve(0, 4e6, 0, 20 * MS + MS / 2, MS / 2, 0), 0);
	assert_int_equal(serve(0, 6e6, 0, 21 * MS, MS / 2, 0), MS / 2);
	assert_int_equal(serve(0, 4e6, 0, 22 * MS, MS / 2, 0), 3 * MS / 2);
}

/* Two that want more than half take turns. One that wants less is not held up by the other,
 * who waits for both. */
static void fair_shares(void **state)
{
	(void)state;
	serve(0, 4e6, 0, 10 * MS, MS / 2, 0);
	serve(1, 4e6, 0, 10 * MS, MS / 2, 0);
	assert_int_equal(serve(0, 4e6, 0, 14 * MS, MS / 2, 0), 3 * MS / 2);
	assert_int_equal(serve(1, 4e6, 0, 14 * MS, MS / 2, 0), 7 * MS / 2);
	setup(NULL);
	serve(0, 40e6, 0, 10 * MS, MS / 2, 0); /* until 29.5 ms */
	assert_int_equal(serve(1, 4e6, 0, 14 * MS, 4 * MS, 0), 0);
	assert_int_equal(serve(0, 4e6, 0, 30 * MS, MS / 2, 0), 7 * MS / 2);
}

/* A thread that waits for something is asked again soon, and at last seldom. */
static void looks(void **state)
{
	uint64_t waited_ns = 0;

	(void)state;
	for (uint32_t waits = 0; waits < 32; waits++)
		assert_int_equal(nve_bandwidth_fine_ns(waits), MS / 2);
	assert_int_equal(nve_bandwidth_fine_ns(32), MS);
	assert_int_equal(nve_bandwidth_fine_ns(1023), 16 * MS);
	assert_int_equal(nve_bandwidth_fine_ns(1024), 32 * MS);
	for (uint32_t waits = 0; waits < 4096; waits++) {
		waited_ns += nve_bandwidth_fine_ns(waits);
		assert_true(16 * nve_bandwidth_fine_ns(waits + 1) <= waited_ns + 8 * MS);
	}
	assert_int_equal(nve_bandwidth_fine_ns(1000000), 32 * MS);
}

static void who_is_looked_at(void **state)
{
	struct nve_stream_bytes rate = {.read = 0.4};

	(void)state;
	assert_false(nve_bandwidth_wants_fine(&rate, true));
	assert_true(nve_bandwidth_wants_fine(&rate, false));
	rate.written = 0.3;
	assert_true(nve_bandwidth_wants_fine(&rate, true));
	rate.read = rate.written = 0.01;
	assert_false(nve_bandwidth_wants_fine(&rate, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(longer_of_both, setup),
		cmocka_unit_test_setup(no_core_no_transfer, setup),
		cmocka_unit_test_setup(fair_shares, setup),
		cmocka_unit_test_setup(looks, setup),
		cmocka_unit_test_setup(who_is_looked_at, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
