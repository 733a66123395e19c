#include "count/ahead/misses.h"

#include <math.h>

#include "base/base.h"

enum {
	ENTRIES = 512,
	PROBES = 8,
	DRAWN = 8,        /* lines that a window leaves with each of its instructions */
	KEPT = 4 * DRAWN, /* of the last windows */
	FOUND = 16,    /* places found in the cache that are kept; a quarter of them a window's */
	ANY = ENTRIES, /* the entry of all instructions together */
	WRITES = 1024, /* instructions and places whose writes are known */
	WRITES_FADE = 64, /* lines */
	NONE = UINT16_MAX,
};

struct kept {
	uint64_t addr, ip, place;
	float dirty;
};

/* Systematic sampling of the time waited in a window. */
struct draw {
	double cycles; /* in all */
	double passed; /* of them gone through */
	double due;    /* how many were drawn, and a random start */
};

struct entry {
	uint64_t ip, access_ip; /* 0: free */
	uint32_t window;        /* the last one that saw it wait; numbered from 1 */
	uint32_t kept, at;      /* lines kept, and where the next one goes */
	uint32_t found, found_at;
	struct draw missed, cached;
	uint64_t found_place[FOUND]; /* of lines that it found in the cache */
	struct kept line[KEPT];
};

/* Of lines of a place that an instruction missed: how many, and how many of them get written. */
struct writes {
	uint64_t ip, place; /* of the access */
	float lines, written;
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
	struct writes writes[WRITES];
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
static double uniform(struct nve_misses *m)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (double)(m->random >> 11) * 0x1p-53;
}

static uint32_t slot_of(uint64_t ip)
{
	return (uint32_t)(ip * 0x9e3779b97f4a7c15u >> 40);
}

/* NULL: not there. */
static const struct entry *find(const struct nve_misses *m, uint64_t ip)
{
	for (uint32_t probe = 0; probe < PROBES; probe++) {
		const struct entry *e = &m->entry[(slot_of(ip) + probe) % ENTRIES];

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
	struct entry *e, *oldest = &m->entry[slot_of(ip) % ENTRIES];

	for (uint32_t probe = 0; probe < PROBES; probe++) {
		e = &m->entry[(slot_of(ip) + probe) % ENTRIES];
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
	oldest->kept = oldest->at = oldest->window = oldest->found = oldest->found_at = 0;
	return oldest;
}

/* The time that each instruction waited in this window. */
static void add_up(struct nve_misses *m, struct entry *e, const struct nve_wait *w)
{
	if (e->window != m->window) {
		e->window = m->window;
		e->missed = (struct draw){.due = uniform(m)};
		e->cached = (struct draw){.due = uniform(m)};
	}
	if (w->missed)
		e->missed.cycles += w->cycles;
	else
		e->cached.cycles += w->cycles;
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

/* The time waited is cut into so many parts, and each of them leaves a line. How many times does
 * this one? */
static uint32_t times_drawn(struct draw *d, double cycles, uint32_t parts)
{
	double part = d->cycles / parts;
	uint32_t times = 0;

	for (d->passed += cycles; times < parts && d->due * part < d->passed; times++)
		d->due++;
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

static uint64_t locate(const struct nve_misses *m, uint64_t addr)
{
	return m->sink->locate ? m->sink->locate(addr) : 0;
}

static struct writes *writes_at(const struct nve_misses *m, uint64_t ip, uint64_t place)
{
	uint64_t key = (ip ^ place * 0x9e3779b97f4a7c15u) * 0x9e3779b97f4a7c15u;

	return (struct writes *)(uintptr_t)&m->writes[(key >> 40) % WRITES];
}

/* Who came before at the same slot is forgotten. */
static void learn_writes(struct nve_misses *m, const struct kept *line)
{
	struct writes *w = writes_at(m, line->ip, line->place);

	if (w->ip != line->ip || w->place != line->place)
		*w = (struct writes){.ip = line->ip, .place = line->place};
	if (w->lines >= WRITES_FADE) {
		w->lines /= 2;
		w->written /= 2;
	}
	w->lines++;
	w->written += line->dirty;
}

/* NULL: not known. */
static const struct writes *find_writes(const struct nve_misses *m, uint64_t ip, uint64_t place)
{
	const struct writes *w = writes_at(m, ip, place);

	return w->ip == ip && w->place == place && w->lines > 0 ? w : NULL;
}

static void keep_found(struct nve_misses *m, struct entry *e, uint64_t addr)
{
	e->found_place[e->found_at] = locate(m, addr);
	e->found_at = (e->found_at + 1) % FOUND;
	e->found = NVE_MIN(e->found + 1, (uint32_t)FOUND);
}

/* One that finds no entry of its own has a part in the common one. */
static void enter(struct nve_misses *m, struct nve_wait *w)
{
	struct entry *e = make(m, w->ip);

	w->entry = (uint16_t)(e ? e - m->entry : NONE);
	if (e) {
		e->access_ip = w->access_ip;
		add_up(m, e, w);
	}
	add_up(m, &m->entry[ANY], w);
}

static void keep_missed(struct nve_misses *m, struct entry *e, const struct nve_wait *w,
			const struct kept *line)
{
	struct entry *any = &m->entry[ANY];
	uint32_t times = e ? times_drawn(&e->missed, w->cycles, DRAWN) : 0;
	uint32_t any_times = times_drawn(&any->missed, w->cycles, DRAWN);
	struct kept kept = *line;

	if (!times && !any_times)
		return;
	kept.place = locate(m, kept.addr);
	learn_writes(m, &kept);
	if (e)
		keep(e, &kept, times);
	keep(any, &kept, any_times);
}

void nve_misses_learn(struct nve_misses *m, struct nve_wait *wait, size_t count,
		      const struct nve_lines *lines, uint32_t steps, struct nve_dirty_table *dirty)
{
	m->window++;
	for (size_t i = 0; i < count; i++)
		enter(m, &wait[i]);
	for (size_t i = 0; i < count; i++) {
		const struct nve_wait *w = &wait[i];
		const struct nve_line *line = &lines->line[w->line];
		struct entry *e = w->entry == NONE ? NULL : &m->entry[w->entry];
		struct kept kept = {.addr = line->id * NVE_LINE_BYTES, .ip = w->access_ip};

		if (w->missed) {
			kept.dirty = dirty_probability(line, steps, dirty);
			keep_missed(m, e, w, &kept);
		} else if (e && times_drawn(&e->cached, w->cycles, FOUND / 4)) {
			keep_found(m, e, kept.addr);
		}
	}
}

uint64_t nve_misses_access(const struct nve_misses *m, uint64_t ip)
{
	const struct entry *e = find(m, ip);

	return e && e->kept ? e->access_ip : 0;
}

static void take(struct nve_misses *m, size_t count, uint64_t stall_ns)
{
	m->sink->take(m->batch, count);
	m->attributed_ns += stall_ns;
}

/* Whole nanoseconds: as many for each, the first ones one more. Where the first is goes around. */
static void send_kept(struct nve_misses *m, const struct entry *e, uint64_t stall_ns)
{
	uint64_t each = stall_ns / e->kept, more = stall_ns % e->kept;
	uint32_t first = (uint32_t)(uniform(m) * e->kept);

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
	take(m, e->kept, stall_ns);
}

/* Has the instruction been seen to find lines of this place in the cache, and not to miss any? */
static bool is_cached(const struct nve_misses *m, const struct entry *e, uint64_t place)
{
	if (find_writes(m, e->access_ip, place))
		return false;
	for (uint32_t i = 0; i < e->found; i++)
		if (e->found_place[i] == place)
			return true;
	return false;
}

/* Of a place that no window has seen the instruction miss, its lines in general. */
static float written_share(const struct nve_misses *m, const struct entry *e, uint64_t place)
{
	const struct writes *w = find_writes(m, e->access_ip, place);
	float sum = 0;

	if (w)
		return w->written / w->lines;
	for (uint32_t i = 0; i < e->kept; i++)
		sum += e->line[i].dirty;
	return sum / (float)e->kept;
}

/* The line that the sample itself tells of. False: it is nobody's, or not missed. */
static bool send_own(struct nve_misses *m, const struct entry *e, uint64_t addr, uint64_t stall_ns)
{
	uint64_t place = locate(m, addr);

	if (!place || is_cached(m, e, place))
		return false;
	m->batch[0] = (struct nve_miss){
		.addr = addr / NVE_LINE_BYTES * NVE_LINE_BYTES,
		.ip = e->access_ip,
		.place = place,
		.stall_ns = stall_ns,
		.dirty = written_share(m, e, place),
	};
	take(m, 1, stall_ns);
	return true;
}

bool nve_misses_is_news(const struct nve_misses *m, uint64_t ip, uint64_t addr)
{
	const struct entry *e = find(m, ip);
	uint64_t place;

	if (!e || !e->kept || !addr)
		return !e;
	place = locate(m, addr);
	return place && !find_writes(m, e->access_ip, place) && !is_cached(m, e, place);
}

void nve_misses_spread(struct nve_misses *m, uint64_t ip, double stall_ns, uint64_t addr)
{
	const struct entry *own = find(m, ip), *e = own && own->kept ? own : &m->entry[ANY];
	double whole;

	m->spread_ns += stall_ns;
	m->due_ns += stall_ns;
	whole = floor(m->due_ns);
	if (!e->kept || whole < 1)
		return;
	if (e != own || !addr || !send_own(m, e, addr, (uint64_t)whole))
		send_kept(m, e, (uint64_t)whole);
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
