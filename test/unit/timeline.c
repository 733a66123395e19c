#include "unit.h"

#include <string.h>

#include "base/base.h"
#include "base/timeline.h"

enum { Q = NVE_TIMELINE_QUANTITIES, N = NVE_TIMELINE_BUCKETS };

static const uint64_t W = NVE_TIMELINE_FIRST_WIDTH_NS;

static struct nve_timeline made;

/* Each quantity another amount, so that one in another's place shows. */
static void add(struct nve_timeline *t, uint64_t from_ns, uint64_t to_ns, uint64_t amount)
{
	uint64_t amounts[Q];

	for (int q = 0; q < Q; q++)
		amounts[q] = amount + (uint64_t)q;
	nve_timeline_add(t, from_ns, to_ns, amounts);
}

static void check_sums(const struct nve_timeline *t)
{
	assert_true(t->used <= N);
	for (int q = 0; q < Q; q++) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < N; i++) {
			assert_true(i < t->used || !t->bucket[i][q]);
			sum += t->bucket[i][q];
		}
		assert_int_equal(sum, t->sum[q]);
	}
}

static int start(void **state)
{
	(void)state;
	memset(&made, 0, sizeof(made));
	return 0;
}

static void test_one_bucket(void **state)
{
	(void)state;
	add(&made, 3 * W, 4 * W, 100);
	assert_int_equal(made.used, 4);
	assert_int_equal(made.bucket[3][0], 100);
	assert_int_equal(made.bucket[3][Q - 1], 100 + Q - 1);
	assert_int_equal(made.bucket[2][0], 0);
	check_sums(&made);
}

static void test_spread(void **state)
{
	(void)state;
	/* a quarter, a half, a quarter */
	add(&made, W / 2, 5 * W / 2, 100);
	assert_int_equal(made.bucket[0][0], 25);
	assert_int_equal(made.bucket[1][0], 50);
	assert_int_equal(made.bucket[2][0], 25);
	/* what does not divide is not lost */
	assert_int_equal(made.sum[3], 103);
	check_sums(&made);
}

/* No time has passed, or time went backwards: all at one moment. */
static void test_moment(void **state)
{
	(void)state;
	add(&made, 2 * W, 2 * W, 7);
	add(&made, 5 * W, W, 9);
	assert_int_equal(made.bucket[2][0], 7);
	assert_int_equal(made.bucket[5][0], 9);
	assert_int_equal(made.used, 6);
	check_sums(&made);
}

static void test_doubles(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < N; i++)
		add(&made, i * W, (i + 1) * W, i);
	assert_int_equal(made.width_ns, W);
	assert_int_equal(made.used, N);
	add(&made, N * W, (N + 1) * W, 1000);
	assert_int_equal(made.width_ns, 2 * W);
	assert_int_equal(made.used, N / 2 + 1);
	for (uint64_t i = 0; i < N / 2; i++)
		assert_int_equal(made.bucket[i][0], 4 * i + 1);
	assert_int_equal(made.bucket[N / 2][0], 1000);
	check_sums(&made);
	/* one that starts late is as wide as it must be at once */
	add(&made, 1000 * N * W, 1000 * N * W + 1, 5);
	assert_int_equal(made.width_ns, 1024 * W);
	check_sums(&made);
}

/* Rows of a fixed generator: whatever comes, in whatever order. */
static void test_any(void **state)
{
	uint64_t seed = 88172645463325252u, total = 0;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		uint64_t from, length, amount;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		from = (seed >> 8) % (1000000 * (uint64_t)(i + 1));
		length = (seed >> 20) % (i % 7 ? 30000000 : UINT64_C(3000000000));
		amount = seed % (i % 11 ? 20000000 : UINT64_C(1) << 50);
		add(&made, from, from + length, amount);
		total += amount;
		assert_true((from + length) / made.width_ns < N);
	}
	assert_int_equal(made.sum[0], total);
	check_sums(&made);
}

static void test_merge(void **state)
{
	static struct nve_timeline other, empty;

	(void)state;
	memset(&other, 0, sizeof(other));
	add(&made, 0, W, 10);
	add(&made, 7 * W, 8 * W, 20);
	add(&other, 300 * W, 301 * W, 30);
	add(&other, 6 * W, 7 * W, 40);
	assert_int_equal(other.width_ns, 4 * W);
	nve_timeline_merge(&made, &other);
	assert_int_equal(made.width_ns, 4 * W);
	assert_int_equal(made.bucket[0][0], 10);
	assert_int_equal(made.bucket[1][0], 60);
	assert_int_equal(made.bucket[75][0], 30);
	assert_int_equal(made.used, 76);
	assert_int_equal(made.sum[0], 100);
	check_sums(&made);
	/* a narrow one into a wide one, and nothing into something */
	add(&empty, 9 * W, 10 * W, 5);
	nve_timeline_merge(&made, &empty);
	assert_int_equal(made.bucket[2][0], 5);
	memset(&empty, 0, sizeof(empty));
	nve_timeline_merge(&made, &empty);
	nve_timeline_merge(&empty, &made);
	assert_memory_equal(&empty, &made, sizeof(made));
}

static void test_settle(void **state)
{
	uint64_t totals[Q];

	(void)state;
	add(&made, 0, W, 100);
	add(&made, W, 2 * W, 10);
	for (int q = 0; q < Q; q++)
		totals[q] = 110 + 2 * (uint64_t)q;
	totals[0] = 150; /* more: after what there is */
	totals[1] = 95;  /* less: from the last buckets */
	nve_timeline_settle(&made, 2 * W, 4 * W, totals);
	assert_int_equal(made.bucket[2][0], 20);
	assert_int_equal(made.bucket[3][0], 20);
	assert_int_equal(made.bucket[1][1], 0);
	assert_int_equal(made.bucket[0][1], 95);
	assert_int_equal(made.bucket[0][2], 102);
	for (int q = 0; q < Q; q++)
		assert_int_equal(made.sum[q], totals[q]);
	check_sums(&made);
	/* settled already: nothing changes, not even how many are used */
	nve_timeline_settle(&made, 9 * W, 10 * W, totals);
	assert_int_equal(made.used, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_one_bucket, start),
		cmocka_unit_test_setup(test_spread, start),
		cmocka_unit_test_setup(test_moment, start),
		cmocka_unit_test_setup(test_doubles, start),
		cmocka_unit_test_setup(test_any, start),
		cmocka_unit_test_setup(test_merge, start),
		cmocka_unit_test_setup(test_settle, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
