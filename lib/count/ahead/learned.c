#include "count/ahead/learned.h"

#include "base/base.h"

/* Above this many, counts are halved: what was learned long ago fades. */
enum { HALVE_LABELS = 1024, MIN_LABELS = 2, PROBES = 16 };

struct nve_learned {
	struct nve_learned_ip slot[NVE_LEARNED_SLOTS];
};

size_t nve_learned_bytes(void)
{
	return sizeof(struct nve_learned);
}

static uint32_t get(const _Atomic uint32_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void put(_Atomic uint32_t *counter, uint32_t value)
{
	atomic_store_explicit(counter, value, memory_order_relaxed);
}

static void add(_Atomic uint32_t *counter, uint32_t value)
{
	atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

struct nve_learned_ip *nve_learned_find(struct nve_learned *table, uint64_t ip, bool make)
{
	uint32_t i = (uint32_t)(ip * 0x9e3779b97f4a7c15u >> 51) % NVE_LEARNED_SLOTS;

	for (int probe = 0; probe < PROBES; probe++, i = (i + 1) % NVE_LEARNED_SLOTS) {
		struct nve_learned_ip *e = &table->slot[i];
		uint64_t owner = atomic_load_explicit(&e->ip, memory_order_relaxed);

		if (owner == ip)
			return e;
		if (owner)
			continue;
		if (!make)
			return NULL;
		if (atomic_compare_exchange_strong(&e->ip, &owner, ip) || owner == ip)
			return e;
	}
	return NULL;
}

void nve_learned_add_label(struct nve_learned_ip *e, uint32_t label_ppm)
{
	if (get(&e->labels) >= HALVE_LABELS) {
		put(&e->labels, get(&e->labels) / 2);
		put(&e->label_sum_ppm_1024, get(&e->label_sum_ppm_1024) / 2);
	}
	add(&e->labels, 1);
	add(&e->label_sum_ppm_1024, (label_ppm + 512) / 1024);
}

bool nve_learned_label(const struct nve_learned_ip *e, uint32_t *label_ppm)
{
	uint32_t n = get(&e->labels);

	if (n < MIN_LABELS)
		return false;
	*label_ppm =
		NVE_MIN(1000000u, (uint32_t)((uint64_t)get(&e->label_sum_ppm_1024) * 1024 / n));
	return true;
}
