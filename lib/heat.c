#include "heat.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/log.h"
#include "count/pmu/pmu.h"
#include "counters.h"
#include "heap/heap.h"
#include "heap/heat.h"
#include "heap/resident.h"

enum { THREAD_ROWS = 1024, PROCESS_ROWS = 8192, LISTED = 4096, PPM = 1000000 };

/* A site as it is listed: its key, and what it is sorted by. */
struct listed {
	uint64_t key, weight;
};

static struct {
	uint64_t started_ns;
	struct nve_heat *ended; /* of threads that have ended */
	struct nve_heat *shown; /* of all, for the last snapshot */
	struct listed *list;    /* for the last snapshot: sites with heat, then others */
	uint32_t listed;
	uint64_t arenas[PROCESS_ROWS], kinds[NVE_HEAP_KINDS + 2]; /* keys */
	uint32_t arena_count, kind_count;
	/* of the last snapshot: stall time over that of look-ahead, and of one access */
	double scale, access_ns;
	struct nve_resident resident; /* of the last snapshot */
} state;

static const char *const kind_names[] = {
	[NVE_HEAP_NOWHERE] = "unknown", [NVE_HEAP_BLOCK] = "heap",  [NVE_HEAP_LOOSE] = "loose",
	[NVE_HEAP_MAPPED] = "mapped",   [NVE_HEAP_STACK] = "stack", [NVE_HEAP_DATA] = "data",
	[NVE_HEAP_BREAK] = "break",     [NVE_HEAP_OTHER] = "other",
};

static void *map(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

/* All zeros again, and no memory spent. */
static void clear(struct nve_heat **h)
{
	if (*h)
		munmap(*h, nve_heat_bytes(PROCESS_ROWS));
	*h = map(nve_heat_bytes(PROCESS_ROWS));
	if (*h)
		nve_heat_init(*h, PROCESS_ROWS);
}

static uint64_t locate(uint64_t addr)
{
	struct nve_heap_place place;

	nve_heap_find(addr, &place);
	return NVE_HEAT_PLACE(place.kind, place.arena & 0xffff, place.site);
}

static void take(const struct nve_miss *misses, size_t count)
{
	struct nve_thread *t = nve_thread_self;

	if (!t)
		return;
	if (!t->heat) {
		t->heat_bytes = nve_heat_bytes(THREAD_ROWS);
		t->heat = map(t->heat_bytes);
		if (!t->heat)
			return;
		nve_heat_init(t->heat, THREAD_ROWS);
	}
	nve_heat_add(t->heat, misses, count, nve_clock_ns(CLOCK_MONOTONIC) - state.started_ns);
}

void nve_heat_begin(const struct nve_options *options)
{
	static const struct nve_miss_sink sink = {.locate = locate, .take = take};

	if (!options->heat)
		return;
	state.list = map(LISTED * sizeof(*state.list));
	nve_heat_after_fork();
	if (state.ended && state.list)
		nve_counters_set_miss_sink(&sink);
	else if (nve_heap_arena_count()) /* else something has been told already */
		nve_log(NVE_LOG_WARN, "NVM_HEAT: no memory for its tables");
}

void nve_heat_after_fork(void)
{
	struct nve_thread *t = nve_thread_self;

	if (!state.list)
		return;
	if (t && t->heat)
		nve_heat_init(t->heat, THREAD_ROWS);
	state.started_ns = nve_clock_ns(CLOCK_MONOTONIC);
	clear(&state.ended);
}

void nve_heat_ended(const struct nve_thread *t)
{
	if (t->heat && state.ended)
		nve_heat_merge(state.ended, t->heat);
}

static void show(struct nve_thread *t, void *unused)
{
	(void)unused;
	if (t->heat)
		nve_heat_merge(state.shown, t->heat);
}

/* Puts an entry into a list that is kept as a heap, the lightest on top; a list that is full
 * forgets that one. */
static void sift_down(struct listed *list, uint32_t count, uint32_t at)
{
	struct listed moved = list[at];
	uint32_t child;

	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && list[child + 1].weight < list[child].weight)
			child++;
		if (list[child].weight >= moved.weight)
			break;
		list[at] = list[child];
		at = child;
	}
	list[at] = moved;
}

/* The heaviest come first. */
static void sort(struct listed *list, uint32_t count)
{
	for (uint32_t i = count / 2; i-- > 0;)
		sift_down(list, count, i);
	for (uint32_t end = count; end > 1; end--) {
		struct listed lightest = list[0];

		list[0] = list[end - 1];
		list[end - 1] = lightest;
		sift_down(list, end - 1, 0);
	}
}

/* Among the room heaviest of a part of the list, which is no heap as long as it is not full. */
static void keep_heaviest(struct listed *list, uint32_t *count, uint32_t room, struct listed entry)
{
	if (*count < room) {
		list[(*count)++] = entry;
		if (*count == room)
			for (uint32_t i = room / 2; i-- > 0;)
				sift_down(list, room, i);
		return;
	}
	if (!room || list[0].weight >= entry.weight)
		return;
	list[0] = entry;
	sift_down(list, room, 0);
}

static void list_hot(void)
{
	uint32_t rows = state.shown->rows;

	state.listed = state.arena_count = state.kind_count = 0;
	for (uint32_t i = 0; i < rows; i++) {
		const struct nve_heat_row *r = &state.shown->row[i];

		switch (nve_heat_of(r->key)) {
		case NVE_HEAT_ARENA:
			if (nve_heat_arena(r->key))
				state.arenas[state.arena_count++] = r->key;
			break;
		case NVE_HEAT_KIND: state.kinds[state.kind_count++] = r->key; break;
		default:
			keep_heaviest(state.list, &state.listed, LISTED,
				      (struct listed){r->key, r->stall_ns});
		}
	}
	sort(state.list, state.listed);
}

static uint64_t site_key(uint32_t id)
{
	struct nve_heap_site site;

	if (nve_heap_site(id, &site))
		return 0;
	return NVE_HEAT_KEY(NVE_HEAT_SITE, NVE_HEAT_PLACE(site.kind, 0, id));
}

/* Those that own the most memory, or did; none that never had any. Returns how many there are,
 * listed or not. */
static uint64_t list_cold(void)
{
	struct listed *cold = state.list + state.listed;
	uint32_t count = 0, room = LISTED - state.listed, ids = nve_heap_site_count();
	uint64_t all = 0;

	for (uint32_t id = 1; id < ids; id++) {
		uint64_t key = site_key(id);
		struct nve_heap_counts counts;

		if (!key || nve_heat_find(state.shown, key))
			continue;
		nve_heap_site_counts(id, &counts);
		all++;
		if (!counts.allocations)
			continue;
		keep_heaviest(cold, &count, room, (struct listed){key, counts.peak_bytes});
	}
	sort(cold, count);
	state.listed += count;
	return all;
}

static void fill_values(struct nve_heat_values *v, uint64_t key)
{
	const struct nve_heat_row *r = nve_heat_find(state.shown, key);
	double se;

	*v = (struct nve_heat_values){.share_se_ppm = -1};
	if (!r)
		return;
	v->stall_ns = (uint64_t)((double)r->stall_ns * state.scale);
	v->stall_wb_ns = NVE_MIN(v->stall_ns, (uint64_t)(r->stall_wb_ns * state.scale + 0.5));
	if (state.access_ns > 0) {
		v->writes = (uint64_t)((double)v->stall_wb_ns / state.access_ns + 0.5);
		v->reads =
			(uint64_t)((double)(v->stall_ns - v->stall_wb_ns) / state.access_ns + 0.5);
	}
	v->lines = r->lines;
	v->share_ppm = (uint32_t)((double)r->stall_ns / (double)state.shown->stall_ns * PPM + 0.5);
	se = nve_heat_share_se(state.shown, r);
	if (se >= 0)
		v->share_se_ppm = (int64_t)(se * PPM + 0.5);
	v->bucket_ns = r->bucket_ns;
}

static const char *kind_name(unsigned kind)
{
	return kind < NVE_ARRAY_SIZE(kind_names) ? kind_names[kind] : kind_names[0];
}

static void fill_frames(struct nve_heat_site *s, const struct nve_heap_site *site)
{
	static struct nve_heat_frame frames[NVE_HEAP_DEPTH_MAX];

	s->hash = site->hash;
	s->arena = site->arena;
	s->frames = NVE_MIN(site->frames, (uint32_t)NVE_HEAP_DEPTH_MAX);
	for (uint32_t i = 0; i < s->frames; i++)
		frames[i] = (struct nve_heat_frame){site->frame[i].module, site->frame[i].offset};
	s->frame = frames;
}

/* Of stacks it is not known. */
static void fill_resident(struct nve_heat_site *s, uint32_t id, unsigned kind)
{
	s->resident_known = id < state.resident.sites && state.resident.bytes &&
			    (kind == NVE_HEAP_BLOCK || kind == NVE_HEAP_MAPPED ||
			     kind == NVE_HEAP_DATA || kind == NVE_HEAP_BREAK);
	if (s->resident_known)
		s->resident_bytes = state.resident.bytes[id];
}

static void fill_counts(struct nve_heat_site *s, uint32_t id)
{
	struct nve_heap_counts c;

	nve_heap_site_counts(id, &c);
	s->counted = true;
	s->allocations = c.allocations;
	s->frees = c.frees;
	s->bytes = c.bytes;
	s->live_bytes = c.live_bytes;
	s->peak_bytes = c.peak_bytes;
	s->lifetimes = c.lifetimes;
	s->lifetime_ns = c.lifetime_ns;
}

static void fill_site(size_t i, struct nve_heat_site *s)
{
	uint64_t key = state.list[i].key;
	uint32_t id = nve_heat_site(key);
	unsigned kind = nve_heat_kind(key);
	struct nve_heap_site site;

	*s = (struct nve_heat_site){.kind = nve_heat_of(key) == NVE_HEAT_REST ? "rest"
									      : kind_name(kind)};
	fill_values(&s->heat, key);
	if (!id || nve_heap_site(id, &site))
		return;
	fill_frames(s, &site);
	fill_resident(s, id, kind);
	if (kind == NVE_HEAP_BLOCK || kind == NVE_HEAP_MAPPED)
		fill_counts(s, id);
}

static void fill_arena(size_t i, struct nve_heat_arena *a)
{
	uint64_t key = state.arenas[i];
	struct nve_heap_arena arena = {0};
	struct nve_heap_site site = {0};

	*a = (struct nve_heat_arena){.arena = nve_heat_arena(key)};
	fill_values(&a->heat, key);
	nve_heap_arena(a->arena, &arena);
	a->kind = arena.kind == NVE_HEAP_ARENA_SITE     ? "site"
		  : arena.kind == NVE_HEAP_ARENA_THREAD ? "thread"
							: "unknown";
	a->mapped_bytes = arena.mapped_bytes;
	if (arena.kind == NVE_HEAP_ARENA_SITE && !nve_heap_site(arena.site, &site))
		a->site = site.hash;
}

static void fill_kind(size_t i, struct nve_heat_kind *k)
{
	uint64_t key = state.kinds[i];

	k->kind = kind_name(nve_heat_kind(key));
	fill_values(&k->heat, key);
}

static void fill_module(size_t i, struct nve_heat_module *m)
{
	static struct nve_heap_module module;

	*m = (struct nve_heat_module){0};
	if (nve_heap_module((uint32_t)i, &module))
		return;
	m->path = module.path;
	m->build_id = module.build_id;
	m->build_id_bytes = module.build_id_bytes;
}

/* Where hardware counters tell the stall time, look-ahead's is scaled to theirs; loads that they
 * have sampled stand for theirs already. */
static void fill_scale(const struct nve_totals *totals)
{
	uint64_t accesses = totals->ma_ro + totals->ma_wb;

	state.scale = 1;
	if (totals->counters.epochs && totals->counters.ahead_stall_ns && !nve_pmu_samples_loads())
		state.scale = (double)totals->stall_ns / (double)totals->counters.ahead_stall_ns;
	state.access_ns = accesses ? (double)totals->stall_ns / (double)accesses : 0;
}

void nve_heat_fill(struct nve_heat_snapshot *s, const struct nve_totals *totals, bool live)
{
	uint64_t now_ns = nve_clock_ns(CLOCK_MONOTONIC) - state.started_ns, cold;
	double attributed;

	memset(s, 0, sizeof(*s));
	if (!state.ended)
		return;
	clear(&state.shown);
	if (!state.shown)
		return;
	nve_heat_merge(state.shown, state.ended);
	if (live)
		nve_thread_each(show, NULL);
	fill_scale(totals);
	list_hot();
	cold = list_cold();
	nve_resident_forget(&state.resident);
	nve_resident_measure(&state.resident);
	attributed = floor((double)state.shown->stall_ns * state.scale);
	*s = (struct nve_heat_snapshot){
		.on = true,
		.stall_ns = totals->stall_ns,
		.attributed_ns = NVE_MIN(totals->stall_ns, (uint64_t)attributed),
		.samples_lost = totals->samples_lost,
		.samples_no_answer = totals->samples_no_answer,
		.sites = state.listed,
		.arenas = state.arena_count,
		.kinds = state.kind_count,
		.modules = nve_heap_module_count(),
		.resident_every = state.resident.bytes ? state.resident.every : 0,
		.bucket_ns = (uint64_t)NVE_HEAT_SECOND_NS << state.shown->doublings,
		.site = fill_site,
		.arena = fill_arena,
		.kind = fill_kind,
		.module = fill_module,
	};
	s->sites_total = cold;
	for (uint32_t i = 0; i < state.shown->rows; i++)
		s->sites_total += nve_heat_of(state.shown->row[i].key) == NVE_HEAT_SITE;
	s->buckets = (uint32_t)NVE_MIN(now_ns / s->bucket_ns + 1, (uint64_t)NVE_HEAT_BUCKETS);
}
