/* The core model on streams whose times are known by construction. */
#include "unit.h"

#include <math.h>

#include "count/ahead/core.h"

enum { LATENCY = 600, STEPS = 400 };

static const struct nve_core_machine machine = {
	.cycle_ticks = 1, .read_slots = 16, .write_slots = 32, .window = 448, .writers = 224};
static struct nve_core core;

static void load(uint64_t from, uint64_t to, float *filled)
{
	struct nve_flow flow = {.reads = from, .writes = to};
	struct nve_core_access access = {
		.loads = true, .missing = true, .latency = LATENCY, .filled = filled};

	nve_core_step(&core, &flow, &access, false);
}

static void near(float a, float b, float part)
{
	assert_true(fabsf(a - b) <= part * b);
}

/* Each load needs the one before: latencies add up, and nothing else takes time. */
static void chain(void **state)
{
	float filled;

	(void)state;
	nve_core_start(&core, &machine);
	for (int i = 0; i < STEPS; i++)
		load(1, 1, &filled);
	near(nve_core_real(&core), STEPS * (float)LATENCY, 0.01f);
	near(nve_core_resident(&core), STEPS * 4.0f, 0.01f);
	near(core.waited, nve_core_real(&core), 0.01f);
}

/* Independent loads: as many at a time as there are slots. */
static void parallel(void **state)
{
	float filled;

	(void)state;
	nve_core_start(&core, &machine);
	for (int i = 0; i < STEPS; i++)
		load(0, 2, &filled);
	near(nve_core_real(&core), STEPS * (float)LATENCY / machine.read_slots, 0.05f);
}

/* Independent loads of unlike latencies: each starts when the first of the slots is free. */
static void unlike_latencies(void **state)
{
	struct nve_flow flow = {.writes = 2};
	float slot[16] = {0}, end = 0, filled;

	(void)state;
	nve_core_start(&core, &machine);
	for (int i = 0; i < 200; i++) {
		float latency = LATENCY * (float)(1 + i * 7 % 5);
		struct nve_core_access access = {
			.loads = true, .missing = true, .latency = latency, .filled = &filled};
		int first = 0;

		for (int j = 1; j < 16; j++)
			if (slot[j] < slot[first])
				first = j;
		slot[first] += latency;
		end = fmaxf(end, slot[first]);
		nve_core_step(&core, &flow, &access, false);
	}
	near(nve_core_real(&core), end, 0.01f);
}

/* The store of `p->v = i; p = p->next` misses, the load waits for the same line. */
static void line_in_flight(void **state)
{
	struct nve_flow store = {.reads = 1}, next = {.reads = 1, .writes = 1};

	(void)state;
	nve_core_start(&core, &machine);
	for (int i = 0; i < STEPS; i++) {
		float filled = 0;
		struct nve_core_access misses = {
			.stores = true, .missing = true, .latency = LATENCY, .filled = &filled};
		struct nve_core_access follows = {.loads = true, .filled = &filled};

		nve_core_step(&core, &store, &misses, false);
		nve_core_step(&core, &next, &follows, false);
	}
	near(nve_core_real(&core), STEPS * (float)LATENCY, 0.02f);
	near(core.waited, nve_core_real(&core), 0.02f);
}

/* Work that depends on nothing but itself is hidden behind a chain of misses. */
static void shadow(void **state)
{
	struct nve_flow work = {.reads = 4, .writes = 4, .latency_cycles = 3};
	struct nve_core_access none = {0};
	float filled;

	(void)state;
	nve_core_start(&core, &machine);
	for (int i = 0; i < STEPS; i++) {
		load(1, 1, &filled);
		for (int j = 0; j < 20; j++)
			nve_core_step(&core, &work, &none, false);
	}
	near(nve_core_real(&core), STEPS * (float)LATENCY, 0.12f);
	near(nve_core_resident(&core), STEPS * 60.0f, 0.05f);
}

/* A branch that is mispredicted: what it waits for holds up what follows, which comes in only then;
 * but lines have been asked for before, so independent misses overlap all the same. */
static void mispredicted(void **state)
{
	struct nve_flow test = {.reads = 2, .writes = 1ull << 56, .latency_cycles = 1};
	struct nve_flow branch = {.reads = 1ull << 56, .is_conditional_branch = true};
	struct nve_core_access none = {0};
	float filled, real[2], empty = 0;

	(void)state;
	for (int wrong = 0; wrong < 2; wrong++) {
		nve_core_start(&core, &machine);
		for (int i = 0; i < STEPS; i++) {
			load(0, 2, &filled);
			empty += core.real.empty;
			nve_core_step(&core, &test, &none, false);
			nve_core_step(&core, &branch, &none, wrong);
		}
		real[wrong] = nve_core_real(&core);
		near(real[wrong], STEPS * (float)LATENCY / machine.read_slots, 0.4f);
	}
	assert_true(real[1] > real[0]);
	assert_true(empty > STEPS * 10);
	assert_true(nve_core_resident(&core) > STEPS * 15);
}

/* A comparison and the branch on it are one operation; on something else they are two. */
static void fused(void **state)
{
	struct nve_flow test = {.writes = 1ull << 56, .latency_cycles = 1};
	struct nve_flow branch = {.reads = 1ull << 56, .is_conditional_branch = true};
	struct nve_core_access none = {0};
	float took[2];

	(void)state;
	for (int fuses = 0; fuses < 2; fuses++) {
		nve_core_start(&core, &machine);
		test.may_fuse = fuses;
		for (int i = 0; i < STEPS; i++) {
			nve_core_step(&core, &test, &none, false);
			nve_core_step(&core, &branch, &none, false);
		}
		took[fuses] = nve_core_real(&core);
	}
	near(2 * took[1], took[0], 0.05f);
}

/* Waits for the last-level cache are not waits for memory, and stand apart. */
static void far_lines(void **state)
{
	struct nve_flow next = {.reads = 1, .writes = 1};
	struct nve_core_access far = {
		.loads = true, .far = true, .latency = 50, .resident_latency = 14};

	(void)state;
	nve_core_start(&core, &machine);
	for (int i = 0; i < STEPS; i++)
		nve_core_step(&core, &next, &far, false);
	near(nve_core_real(&core), STEPS * 50.0f, 0.01f);
	near(nve_core_resident(&core), STEPS * 14.0f, 0.01f);
	near(core.waited_far, STEPS * 50.0f, 0.01f);
	assert_true(core.waited == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain),
		cmocka_unit_test(parallel),
		cmocka_unit_test(unlike_latencies),
		cmocka_unit_test(line_in_flight),
		cmocka_unit_test(shadow),
		cmocka_unit_test(mispredicted),
		cmocka_unit_test(fused),
		cmocka_unit_test(far_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
