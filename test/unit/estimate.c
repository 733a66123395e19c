/* Delay owed since the last epoch, estimated. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "emu/estimate.h"

enum { KHZ = 2000000, MS = 1000000, CHASE = 0x1000, COMPUTE = 0x2010 };

static struct nve_estimate e;
static uint64_t cpu_ns;

static int set_up(void **state)
{
	(void)state;
	memset(&e, 0, sizeof(e));
	cpu_ns = 5 * (uint64_t)MS;
	nve_estimate_clear(&e, KHZ, cpu_ns);
	return 0;
}

/* So much time passes in a stretch, by both clocks. */
static double pass(uint64_t address, uint64_t ns)
{
	nve_estimate_begin(&e, address, cpu_ns * 2);
	cpu_ns += ns;
	return nve_estimate_end(&e, cpu_ns * 2);
}

/* Samples of stretches in which nothing, or all of the time, is stall. */
static void learn(int samples)
{
	for (int i = 0; i < samples; i++) {
		nve_estimate_begin(&e, CHASE, 0);
		nve_estimate_learn(&e, true, 4 * MS, 4 * MS, 2.5, 1);
		nve_estimate_begin(&e, COMPUTE, 0);
		nve_estimate_learn(&e, true, 4 * MS, 0, 2.5, 1);
	}
	e.running = false;
}

static bool near(double a, double b, double part)
{
	return fabs(a - b) <= part * fabs(b);
}

static void nothing_owed(void **state)
{
	(void)state;
	assert_true(pass(CHASE, 4 * MS) == 0);
	assert_false(nve_estimate_learn(&e, true, 4 * MS, 0, 2.5, 1));
	assert_false(nve_estimate_learn(&e, true, 4 * MS, 4 * MS, 0, 1));
	assert_true(nve_estimate_learn(&e, true, 4 * MS, 4 * MS, 2.5, 1));
	nve_estimate_check(&e, cpu_ns);
	assert_true(nve_estimate_due(&e, 0) == 0);
}

static void stretches_apart(void **state)
{
	double delay;

	(void)state;
	learn(200);
	delay = pass(CHASE, 100000);
	assert_true(near(delay, 250000, 0.01));
	assert_true(pass(COMPUTE, 100000) - delay < 0.02 * delay);
	/* One that is new has the thread's mean. */
	delay = nve_estimate_end(&e, 0);
	assert_true(near(pass(0x777000, 100000) - delay, 125000, 0.01));
	/* A wait is no stretch. */
	delay = nve_estimate_end(&e, 0);
	cpu_ns += MS;
	assert_true(nve_estimate_end(&e, cpu_ns * 2) == delay);
}

/* The thread slept: the CPU clock says so. */
static void slept(void **state)
{
	(void)state;
	learn(200);
	pass(CHASE, 100 * MS);
	nve_estimate_check(&e, cpu_ns - 99 * MS);
	assert_true(near(nve_estimate_due(&e, 0), 2.5 * MS, 0.01));
}

static void paid_is_paid(void **state)
{
	double due;

	(void)state;
	learn(200);
	pass(CHASE, MS);
	nve_estimate_check(&e, cpu_ns);
	due = nve_estimate_due(&e, 0);
	assert_true(near(due, 2.5 * MS, 0.01));
	nve_estimate_paid(&e, cpu_ns + 2500000);
	assert_true(nve_estimate_due(&e, -due) == 0);
	assert_true(nve_estimate_is_active(&e, cpu_ns + 2500000));
	assert_false(nve_estimate_is_active(&e, cpu_ns + 1000 * (uint64_t)MS));
	/* A tick that serves all leaves nothing for what comes next. */
	pass(CHASE, MS);
	nve_estimate_check(&e, cpu_ns + 2500000);
	nve_estimate_served(&e);
	assert_true(nve_estimate_due(&e, 0) == 0);
}

/* A rest is made good bit by bit, within bounds, and only where delay is owed. */
static void rest_bounded(void **state)
{
	(void)state;
	learn(200);
	pass(CHASE, MS);
	nve_estimate_check(&e, cpu_ns);
	assert_true(near(nve_estimate_due(&e, 25.0 * MS), 2.5 * MS * 1.1, 0.01));
	assert_true(near(nve_estimate_due(&e, -25.0 * MS), 2.5 * MS * 0.9, 0.01));
	assert_true(near(nve_estimate_due(&e, 1e12), 2.5 * MS * 2, 0.01));
	assert_true(near(nve_estimate_due(&e, -1e12), 2.5 * MS * 0.5, 0.01));
	nve_estimate_paid(&e, cpu_ns);
	assert_true(nve_estimate_due(&e, 1e12) == 0);
}

/* The model says a fifth more than the samples let expect: in the end that is what is paid. */
static void follows_the_model(void **state)
{
	double owed = 0, paid = 0;

	(void)state;
	learn(200);
	for (int epoch = 0; epoch < 400; epoch++) {
		for (int i = 0; i < 200; i++) {
			double due;

			pass(CHASE, 100000);
			nve_estimate_check(&e, cpu_ns);
			due = nve_estimate_due(&e, owed - paid);
			nve_estimate_paid(&e, cpu_ns);
			paid += due;
		}
		owed += 20 * MS * 2.5 * 1.2;
		nve_estimate_end_epoch(&e);
	}
	assert_true(near(paid, owed, 0.02));
}

/* What past epochs have shown, within bounds, and only of those that had payments. */
static void gain(void **state)
{
	(void)state;
	learn(200);
	pass(CHASE, MS);
	nve_estimate_check(&e, cpu_ns);
	assert_true(nve_estimate_end_epoch(&e) == 0);
	nve_estimate_paid(&e, cpu_ns);
	nve_estimate_set_gain(&e, 1.2);
	pass(CHASE, MS);
	nve_estimate_check(&e, cpu_ns);
	assert_true(near(nve_estimate_due(&e, 0), 3 * MS, 0.01));
	assert_true(near(nve_estimate_end_epoch(&e), 2.5 * MS, 0.01));
	nve_estimate_set_gain(&e, 100);
	assert_true(e.gain == 2);
	nve_estimate_set_gain(&e, 0);
	assert_true(e.gain == 0.5);
}

/* In a region a rest of its own decides, in parts of what it owes in 50 ms; and each stretch goes
 * by what the model makes of the stall time there. */
static void in_a_region(void **state)
{
	double fresh;

	(void)state;
	learn(200);
	nve_estimate_begin(&e, CHASE, 0);
	nve_estimate_learn(&e, true, 4 * MS, 4 * MS, 2.5, 2);
	e.running = false;
	pass(CHASE, MS);
	nve_estimate_check(&e, cpu_ns);
	fresh = nve_estimate_fresh_ns(&e);
	assert_true(near(fresh, 5 * MS, 0.01));
	assert_true(nve_estimate_due_in_region(&e, 0, 5) == fresh);
	assert_true(near(nve_estimate_due_in_region(&e, 25.0 * MS, 5), 1.1 * fresh, 1e-6));
	assert_true(near(nve_estimate_due_in_region(&e, -25.0 * MS, 5), 0.9 * fresh, 1e-6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_owed, set_up),
		cmocka_unit_test_setup(stretches_apart, set_up),
		cmocka_unit_test_setup(slept, set_up),
		cmocka_unit_test_setup(paid_is_paid, set_up),
		cmocka_unit_test_setup(rest_bounded, set_up),
		cmocka_unit_test_setup(follows_the_model, set_up),
		cmocka_unit_test_setup(gain, set_up),
		cmocka_unit_test_setup(in_a_region, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
