#include "count/ahead/dirty.h"

#include <math.h>
#include <stdatomic.h>

enum {
	SLOTS = 2048,
	PROBES = 8,
	HALVE_LINES = 4096, /* above it the counts are halved: what was long ago fades */
	LEAST_LINES = 4,    /* a bucket with fewer says nothing */
	MIN_FOLLOWED = 32,  /* instructions; lines followed for less say nothing */
	ANOTHER_PHASE = 8,  /* windows before it weigh so many times less */
	FADE_WEIGHT = 2,    /* of a thread's fraction: above it older windows weigh half */
};

struct entry {
	_Atomic uint64_t ip; /* 0: free */
	/* of the lines followed to the end of bucket j and not written before it: all, and those
	 * written in it */
	_Atomic uint32_t at_risk[NVE_DIRTY_BUCKETS], written[NVE_DIRTY_BUCKETS];
	_Atomic uint32_t beside, alone; /* lines that were there: see nve_line */
};

struct nve_dirty_table {
	struct entry slot[SLOTS];
};

size_t nve_dirty_table_bytes(void)
{
	return sizeof(struct nve_dirty_table);
}

static struct entry *find(struct nve_dirty_table *table, uint64_t ip, bool make)
{
	uint32_t first = (uint32_t)(ip * 0x9e3779b97f4a7c15u >> 40);

	for (uint32_t probe = 0; probe < PROBES; probe++) {
		struct entry *e = &table->slot[(first + probe) % SLOTS];
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

static uint32_t get(const _Atomic uint32_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* As in learned.c: a lost update costs a line. */
static void count(_Atomic uint32_t *counter)
{
	atomic_store_explicit(counter, get(counter) + 1, memory_order_relaxed);
}

static void halve(_Atomic uint32_t *counter)
{
	atomic_store_explicit(counter, get(counter) / 2, memory_order_relaxed);
}

static uint32_t bucket_end(int bucket)
{
	return 16u << bucket;
}

void nve_dirty_learn(struct nve_dirty_table *table, uint64_t ip, uint32_t followed, bool written,
		     uint32_t delay)
{
	struct entry *e = find(table, ip, true);

	for (int j = 0; e && j < NVE_DIRTY_BUCKETS && followed >= bucket_end(j); j++) {
		if (get(&e->at_risk[j]) >= HALVE_LINES) {
			halve(&e->at_risk[j]);
			halve(&e->written[j]);
		}
		count(&e->at_risk[j]);
		if (!written || delay >= bucket_end(j))
			continue;
		count(&e->written[j]);
		break;
	}
}

bool nve_dirty_probability_later(struct nve_dirty_table *table, uint64_t ip, uint32_t followed,
				 double *probability)
{
	const struct entry *e = find(table, ip, false);
	double clean = 1;

	if (!e || get(&e->at_risk[0]) < LEAST_LINES)
		return false;
	for (int j = 0; j < NVE_DIRTY_BUCKETS && get(&e->at_risk[j]) >= LEAST_LINES; j++)
		if (followed < bucket_end(j))
			clean *= 1 - fmin((double)get(&e->written[j]) / get(&e->at_risk[j]), 1);
	*probability = 1 - clean;
	return true;
}

bool nve_dirty_probability(struct nve_dirty_table *table, uint64_t ip, double *probability)
{
	return nve_dirty_probability_later(table, ip, 0, probability);
}

double nve_dirty_unresolved(struct nve_dirty_table *table, uint64_t ip)
{
	const struct entry *e = find(table, ip, false);
	double written;

	if (!e || !nve_dirty_probability(table, ip, &written))
		return 1;
	return get(&e->at_risk[NVE_DIRTY_BUCKETS - 1]) >= LEAST_LINES ? 0 : 1 - written;
}

void nve_dirty_end_window(struct nve_dirty *d, double weight, double fraction, uint32_t lines)
{
	if (d->weight >= FADE_WEIGHT) {
		d->weight /= 2;
		d->sum /= 2;
	}
	d->weight += weight;
	d->sum += weight * fraction;
	d->all += weight;
	d->all_squared += weight * weight;
	d->fraction += weight * fraction;
	d->fraction_squared += weight * fraction * fraction;
	d->lines += lines;
}

void nve_dirty_another_phase(struct nve_dirty *d)
{
	d->weight /= ANOTHER_PHASE;
	d->sum /= ANOTHER_PHASE;
}

double nve_dirty_fraction(const struct nve_dirty *d)
{
	return d->weight > 0 ? d->sum / d->weight : 0;
}

double nve_dirty_se(const struct nve_dirty *d)
{
	double mean, variance, windows, chance;

	if (d->all <= 0)
		return 1;
	windows = d->all * d->all / d->all_squared; /* as many of equal weight say as much */
	if (windows < 1.5)
		return 1;
	mean = d->fraction / d->all;
	variance = fmax(d->fraction_squared / d->all - mean * mean, 0);
	chance = 1 / ((double)d->lines + 2);
	return sqrt(variance / (windows - 1) + chance * chance);
}

/* What an instruction finds in the cache beside a missed line has come with that, or was there
 * before. Then it would find it there as well where nothing has touched the other line. */
static void learn_pair(struct nve_dirty_table *table, const struct nve_line *line)
{
	struct entry *e = find(table, line->first_ip, true);

	if (!e)
		return;
	if (get(&e->beside) + get(&e->alone) >= HALVE_LINES) {
		halve(&e->beside);
		halve(&e->alone);
	}
	count(line->beside ? &e->beside : &e->alone);
}

double nve_dirty_brought(struct nve_dirty_table *table, uint64_t ip)
{
	const struct entry *e = find(table, ip, false);
	double beside = e ? get(&e->beside) : 0, alone = e ? get(&e->alone) : 0;

	return beside + alone >= LEAST_LINES ? beside / (beside + alone) : 0;
}

static bool is_followed(const struct nve_line *line, uint32_t steps)
{
	return (line->missed || line->beside) && steps - line->first_step >= MIN_FOLLOWED;
}

static void learn_lines(struct nve_dirty_table *table, const struct nve_lines *lines,
			uint32_t steps)
{
	for (uint32_t i = 0; i < lines->count; i++) {
		const struct nve_line *line = &lines->line[i];

		if (line->beside || line->alone)
			learn_pair(table, line);
		if (is_followed(line, steps))
			nve_dirty_learn(table, line->first_ip, steps - line->first_step,
					line->written, line->written_step - line->first_step);
	}
}

/* What is known of the lines that an instruction brings in. */
struct fate {
	uint64_t ip;
	double probability, unresolved, brought;
	bool known;
};

static struct fate fate_of(struct nve_dirty_table *table, uint64_t ip)
{
	struct fate fate = {.ip = ip};

	fate.known = nve_dirty_probability(table, ip, &fate.probability);
	fate.unresolved = nve_dirty_unresolved(table, ip);
	fate.brought = nve_dirty_brought(table, ip);
	return fate;
}

void nve_dirty_window(struct nve_dirty *d, struct nve_dirty_table *table,
		      const struct nve_lines *lines, uint32_t steps, double share)
{
	double sum = 0, unresolved = 0, n = 0, followed = 0;
	struct fate fate = {0};

	learn_lines(table, lines, steps);
	for (uint32_t i = 0; i < lines->count; i++) {
		const struct nve_line *line = &lines->line[i];
		double part;

		if (!is_followed(line, steps))
			continue;
		if (line->first_ip != fate.ip)
			fate = fate_of(table, line->first_ip);
		part = line->missed ? 1 : fate.brought;
		unresolved += part * fate.unresolved;
		followed += part;
		if (!fate.known)
			continue;
		sum += part * fate.probability;
		n += part;
	}
	d->unresolved = followed > 0 ? unresolved / followed : 0;
	if (n > 0 && share > 0)
		nve_dirty_end_window(d, share, sum / n, (uint32_t)(n + 0.5));
}
