#include "count/ahead/predictor.h"

#include <stdatomic.h>

enum {
	SLOTS = 4096, /* of each table, a power of two */
	TABLES = 3,   /* without history, and by two lengths of it */
	STRONGEST = 7,
	TAKEN = 4, /* counters are 0 to 7, from here on a branch is taken; 3 and 4 are weak */
	COUNTER_BITS = 3,
	TAG_MASK = 0x1fff,
};

/* Branches before, that a table tells apart. */
static const unsigned history_bits[TABLES] = {0, 8, 40};

/* A slot: tag << COUNTER_BITS | counter. 0: free. */
struct nve_predictor {
	_Atomic uint16_t slot[TABLES][SLOTS];
};

/* Where a table would have a branch. */
struct place {
	_Atomic uint16_t *slot;
	uint16_t tag;
};

size_t nve_predictor_bytes(void)
{
	return sizeof(struct nve_predictor);
}

static struct place find(struct nve_predictor *p, int table, uint64_t ip, uint64_t history)
{
	uint64_t key = history & ((1ull << history_bits[table]) - 1);

	key = (key * 0xd6e8feb86659fd93u ^ ip) * 0x9e3779b97f4a7c15u;
	key ^= key >> 31;
	return (struct place){&p->slot[table][key % SLOTS], (uint16_t)(key >> 40 & TAG_MASK) | 1};
}

static bool matches(const struct place *place, unsigned *counter)
{
	unsigned slot = atomic_load_explicit(place->slot, memory_order_relaxed);

	*counter = slot & STRONGEST;
	return slot >> COUNTER_BITS == place->tag;
}

static void put(const struct place *place, unsigned tag, unsigned counter)
{
	atomic_store_explicit(place->slot, (uint16_t)(tag << COUNTER_BITS | counter),
			      memory_order_relaxed);
}

static bool is_weak(unsigned counter)
{
	return counter == TAKEN || counter == TAKEN - 1;
}

static unsigned moved(unsigned counter, bool up)
{
	if (up)
		return counter < STRONGEST ? counter + 1 : STRONGEST;
	return counter > 0 ? counter - 1 : 0;
}

/* What has proved itself there is weakened first. */
static void allocate(const struct place *place, bool taken)
{
	unsigned slot = atomic_load_explicit(place->slot, memory_order_relaxed);
	unsigned counter = slot & STRONGEST;

	if (slot && !is_weak(counter))
		put(place, slot >> COUNTER_BITS, moved(counter, counter < TAKEN));
	else
		put(place, place->tag, taken ? TAKEN : TAKEN - 1);
}

bool nve_predictor_branch(struct nve_predictor *p, uint64_t *history, uint64_t ip, bool taken)
{
	struct place place[TABLES];
	unsigned counter[TABLES];
	int knows = -1;               /* the longest history that has met the case */
	bool predicted_taken = false; /* a branch that nobody knows falls through */

	for (int t = 0; t < TABLES; t++) {
		place[t] = find(p, t, ip, *history);
		if (!matches(&place[t], &counter[t]))
			continue;
		/* What has hardly been met says less than what a shorter history says. */
		if (knows < 0 || !is_weak(counter[t]))
			predicted_taken = counter[t] >= TAKEN;
		knows = t;
	}
	if (knows >= 0)
		put(&place[knows], place[knows].tag, moved(counter[knows], taken));
	if (predicted_taken != taken && knows + 1 < TABLES)
		allocate(&place[knows + 1], taken);
	*history = *history << 1 | taken;
	return predicted_taken != taken;
}
