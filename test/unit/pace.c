/* The pace of loops whose iterations and times are known by construction. */
#include "unit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "count/ahead/pace.h"

enum { COUNTER = 1, POINTER = 3, STEADY = 5, WILD = 7, TICKS = 400, SAMPLES = 64 };

static struct nve_pace_loop loop;
static struct nve_pace pace;
static uint64_t registers[NVE_PACE_REGISTERS];
static double spared;

/* One iteration: a counter goes down, a pointer up by a line, one stays, one is anything. */
static void iterate(uint64_t times)
{
	registers[COUNTER] -= times;
	registers[POINTER] += 64 * times;
	registers[WILD] = registers[WILD] * 6364136223846793005u + 1442695040888963407u;
}

/* A window over so many iterations, each of so many modelled ticks, of which part is waiting. */
static void look(int passes, float ticks, float waiting)
{
	nve_pace_begin(&loop, registers);
	for (int i = 1; i <= passes; i++) {
		iterate(1);
		nve_pace_pass(&loop, registers, 0, true, (float)i * ticks,
			      (float)i * ticks * waiting);
	}
	nve_pace_window(&pace, &loop, spared);
}

static int setup(void **state)
{
	(void)state;
	memset(&pace, 0, sizeof(pace));
	memset(registers, 0, sizeof(registers));
	spared = 0;
	registers[COUNTER] = 1000000000;
	registers[WILD] = 12345;
	return 0;
}

static void samples(double ticks)
{
	for (int i = 0; i < SAMPLES; i++) {
		nve_pace_sample(&pace, registers, 1000 * ticks);
		iterate(1000);
	}
}

static void near(double a, double b)
{
	assert_true(fabs(a - b) < 1e-3);
}

static void finds_what_advances(void **state)
{
	uint64_t from[NVE_PACE_REGISTERS];

	(void)state;
	look(20, TICKS, 1);
	assert_int_equal(loop.advance[COUNTER], -1);
	assert_int_equal(loop.advance[POINTER], 64);
	assert_int_equal(loop.advance[STEADY], 0);
	assert_int_equal(loop.advance[WILD], 0);
	memcpy(from, registers, sizeof(from));
	iterate(777);
	assert_int_equal(nve_pace_iterations(&loop, from, registers), 777);
}

/* A register that has no value in the window tells nothing, whatever it looks like. */
static void unknown_registers(void **state)
{
	(void)state;
	nve_pace_begin(&loop, registers);
	for (int i = 1; i <= 20; i++) {
		iterate(1);
		nve_pace_pass(&loop, registers, i == 9 ? 1u << POINTER : 0, true, (float)i,
			      (float)i);
	}
	assert_int_equal(loop.advance[COUNTER], -1);
	assert_int_equal(loop.advance[POINTER], 0);
}

/* Where registers disagree, or one goes back, the loop was left in between. */
static void another_time_around(void **state)
{
	uint64_t from[NVE_PACE_REGISTERS];

	(void)state;
	look(20, TICKS, 1);
	memcpy(from, registers, sizeof(from));
	iterate(777);
	registers[COUNTER] -= 100;
	assert_int_equal(nve_pace_iterations(&loop, from, registers), 0);
	assert_int_equal(nve_pace_iterations(&loop, registers, from), 0);
	look(3, TICKS, 1);
	assert_int_equal(nve_pace_iterations(&loop, from, registers), 0);
}

/* All the time is waiting, and the program takes 5 % less than the model says. */
static void corrects(void **state)
{
	(void)state;
	look(20, TICKS, 1);
	near(nve_pace_factor(&pace), 1);
	samples(0.95 * TICKS);
	assert_int_equal(pace.intervals, SAMPLES - 1);
	near(nve_pace_factor(&pace), 0.95);
}

/* What is not waiting is taken for right: the difference is the misses' alone. */
static void corrects_the_waiting_part(void **state)
{
	(void)state;
	look(20, TICKS, 0.9f);
	samples(1.09 * TICKS);
	near(nve_pace_factor(&pace), 1.1);
}

static void keeps_out(void **state)
{
	(void)state;
	look(20, TICKS, 0.5f); /* the core model's other half may be as wrong */
	samples(0.95 * TICKS);
	assert_int_equal(pace.intervals, 0);
	look(20, TICKS, 1);
	samples(2 * TICKS); /* it was elsewhere in between */
	assert_int_equal(pace.intervals, 0);
	near(nve_pace_factor(&pace), 1);
}

/* Of windows at each sample, each of which spares the program some of what it looked at. */
static void windows(int count, double ticks)
{
	static const struct nve_pace fresh;
	uint64_t at[NVE_PACE_REGISTERS];

	pace = fresh;
	for (int i = 0; i < count; i++) {
		nve_pace_sample(&pace, registers, 1000 * ticks - spared);
		memcpy(at, registers, sizeof(at));
		look(20, TICKS, 1);
		memcpy(registers, at, sizeof(at));
		iterate(1000);
	}
}

static void counts_what_was_spared(void **state)
{
	(void)state;
	spared = 20.0 * TICKS;
	windows(SAMPLES, 0.95 * TICKS);
	assert_int_equal(pace.intervals, SAMPLES - 1);
	near(nve_pace_factor(&pace), 0.95);
	spared = 200.0 * TICKS; /* most of what the program would have done */
	windows(SAMPLES, 0.95 * TICKS);
	assert_int_equal(pace.intervals, 0);
}

/* What the program was before is forgotten within some tenths of a second. */
static void forgets(void **state)
{
	(void)state;
	look(20, TICKS, 1);
	for (int i = 0; i < 100; i++)
		samples(1.1 * TICKS);
	near(nve_pace_factor(&pace), 1.1);
	for (int i = 0; i < 5; i++)
		samples(0.95 * TICKS);
	assert_true(fabs(nve_pace_factor(&pace) - 0.95) < 0.005);
}

/* An interval with time of others in it does not count. */
static void clean_intervals_only(void **state)
{
	(void)state;
	look(20, TICKS, 1);
	for (int i = 0; i < 20; i++) {
		iterate(1000);
		nve_pace_interrupt(&pace);
		nve_pace_sample(&pace, registers, 1000.0 * TICKS);
	}
	assert_int_equal(pace.intervals, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(finds_what_advances, setup),
		cmocka_unit_test_setup(unknown_registers, setup),
		cmocka_unit_test_setup(another_time_around, setup),
		cmocka_unit_test_setup(corrects, setup),
		cmocka_unit_test_setup(corrects_the_waiting_part, setup),
		cmocka_unit_test_setup(keeps_out, setup),
		cmocka_unit_test_setup(counts_what_was_spared, setup),
		cmocka_unit_test_setup(forgets, setup),
		cmocka_unit_test_setup(clean_intervals_only, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
