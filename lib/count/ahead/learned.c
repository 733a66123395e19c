#include "count/ahead/learned.h"

#include <math.h>

#include "base/base.h"

/* Above it the sums are halved: they must not overflow. */
enum { HALVE_UNITS = 1 << 24, PROBES = 4 };

struct nve_learned {
	_Atomic uint32_t windows;
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

/* Two threads may overwrite each other here: a sample lost, and no locked instruction in each step
 * of a window. */
static void add(_Atomic uint32_t *counter, uint32_t value)
{
	put(counter, get(counter) + value);
}

static bool own(struct nve_learned_ip *e, uint64_t owner, uint64_t ip)
{
	if (!atomic_compare_exchange_strong(&e->ip, &owner, ip))
		return owner == ip;
	put(&e->waited, 0);
	put(&e->all, 0);
	return true;
}

struct nve_learned_ip *nve_learned_find(struct nve_learned *table, uint64_t ip, bool make)
{
	uint32_t first = (uint32_t)(ip * 0x9e3779b97f4a7c15u >> 40) % NVE_LEARNED_SLOTS;
	struct nve_learned_ip *e;

	for (uint32_t probe = 0; probe < PROBES; probe++) {
		uint64_t owner;

		e = &table->slot[(first + probe) % NVE_LEARNED_SLOTS];
		owner = atomic_load_explicit(&e->ip, memory_order_relaxed);
		if (owner == ip)
			return e;
		if (owner == 0)
			return make && own(e, 0, ip) ? e : NULL;
	}
	e = &table->slot[(first + (ip >> 2) % PROBES) % NVE_LEARNED_SLOTS];
	return make && own(e, atomic_load(&e->ip), ip) ? e : NULL;
}

void nve_learned_window(struct nve_learned *table)
{
	add(&table->windows, 1);
}

void nve_learned_add(const struct nve_learned *table, struct nve_learned_ip *e, uint32_t waited,
		     uint32_t all)
{
	uint32_t age = get(&table->windows) / NVE_LEARNED_AGE;

	if (get(&e->age) != age || get(&e->all) >= HALVE_UNITS) {
		put(&e->age, age);
		put(&e->all, get(&e->all) / 2);
		put(&e->waited, get(&e->waited) / 2);
	}
	add(&e->waited, waited);
	add(&e->all, all);
}

bool nve_learned_label(const struct nve_learned_ip *e, double *label)
{
	double all = get(&e->all), waited = get(&e->waited);

	if (all <= 0)
		return false;
	*label = waited < all ? waited / all : 1;
	return true;
}

double nve_learned_believed(struct nve_learned *table, uint64_t ip)
{
	const struct nve_learned_ip *e = nve_learned_find(table, ip, false);
	double label;

	return e && nve_learned_label(e, &label) ? label : NAN;
}
