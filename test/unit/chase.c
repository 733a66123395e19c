#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bench/chase.h"

enum { BYTES = 1 << 20, COUNT = BYTES / 64 };

static void expect_one_cycle(size_t count)
{
	struct bench_chase chase;
	struct bench_node *node;

	assert_int_equal(bench_chase_make(&chase, count * 64 + 63, false, 7), 0);
	assert_int_equal(chase.count, count);
	assert_int_equal(chase.bytes, count * 64);
	node = chase.nodes;
	for (size_t i = 0; i < count; i++) {
		assert_in_range(node - chase.nodes, 0, count - 1);
		assert_int_equal((uintptr_t)node % 64, 0);
		assert_int_equal(node->value, 0);
		node->value = 1;
		node = node->next;
	}
	/* Each node was met once, and the last leads back to the first. */
	assert_ptr_equal(node, chase.nodes);
	bench_chase_free(&chase);
	assert_null(chase.nodes);
}

static void test_one_cycle(void **state)
{
	(void)state;
	expect_one_cycle(2);
	expect_one_cycle(3);
	expect_one_cycle(1000);
	expect_one_cycle(COUNT);
}

static void test_walks(void **state)
{
	struct bench_chase chase;
	struct bench_node *third, *node;

	(void)state;
	assert_int_equal(bench_chase_make(&chase, BYTES, false, 1), 0);
	third = chase.nodes->next->next->next;
	assert_ptr_equal(bench_chase_read(chase.nodes, 0), chase.nodes);
	assert_ptr_equal(bench_chase_read(chase.nodes, 3), third);
	assert_ptr_equal(bench_chase_read(chase.nodes, COUNT), chase.nodes);

	for (size_t i = 0; i < COUNT; i++)
		chase.nodes[i].value = UINT64_MAX;
	assert_ptr_equal(bench_chase_write(chase.nodes, 3), third);
	node = chase.nodes;
	for (size_t i = 0; i < COUNT; i++, node = node->next)
		assert_int_equal(node->value == UINT64_MAX, i >= 3);
	assert_ptr_equal(bench_chase_write(chase.nodes, COUNT), chase.nodes);
	for (size_t i = 0; i < COUNT; i++)
		assert_true(chase.nodes[i].value < COUNT);
	bench_chase_free(&chase);
}

/* Neighbours in the list are no neighbours in memory: else prefetchers would hide the misses. */
static void test_random(void **state)
{
	struct bench_chase a, b, c;
	size_t near = 0, equal = 0;

	(void)state;
	assert_int_equal(bench_chase_make(&a, BYTES, false, 1), 0);
	assert_int_equal(bench_chase_make(&b, BYTES, false, 1), 0);
	assert_int_equal(bench_chase_make(&c, BYTES, false, 2), 0);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(a.nodes[i].next - a.nodes, b.nodes[i].next - b.nodes);
		near += labs(a.nodes[i].next - &a.nodes[i]) < COUNT / 64;
		equal += a.nodes[i].next - a.nodes == c.nodes[i].next - c.nodes;
	}
	/* about 1 in 32 of them lies so near by chance, and a handful are equal */
	assert_in_range(near, COUNT / 40, COUNT / 26);
	assert_true(equal < 20);
	bench_chase_free(&a);
	bench_chase_free(&b);
	bench_chase_free(&c);
}

static void test_bad_sizes(void **state)
{
	struct bench_chase chase;

	(void)state;
	assert_int_equal(bench_chase_make(&chase, 0, false, 1), -EINVAL);
	assert_int_equal(bench_chase_make(&chase, 127, false, 1), -EINVAL);
	assert_int_equal(bench_chase_make(&chase, (size_t)1 << 60, false, 1), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_cycle),
		cmocka_unit_test(test_walks),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_bad_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
