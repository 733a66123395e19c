#include "count/ahead/misses.h"

#include <math.h>

#include "base/base.h"

enum {
	ENTRIES = 512,
	PROBES = 8,
	DRAWN = 8,        /* lines that a window leaves with each of its instructions */
	KEPT = 4 * DRAWN, /* of the last windows */
	ANY = ENTRIES,    /* the entry of all instructions together */
	NONE = UINT16_MAX,
};

struct kept {
	uint64_t addr, ip, place;
	float dirty;
};

struct entry {
	uint64_t ip;        /* 0: free */
	uint32_t window;    /* the last one that saw it wait; numbered from 1 */
	uint32_t kept, at;  /* lines kept, and where the next one goes */
	double cycles;      /* waited in that window */
	double passed, due; /* of them passed in the draw, and where the next line is drawn */
	struct kept line[KEPT];
};

struct nve_misses {
	const struct nve_miss_sink *sink;
	uint32_t window;
	uint64_t random;
	/* stall time not yet spread, and what of it is left from the epoch before */
	double due_ns, overdue_ns;
	double spread_ns; /* of samples since the last epoch ended */
	uint64_t attributed_ns;
	struct nve_miss batch[KEPT];
	struct entry entry[ENTRIES + 1];
};

size_t nve_misses_bytes(void)
{
	return sizeof(struct nve_misses);
}

struct nve_misses *nve_misses_init(void *mem, const struct nve_miss_sink *sink)
{
	struct nve_misses *m = mem;

	m->sink = sink;
	m->random = 88172645463325252;
	return m;
}

/* Uniform in [0, 1). Xorshift: Marsaglia, J. Stat. Softw. 8(14), 2003. */
static double draw(struct nve_misses *m)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (double)(m->random >> 11) * 0x1p-53;
}

/* NULL: not there. */
static struct entry *find(struct nve_misses *m, uint64_t ip)
{
	uint32_t first = (uint32_t)(ip * 0x9e3779b97f4a7c15u >> 40);

	for (uint32_t probe = 0; probe < PROBES; probe++) {
		struct entry *e = &m->entry[(first + probe) % ENTRIES];

		if (e->ip == ip)
			return e;
		if (!e->ip)
			break;
	}
	return NULL;
}

/* Made where it is not there, in place of the one that has not been seen for longest. NULL: all of
 * them were seen in this window. */
static struct entry *make(struct nve_misses *m, uint64_t ip)
{
	uint32_t first = (uint32_t)(ip * 0x9e3779b97f4a7c15u >> 40);
	struct entry *e, *oldest = &m->entry[first % ENTRIES];

	for (uint32_t probe = 0; probe < PROBES; probe++) {
		e = &m->entry[(first + probe) % ENTRIES];
		if (e->ip == ip)
			return e;
		if (e->window < oldest->window)
			oldest = e;
		if (!e->ip)
			break;
	}
	if (oldest->window == m->window)
		return NULL;
	oldest->ip = ip;
	oldest->kept = oldest->at = oldest->window = 0;
	return oldest;
}

/* The time that each instruction waited in this window. */
static void add_up(struct nve_misses *m, struct entry *e, double cycles)
{
	if (e->window != m->window) {
		e->window = m->window;
		e->cycles = 0;
		e->passed = 0;
		e->due = draw(m);
	}
	e->cycles += cycles;
}

/* Written in the window; or, as far as those of its instruction that were followed for longer tell,
 * after it. */
static float dirty_probability(const struct nve_line *line, uint32_t steps,
			       struct nve_dirty_table *dirty)
{
	double p;

	if (line->written)
		return 1;
	if (!nve_dirty_probability_later(dirty, line->first_ip, steps - line->first_step, &p))
		return 0;
	return (float)p;
}

/* Systematic sampling: every DRAWN-th part of the time waited leaves the line that it fell on. How
 * many times does this one? */
static uint32_t times_drawn(struct entry *e, double cycles)
{
	double step = e->cycles / DRAWN;
	uint32_t times = 0;

	for (e->passed += cycles; times < DRAWN && e->due * step < e->passed; times++)
		e->due++;
	return times;
}

static void keep(struct entry *e, const struct kept *line, uint32_t times)
{
	for (; times; times--) {
		e->line[e->at] = *line;
		e->at = (e->at + 1) % KEPT;
		e->kept = NVE_MIN(e->kept + 1, (uint32_t)KEPT);
	}
}

void nve_misses_learn(struct nve_misses *m, struct nve_wait *wait, size_t count,
		      const struct nve_lines *lines, uint32_t steps, struct nve_dirty_table *dirty)
{
	struct entry *any = &m->entry[ANY];

	m->window++;
	for (size_t i = 0; i < count; i++) {
		struct entry *e = make(m, wait[i].ip);

		wait[i].entry = (uint16_t)(e ? e - m->entry : NONE);
		if (e)
			add_up(m, e, wait[i].cycles);
		add_up(m, any, wait[i].cycles);
	}
	for (size_t i = 0; i < count; i++) {
		const struct nve_line *line = &lines->line[wait[i].line];
		struct entry *e = wait[i].entry == NONE ? NULL : &m->entry[wait[i].entry];
		uint32_t times = e ? times_drawn(e, wait[i].cycles) : 0;
		uint32_t any_times = times_drawn(any, wait[i].cycles);
		struct kept kept = {.addr = line->id * NVE_LINE_BYTES, .ip = line->first_ip};

		if (!times && !any_times)
			continue;
		kept.dirty = dirty_probability(line, steps, dirty);
		if (m->sink->locate)
			kept.place = m->sink->locate(kept.addr);
		keep(e, &kept, times);
		keep(any, &kept, any_times);
	}
}

/* Whole nanoseconds: as many for each, the first ones one more. Where the first is goes around. */
static void send(struct nve_misses *m, const struct entry *e, uint64_t stall_ns)
{
	uint64_t each = stall_ns / e->kept, more = stall_ns % e->kept;
	uint32_t first = (uint32_t)(draw(m) * e->kept);

	for (uint32_t i = 0; i < e->kept; i++) {
		const struct kept *k = &e->line[(first + i) % e->kept];

		m->batch[i] = (struct nve_miss){
			.addr = k->addr,
			.ip = k->ip,
			.place = k->place,
			.stall_ns = each + (i < more),
			.dirty = k->dirty,
		};
	}
	m->sink->take(m->batch, e->kept);
	m->attributed_ns += stall_ns;
}

void nve_misses_spread(struct nve_misses *m, uint64_t ip, double stall_ns)
{
	const struct entry *e = find(m, ip);
	double whole;

	m->spread_ns += stall_ns;
	m->due_ns += stall_ns;
	if (!e || !e->kept)
		e = &m->entry[ANY];
	whole = floor(m->due_ns);
	if (!e->kept || whole < 1)
		return;
	send(m, e, (uint64_t)whole);
	m->due_ns -= whole;
	m->overdue_ns = 0;
}

void nve_misses_end_epoch(struct nve_misses *m, uint64_t stall_ns)
{
	m->due_ns -= m->overdue_ns;
	m->due_ns += (double)stall_ns - m->spread_ns;
	m->spread_ns = 0;
	m->overdue_ns = m->due_ns;
}

uint64_t nve_misses_attributed_ns(const struct nve_misses *m)
{
	return m->attributed_ns;
}
