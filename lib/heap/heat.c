#include "heap/heat.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

enum {
	BATCH_SAMPLES = 64, /* some four times as many as the lines of a window are used for */
	INDEX_PER_ROW = 2,
};

/* Of which part of a place there is a row. */
static const uint64_t parts[] = {
	[NVE_HEAT_SITE] = NVE_HEAT_PLACE(15, 0, UINT32_MAX),
	[NVE_HEAT_ARENA] = NVE_HEAT_PLACE(15, 0xffff, 0),
	[NVE_HEAT_KIND] = NVE_HEAT_PLACE(15, 0, 0),
};

size_t nve_heat_bytes(uint32_t rows)
{
	return sizeof(struct nve_heat) + rows * sizeof(struct nve_heat_row) +
	       (size_t)rows * INDEX_PER_ROW * sizeof(uint32_t);
}

struct nve_heat *nve_heat_init(void *mem, uint32_t rows)
{
	struct nve_heat *h = mem;

	h->capacity = rows;
	h->mask = rows * INDEX_PER_ROW - 1;
	return h;
}

/* Where the key's entry is or would be: the number of its row, from 1 on, or 0. */
static const uint32_t *entry_of(const struct nve_heat *h, uint64_t key)
{
	const uint32_t *index = (const uint32_t *)(const void *)&h->row[h->capacity];
	uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & h->mask;

	while (index[i] && h->row[index[i] - 1].key != key)
		i = (i + 1) & h->mask;
	return &index[i];
}

const struct nve_heat_row *nve_heat_find(const struct nve_heat *h, uint64_t key)
{
	uint32_t number = *entry_of(h, key);

	return number ? &h->row[number - 1] : NULL;
}

static struct nve_heat_row *row_of(struct nve_heat *h, uint64_t key)
{
	const uint64_t rest = NVE_HEAT_KEY(NVE_HEAT_REST, 0);
	uint32_t rows = atomic_load_explicit(&h->rows, memory_order_relaxed);
	uint32_t *entry = (uint32_t *)(uintptr_t)entry_of(h, key);

	if (*entry)
		return &h->row[*entry - 1];
	/* The last one is kept for what finds no room. */
	if (rows + 1 >= h->capacity && key != rest)
		return row_of(h, rest);
	h->row[rows].key = key;
	*entry = rows + 1;
	/* Readers see rows that have their key. */
	atomic_store_explicit(&h->rows, rows + 1, memory_order_release);
	return &h->row[rows];
}

static void end_batch(struct nve_heat *h)
{
	double all = (double)h->batch_ns;
	uint32_t rows = atomic_load_explicit(&h->rows, memory_order_relaxed);

	for (uint32_t i = 0; i < rows; i++) {
		struct nve_heat_row *r = &h->row[i];
		double ns = (double)r->batch_ns;

		r->squares += ns * ns;
		r->products += ns * all;
		r->batch_ns = 0;
	}
	h->squares += all * all;
	h->batches += all > 0;
	h->batch_ns = 0;
	h->batch_samples = 0;
}

/* Buckets of twice the length. */
static void double_buckets(struct nve_heat *h)
{
	uint32_t rows = atomic_load_explicit(&h->rows, memory_order_relaxed);

	for (uint32_t i = 0; i < rows; i++) {
		float *b = h->row[i].bucket_ns;

		for (int j = 0; j < NVE_HEAT_BUCKETS / 2; j++)
			b[j] = b[2 * j] + b[2 * j + 1];
		memset(b + NVE_HEAT_BUCKETS / 2, 0, NVE_HEAT_BUCKETS / 2 * sizeof(*b));
	}
	h->doublings++;
}

static uint32_t bucket_at(struct nve_heat *h, uint64_t at_ns)
{
	uint64_t second = at_ns / NVE_HEAT_SECOND_NS;

	while (second >> h->doublings >= NVE_HEAT_BUCKETS)
		double_buckets(h);
	return (uint32_t)(second >> h->doublings);
}

static void add_to_row(struct nve_heat *h, uint64_t key, const struct nve_miss *miss,
		       uint32_t bucket)
{
	struct nve_heat_row *r = row_of(h, key);

	r->stall_ns += miss->stall_ns;
	r->stall_wb_ns += (double)miss->dirty * (double)miss->stall_ns;
	r->lines++;
	r->batch_ns += miss->stall_ns;
	r->bucket_ns[bucket] += (float)miss->stall_ns;
}

void nve_heat_add(struct nve_heat *h, const struct nve_miss *miss, size_t count, uint64_t at_ns)
{
	uint32_t bucket = bucket_at(h, at_ns);

	for (size_t i = 0; i < count; i++) {
		for (int of = NVE_HEAT_SITE; of <= NVE_HEAT_KIND; of++)
			add_to_row(h, NVE_HEAT_KEY(of, miss[i].place & parts[of]), &miss[i],
				   bucket);
		h->stall_ns += miss[i].stall_ns;
		h->batch_ns += miss[i].stall_ns;
	}
	if (++h->batch_samples == BATCH_SAMPLES)
		end_batch(h);
}

static void merge_row(struct nve_heat *to, const struct nve_heat_row *from, double from_batch_ns,
		      uint32_t doublings)
{
	struct nve_heat_row *r = row_of(to, from->key);
	double ns = (double)from->batch_ns;

	r->stall_ns += from->stall_ns;
	r->stall_wb_ns += from->stall_wb_ns;
	r->lines += from->lines;
	r->squares += from->squares + ns * ns;
	r->products += from->products + ns * from_batch_ns;
	for (int i = 0; i < NVE_HEAT_BUCKETS; i++)
		r->bucket_ns[i >> (to->doublings - doublings)] += from->bucket_ns[i];
}

void nve_heat_merge(struct nve_heat *to, const struct nve_heat *from)
{
	uint32_t rows = atomic_load_explicit(&from->rows, memory_order_acquire);
	uint32_t doublings = from->doublings;
	double batch_ns = (double)from->batch_ns;

	while (to->doublings < doublings)
		double_buckets(to);
	for (uint32_t i = 0; i < rows; i++)
		merge_row(to, &from->row[i], batch_ns, doublings);
	to->stall_ns += from->stall_ns;
	to->squares += from->squares + batch_ns * batch_ns;
	to->batches += from->batches + (batch_ns > 0);
}

double nve_heat_share_se(const struct nve_heat *h, const struct nve_heat_row *row)
{
	double share, sum, n = (double)h->batches;

	if (h->batches < 2 || !h->stall_ns)
		return -1;
	share = (double)row->stall_ns / (double)h->stall_ns;
	sum = row->squares - 2 * share * row->products + share * share * h->squares;
	return sqrt(fmax(sum, 0) * n / (n - 1)) / (double)h->stall_ns;
}
