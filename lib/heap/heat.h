/*
 * Heat: on which memory stall time falls. A table of one thread, filled in its handler from the
 * stream of misses; tables of threads add up to the process's.
 *
 * A row is all memory of one site, of one arena, or of one kind: sums of stall time, the part of it
 * on lines that get written, their course over time, and what the standard error of a row's share
 * needs. A share is a ratio of sums over batches of samples, which are long enough to be
 * independent of each other: the error is that of a ratio estimator.
 *
 * Pure, no malloc. nve_heat_add() is signal-safe; one thread adds to a table, others may read it
 * meanwhile and see it as of a moment before or after.
 */
#ifndef NVE_HEAP_HEAT_H
#define NVE_HEAP_HEAT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "count/miss.h"

/*
 * What locate() of the sink says of an address, in struct nve_miss.place: kind of memory (1 to 15),
 * arena (below 65,536) and site (below 2^32), which are numbers of the heap. 0: it was not asked.
 */
#define NVE_HEAT_PLACE(kind, arena, site)                                                          \
	((uint64_t)(kind) << 56 | (uint64_t)(arena) << 32 | (uint64_t)(site))

static inline unsigned nve_heat_kind(uint64_t place)
{
	return (unsigned)(place >> 56) & 15;
}
static inline uint32_t nve_heat_arena(uint64_t place)
{
	return (uint32_t)(place >> 32) & 0xffff;
}
static inline uint32_t nve_heat_site(uint64_t place)
{
	return (uint32_t)place;
}

/* What the rows are of, and their keys. Sites of different kinds are different sites. */
enum nve_heat_of { NVE_HEAT_SITE = 1, NVE_HEAT_ARENA, NVE_HEAT_KIND, NVE_HEAT_REST };
#define NVE_HEAT_KEY(of, place) ((uint64_t)(of) << 60 | (place))

static inline enum nve_heat_of nve_heat_of(uint64_t key)
{
	return (enum nve_heat_of)(key >> 60);
}

enum { NVE_HEAT_BUCKETS = 120, NVE_HEAT_SECOND_NS = 1000000000 };

struct nve_heat_row {
	uint64_t key;
	uint64_t stall_ns;
	double stall_wb_ns;       /* the part of it on lines that get written */
	uint64_t lines;           /* lines of misses that stood for it */
	uint64_t batch_ns;        /* of the batch under way */
	double squares, products; /* over batches: of the row's sum, and of it and the table's */
	/* stall time over time, ns; bucket i holds the seconds from i << doublings on */
	float bucket_ns[NVE_HEAT_BUCKETS];
};

struct nve_heat {
	uint32_t capacity, mask; /* rows at most; of the index */
	_Atomic uint32_t rows;
	uint32_t doublings; /* a bucket holds 1 << doublings seconds */
	/* stall time of the batch under way, its samples; over batches: sum of squares, how many */
	uint64_t batch_ns;
	uint32_t batch_samples;
	uint64_t batches;
	double squares;
	uint64_t stall_ns;
	struct nve_heat_row row[]; /* the index follows */
};

size_t nve_heat_bytes(uint32_t rows);
/* mem: nve_heat_bytes(rows) of zeroed memory, rows a power of two. What does not fit into them is
 * in one row of NVE_HEAT_REST. */
struct nve_heat *nve_heat_init(void *mem, uint32_t rows);

/* The misses of one sample; at_ns: time since the heat's start. */
void nve_heat_add(struct nve_heat *h, const struct nve_miss *miss, size_t count, uint64_t at_ns);

/* The row of a key; NULL: there is none. */
const struct nve_heat_row *nve_heat_find(const struct nve_heat *h, uint64_t key);

/* Adds a thread's table to the process's, its batch under way included. */
void nve_heat_merge(struct nve_heat *to, const struct nve_heat *from);

/* Standard error of a row's share of the table's stall time, 0 to 1; -1 while there are fewer than
 * two batches. Source: ratio estimator, Cochran, Sampling Techniques, 1977, 2.11. */
double nve_heat_share_se(const struct nve_heat *h, const struct nve_heat_row *row);

#endif
