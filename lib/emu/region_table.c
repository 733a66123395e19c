#include "emu/region_table.h"

#include <stdbool.h>
#include <string.h>

#include "base/base.h"

_Static_assert((NVE_REGION_SLOTS & (NVE_REGION_SLOTS - 1)) == 0, "a hash is masked");
_Static_assert(NVE_REGION_SLOTS > 2 * NVE_REGION_NODES, "a search ends at an empty slot");

static uint32_t hash(uint32_t parent, const char *name, size_t length)
{
	uint32_t h = 2166136261u ^ parent;

	for (size_t i = 0; i < length; i++)
		h = (h ^ (uint8_t)name[i]) * 16777619u;
	return h ^ h >> 16;
}

static bool is(const struct nve_region_node *node, uint32_t parent, const char *name, size_t length)
{
	return node->parent == parent && !memcmp(node->name, name, length) && !node->name[length];
}

static uint32_t make(struct nve_region_table *table, uint32_t parent, const char *name,
		     size_t length)
{
	uint32_t number = nve_region_table_count(table);

	if (number >= NVE_REGION_NODES)
		return NVE_REGION_NONE;
	number = atomic_fetch_add(&table->reserved, 1) + 1;
	if (number >= NVE_REGION_NODES)
		return NVE_REGION_NONE;
	table->node[number].parent = parent;
	memcpy(table->node[number].name, name, length);
	return number;
}

uint32_t nve_region_table_find(struct nve_region_table *table, uint32_t parent, const char *name)
{
	size_t length = strnlen(name, NVE_REGION_NAME_BYTES - 1);
	uint32_t made = NVE_REGION_NONE;

	for (uint32_t i = hash(parent, name, length);; i++) {
		_Atomic uint16_t *slot = &table->slot[i % NVE_REGION_SLOTS];
		uint16_t number = atomic_load_explicit(slot, memory_order_acquire);

		if (!number && made == NVE_REGION_NONE)
			made = make(table, parent, name, length);
		if (!number && made == NVE_REGION_NONE)
			return NVE_REGION_NONE;
		/* Where another was quicker, number is what it has put there. */
		if (!number && atomic_compare_exchange_strong(slot, &number, (uint16_t)made))
			return made;
		if (is(&table->node[number], parent, name, length))
			return number;
	}
}

uint32_t nve_region_table_count(const struct nve_region_table *table)
{
	uint32_t reserved = atomic_load(&table->reserved);

	return NVE_MIN(reserved, (uint32_t)NVE_REGION_NODES - 1) + 1;
}
