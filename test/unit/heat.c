/* Heat on made-up misses: rows, sums, the error of shares, course over time, threads. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "heap/heat.h"

enum { ROWS = 64, HEAP = 1, STACK = 2 };

static struct nve_heat *new_heat(uint32_t rows)
{
	void *mem = calloc(1, nve_heat_bytes(rows));

	assert_non_null(mem);
	return nve_heat_init(mem, rows);
}

static const struct nve_heat_row *find(const struct nve_heat *h, enum nve_heat_of of,
				       uint64_t place)
{
	for (uint32_t i = 0; i < h->rows; i++)
		if (h->row[i].key == NVE_HEAT_KEY(of, place))
			return &h->row[i];
	return NULL;
}

static void add(struct nve_heat *h, uint64_t place, uint64_t stall_ns, float dirty, uint64_t at_ns)
{
	struct nve_miss miss = {.place = place, .stall_ns = stall_ns, .dirty = dirty};

	nve_heat_add(h, &miss, 1, at_ns);
}

static double uniform(void)
{
	static uint64_t x = 88172645463325252;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (double)(x >> 11) * 0x1p-53;
}

static void places(void **state)
{
	uint64_t place = NVE_HEAT_PLACE(15, 0xffff, UINT32_MAX);

	(void)state;
	assert_int_equal(nve_heat_kind(place), 15);
	assert_int_equal(nve_heat_arena(place), 0xffff);
	assert_int_equal(nve_heat_site(place), UINT32_MAX);
	place = NVE_HEAT_PLACE(3, 7, 12345);
	assert_int_equal(nve_heat_kind(place), 3);
	assert_int_equal(nve_heat_arena(place), 7);
	assert_int_equal(nve_heat_site(place), 12345);
	assert_int_equal(nve_heat_of(NVE_HEAT_KEY(NVE_HEAT_ARENA, place)), NVE_HEAT_ARENA);
}

/* A site in two arenas is one site; two sites of one number and different kinds are two. */
static void rows(void **state)
{
	struct nve_heat *h = new_heat(ROWS);
	const struct nve_heat_row *r;

	(void)state;
	add(h, NVE_HEAT_PLACE(HEAP, 1, 5), 1000, 0, 0);
	add(h, NVE_HEAT_PLACE(HEAP, 2, 5), 500, 1, 0);
	add(h, NVE_HEAT_PLACE(HEAP, 2, 6), 200, 0.25f, 0);
	add(h, NVE_HEAT_PLACE(STACK, 0, 5), 30, 0.5f, 0);
	assert_int_equal(h->rows, 3 + 3 + 2);
	assert_int_equal(h->stall_ns, 1730);
	r = find(h, NVE_HEAT_SITE, NVE_HEAT_PLACE(HEAP, 0, 5));
	assert_int_equal(r->stall_ns, 1500);
	assert_int_equal(r->lines, 2);
	assert_true(r->stall_wb_ns == 500);
	assert_int_equal(find(h, NVE_HEAT_SITE, NVE_HEAT_PLACE(STACK, 0, 5))->stall_ns, 30);
	r = find(h, NVE_HEAT_ARENA, NVE_HEAT_PLACE(HEAP, 2, 0));
	assert_int_equal(r->stall_ns, 700);
	assert_true(r->stall_wb_ns == 550);
	assert_int_equal(find(h, NVE_HEAT_KIND, NVE_HEAT_PLACE(HEAP, 0, 0))->stall_ns, 1700);
	free(h);
}

/* More places than rows: nothing is lost, the rest stands in a row of its own. */
static void crowded(void **state)
{
	struct nve_heat *h = new_heat(ROWS), *all = new_heat(ROWS);
	uint64_t sites = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		add(h, NVE_HEAT_PLACE(HEAP, 0, i), 10, 0, 0);
	nve_heat_merge(all, h);
	nve_heat_merge(all, h);
	assert_true(all->rows <= ROWS);
	for (uint32_t i = 0; i < all->rows; i++)
		if (nve_heat_of(all->row[i].key) == NVE_HEAT_SITE)
			sites += all->row[i].stall_ns;
	assert_int_equal(sites, 2 * (ROWS - 3) * 10);
	assert_int_equal(find(all, NVE_HEAT_REST, 0)->stall_ns, 2 * 10000 - sites);
	assert_int_equal(all->stall_ns, 20000);
	free(h);
	free(all);
}

/* The time of a run doubles again and again: every nanosecond stays in the right bucket. */
static void over_time(void **state)
{
	struct nve_heat *h = new_heat(ROWS);
	const uint64_t a = NVE_HEAT_PLACE(HEAP, 0, 1), b = NVE_HEAT_PLACE(HEAP, 0, 2);
	const struct nve_heat_row *r;
	float sum = 0;

	(void)state;
	for (uint64_t s = 0; s < 1000; s++)
		add(h, s < 500 ? a : b, 100, 0, s * NVE_HEAT_SECOND_NS + 999999999);
	assert_int_equal(h->doublings, 4); /* 120 << 4 is the first above 1000 */
	r = find(h, NVE_HEAT_SITE, a);
	for (int i = 0; i < NVE_HEAT_BUCKETS; i++)
		assert_true(r->bucket_ns[i] == (i < 31 ? 1600 : i == 31 ? 400 : 0));
	r = find(h, NVE_HEAT_SITE, b);
	for (int i = 0; i < NVE_HEAT_BUCKETS; i++)
		sum += r->bucket_ns[i];
	assert_true(r->bucket_ns[31] == 1200 && sum == 50000);
	free(h);
}

/* Two threads, one of which has ended long before the other has grown its buckets. */
static void threads(void **state)
{
	struct nve_heat *all = new_heat(ROWS), *first = new_heat(ROWS), *second = new_heat(ROWS);
	const uint64_t a = NVE_HEAT_PLACE(HEAP, 0, 1), b = NVE_HEAT_PLACE(HEAP, 0, 2);
	const struct nve_heat_row *r;

	(void)state;
	add(first, a, 100, 0, UINT64_C(7) * NVE_HEAT_SECOND_NS);
	add(second, a, 10, 1, UINT64_C(8) * NVE_HEAT_SECOND_NS);
	add(second, b, 1, 1, UINT64_C(300) * NVE_HEAT_SECOND_NS);
	nve_heat_merge(all, first);
	nve_heat_merge(all, second);
	nve_heat_merge(all, first);
	assert_int_equal(all->doublings, 2);
	assert_int_equal(all->stall_ns, 211);
	r = find(all, NVE_HEAT_SITE, a);
	assert_true(r->stall_ns == 210 && r->stall_wb_ns == 10 && r->lines == 3);
	assert_true(r->bucket_ns[1] == 200 && r->bucket_ns[2] == 10);
	assert_true(find(all, NVE_HEAT_SITE, b)->bucket_ns[75] == 1);
	free(all);
	free(first);
	free(second);
}

/* Samples of one of two sites, at random: the error is that of the binomial distribution. And what
 * is told as error is what shares really are off by. */
static void errors(void **state)
{
	enum { RUNS = 200, SAMPLES = 6400 };
	const uint64_t a = NVE_HEAT_PLACE(HEAP, 0, 1), b = NVE_HEAT_PLACE(HEAP, 0, 2);
	double told = 0, real = 0, exact = sqrt(0.3 * 0.7 / SAMPLES);

	(void)state;
	for (int run = 0; run < RUNS; run++) {
		struct nve_heat *h = new_heat(ROWS);
		const struct nve_heat_row *r;
		double off;

		for (int i = 0; i < SAMPLES; i++)
			add(h, uniform() < 0.3 ? a : b, 1000, 0, 0);
		r = find(h, NVE_HEAT_SITE, a);
		off = (double)r->stall_ns / (double)h->stall_ns - 0.3;
		told += nve_heat_share_se(h, r) / RUNS;
		real += off * off / RUNS;
		free(h);
	}
	assert_true(fabs(told / exact - 1) < 0.05);
	assert_true(fabs(sqrt(real) / exact - 1) < 0.15);
}

static void no_error_without_batches(void **state)
{
	struct nve_heat *h = new_heat(ROWS);

	(void)state;
	for (int i = 0; i < 100; i++)
		add(h, NVE_HEAT_PLACE(HEAP, 0, 1), 1000, 0, 0);
	assert_true(nve_heat_share_se(h, &h->row[0]) == -1);
	for (int i = 0; i < 100; i++)
		add(h, NVE_HEAT_PLACE(HEAP, 0, 1), 1000, 0, 0);
	assert_true(nve_heat_share_se(h, &h->row[0]) == 0); /* all of it, always */
	free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places),
		cmocka_unit_test(rows),
		cmocka_unit_test(crowded),
		cmocka_unit_test(over_time),
		cmocka_unit_test(threads),
		cmocka_unit_test(errors),
		cmocka_unit_test(no_error_without_batches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
