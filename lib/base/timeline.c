#include "base/timeline.h"

#include <string.h>

#include "base/base.h"

enum { QUANTITIES = NVE_TIMELINE_QUANTITIES, BUCKETS = NVE_TIMELINE_BUCKETS };

static void put(struct nve_timeline *t, uint32_t bucket, int quantity, uint64_t amount)
{
	t->bucket[bucket][quantity] += amount;
	t->sum[quantity] += amount;
}

static void double_width(struct nve_timeline *t)
{
	uint32_t kept = (t->used + 1) / 2;

	for (uint32_t i = 0; i < t->used; i++) {
		uint64_t row[QUANTITIES];

		memcpy(row, t->bucket[i], sizeof(row));
		memset(t->bucket[i], 0, sizeof(row));
		for (int q = 0; q < QUANTITIES; q++)
			t->bucket[i / 2][q] += row[q];
	}
	t->used = kept;
	t->width_ns *= 2;
}

/* Time of_ns lies in one of the buckets afterwards. Returns which. */
static uint32_t reach(struct nve_timeline *t, uint64_t of_ns)
{
	uint32_t bucket;

	if (!t->width_ns)
		t->width_ns = NVE_TIMELINE_FIRST_WIDTH_NS;
	while (of_ns / t->width_ns >= BUCKETS)
		double_width(t);
	bucket = (uint32_t)(of_ns / t->width_ns);
	t->used = NVE_MAX(t->used, bucket + 1);
	return bucket;
}

void nve_timeline_add(struct nve_timeline *t, uint64_t from_ns, uint64_t to_ns,
		      const uint64_t amounts[QUANTITIES])
{
	uint64_t length = to_ns > from_ns ? to_ns - from_ns : 0, given[QUANTITIES] = {0};
	/* The last moment of the stretch, so that one that ends with a bucket stays in it. */
	uint32_t last = reach(t, length ? to_ns - 1 : from_ns);

	for (uint32_t i = (uint32_t)(from_ns / t->width_ns); i < last; i++) {
		uint64_t passed = (i + 1) * t->width_ns - from_ns;

		for (int q = 0; q < QUANTITIES; q++) {
			uint64_t due = (uint64_t)((unsigned __int128)amounts[q] * passed / length);

			put(t, i, q, due - given[q]);
			given[q] = due;
		}
	}
	for (int q = 0; q < QUANTITIES; q++)
		put(t, last, q, amounts[q] - given[q]);
}

void nve_timeline_widen(struct nve_timeline *t, uint64_t width_ns)
{
	if (!t->width_ns)
		t->width_ns = width_ns;
	while (t->width_ns < width_ns)
		double_width(t);
}

void nve_timeline_merge(struct nve_timeline *t, const struct nve_timeline *other)
{
	nve_timeline_widen(t, other->width_ns);
	for (uint32_t i = 0; i < other->used; i++) {
		uint32_t bucket = (uint32_t)(i * other->width_ns / t->width_ns);

		t->used = NVE_MAX(t->used, bucket + 1);
		for (int q = 0; q < QUANTITIES; q++)
			put(t, bucket, q, other->bucket[i][q]);
	}
}

static void take(struct nve_timeline *t, int quantity, uint64_t amount)
{
	t->sum[quantity] -= amount;
	for (uint32_t i = t->used; i-- > 0 && amount;) {
		uint64_t part = NVE_MIN(amount, t->bucket[i][quantity]);

		t->bucket[i][quantity] -= part;
		amount -= part;
	}
}

void nve_timeline_settle(struct nve_timeline *t, uint64_t from_ns, uint64_t to_ns,
			 const uint64_t totals[QUANTITIES])
{
	uint64_t missing[QUANTITIES], any = 0;

	for (int q = 0; q < QUANTITIES; q++) {
		missing[q] = totals[q] > t->sum[q] ? totals[q] - t->sum[q] : 0;
		any |= missing[q];
		if (totals[q] < t->sum[q])
			take(t, q, t->sum[q] - totals[q]);
	}
	if (any)
		nve_timeline_add(t, from_ns, to_ns, missing);
}
