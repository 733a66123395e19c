/* What is remembered of instructions. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "count/ahead/learned.h"

static struct nve_learned *table;

static int set_up(void **state)
{
	(void)state;
	table = calloc(1, nve_learned_bytes());
	return !table;
}

static int tear_down(void **state)
{
	(void)state;
	free(table);
	return 0;
}

static void labels(void **state)
{
	struct nve_learned_ip *e = nve_learned_find(table, 0x401000, true);
	double label = 7;

	(void)state;
	assert_non_null(e);
	assert_false(nve_learned_label(e, &label));
	assert_true(label == 7);
	assert_true(isnan(nve_learned_believed(table, 0x401000)));
	assert_true(isnan(nve_learned_believed(table, 0x402000)));
	nve_learned_add(table, e, 0, 300);
	assert_true(nve_learned_label(e, &label) && label == 0);
	nve_learned_add(table, e, 100, 100);
	assert_true(nve_learned_label(e, &label) && label == 0.25);
	assert_true(nve_learned_believed(table, 0x401000) == 0.25);
	/* A lost update of another thread may leave more misses than time. */
	nve_learned_add(table, e, 5000, 0);
	assert_true(nve_learned_label(e, &label) && label == 1);
	assert_ptr_equal(nve_learned_find(table, 0x401000, true), e);
	assert_ptr_equal(nve_learned_find(table, 0x401000, false), e);
	assert_null(nve_learned_find(table, 0x402000, false));
}

/* One window's misses are not believed for long where later ones meet none. */
static void exception_forgotten(void **state)
{
	struct nve_learned_ip *e = nve_learned_find(table, 0x600000, true);
	double label;

	(void)state;
	nve_learned_window(table);
	nve_learned_add(table, e, 8000, 8000);
	for (int i = 0; i < NVE_LEARNED_AGE / 2; i++) {
		nve_learned_window(table);
		nve_learned_add(table, e, 0, 16);
	}
	assert_true(nve_learned_label(e, &label) && label > 0.9);
	for (int i = 0; i < 10 * NVE_LEARNED_AGE; i++) {
		nve_learned_window(table);
		nve_learned_add(table, e, 0, 16);
	}
	assert_true(nve_learned_label(e, &label) && label < 0.05);
}

/* Sums neither overflow nor hold on to the past. */
static void fading(void **state)
{
	struct nve_learned_ip *e = nve_learned_find(table, 0x500000, true);
	double label;

	(void)state;
	for (int i = 0; i < 100000; i++)
		nve_learned_add(table, e, 4000, 4000);
	assert_true(nve_learned_label(e, &label) && label == 1);
	for (int i = 0; i < 100000; i++)
		nve_learned_add(table, e, 0, 4000);
	assert_true(nve_learned_label(e, &label) && label < 0.01);
	for (int i = 0; i < 100000; i++)
		nve_learned_add(table, e, 1000, 4000);
	assert_true(nve_learned_label(e, &label) && fabs(label - 0.25) < 0.01);
}

/* More instructions than there is room for: new ones replace old ones, and start with nothing. */
static void crowded(void **state)
{
	double label;

	(void)state;
	for (uint64_t ip = 1; ip <= 4 * NVE_LEARNED_SLOTS; ip++) {
		struct nve_learned_ip *e = nve_learned_find(table, ip * 7 + 0x10000000, true);

		assert_non_null(e);
		assert_true(e->ip == ip * 7 + 0x10000000);
		assert_false(nve_learned_label(e, &label));
		nve_learned_add(table, e, 1, 2);
		assert_ptr_equal(nve_learned_find(table, ip * 7 + 0x10000000, false), e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(labels, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fading, set_up, tear_down),
		cmocka_unit_test_setup_teardown(exception_forgotten, set_up, tear_down),
		cmocka_unit_test_setup_teardown(crowded, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
