#include "region_rows.h"

#include <string.h>
#include <sys/mman.h>

#include "base/base.h"
#include "base/clock.h"
#include "markers.h"

enum { POOL_ROWS = 65536 };

/* Rows of threads, until the end of the process or the next snapshot. */
struct pool {
	struct nve_region_row *row; /* mapped with the first */
	size_t used;
};

/* Sums over threads. */
struct sums {
	struct nve_region_figures lane[NVE_REGION_LANES];
	uint64_t calls[NVE_REGION_NODES];
	struct nve_region_counts counts;
};

static struct {
	struct pool ended, live;
	struct sums of_ended, of_all; /* the latter: of the last snapshot */
	struct nve_region_row row[NVE_REGION_LANES];
	struct nve_region_name name[NVE_REGION_NODES];
} state;

static void fill_figures(const struct nve_regions *r, uint32_t lane, uint64_t tsc,
			 struct nve_region_figures *f)
{
	const struct nve_region_model *m = &r->model[lane];
	const struct nve_region_samples *s = &r->samples[lane];

	*f = (struct nve_region_figures){
		.wall_ns = (uint64_t)((double)nve_regions_ticks(r, lane, tsc) * r->tick_ns),
		.cpu_ns = m->cpu_ns,
		.stall_ns = m->stall_ns,
		.stall_wb_ns = m->stall_wb_ns,
		.ma_ro = m->ma_ro,
		.ma_wb = m->ma_wb,
		.delay_owed_ns = m->delay_owed_ns,
		.delay_injected_ns = r->due[lane].served_ns,
		.samples = s->count,
		.answered = s->answered,
		.answered_ns = s->answered_ns,
		.label_ns = s->label_ns,
		.label_squared_ns = s->label_squared_ns,
	};
}

/* Of so much delay paid the part that goes with the delay owed so far: what lanes are paid adds up.
 */
static uint64_t part_of_paid(uint64_t paid_ns, uint64_t so_far_ns, uint64_t owed_ns)
{
	if (!owed_ns)
		return 0;
	return (uint64_t)((unsigned __int128)paid_ns * so_far_ns / owed_ns);
}

static void add_counts(struct nve_region_counts *c, const struct nve_regions *r, bool alive)
{
	c->begins += r->begins;
	c->pauses += r->pauses;
	c->no_begin += r->misuse.no_begin;
	c->misnested += r->misuse.misnested;
	c->too_deep += r->misuse.too_deep;
	c->no_room += r->misuse.no_room;
	c->cut_names += r->misuse.cut_names;
	c->no_name += r->misuse.no_name;
	c->no_pause += r->misuse.no_pause;
	*(alive ? &c->open_at_end : &c->left_open) += r->open.depth;
}

/* NULL: there is no room. */
static struct nve_region_row *new_row(struct pool *pool)
{
	void *mem;

	if (!pool->row) {
		mem = mmap(NULL, POOL_ROWS * sizeof(*pool->row), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		pool->row = mem == MAP_FAILED ? NULL : mem;
	}
	return pool->row && pool->used < POOL_ROWS ? &pool->row[pool->used++] : NULL;
}

static bool is_empty(const struct nve_region_figures *f, uint64_t calls)
{
	return !calls && !f->wall_ns && !f->cpu_ns;
}

void nve_region_rows_take(const struct nve_thread *t, bool alive, uint64_t paid_ns,
			  struct nve_region_rows *rows)
{
	struct sums *sums = alive ? &state.of_all : &state.of_ended;
	struct pool *pool = alive ? &state.live : &state.ended;
	const struct nve_regions *r = &t->regions;
	uint64_t so_far_ns = 0, tsc = nve_tsc(), owed_ns = 0;
	uint32_t lanes = NVE_MAX(r->lanes, 2 * nve_region_table_count(r->table));
	struct nve_region_row *row = NULL;
	size_t start = pool->used;

	for (uint32_t lane = 0; lane < lanes; lane++)
		owed_ns += r->model[lane].delay_owed_ns;
	for (uint32_t lane = 0; lane < lanes; lane++) {
		uint64_t calls = lane & 1 ? 0 : r->calls[lane / 2];
		struct nve_region_figures f;

		fill_figures(r, lane, tsc, &f);
		f.delay_paid_ns = part_of_paid(paid_ns, so_far_ns + f.delay_owed_ns, owed_ns) -
				  part_of_paid(paid_ns, so_far_ns, owed_ns);
		so_far_ns += f.delay_owed_ns;
		nve_region_figures_add(&sums->lane[lane], &f);
		sums->calls[lane / 2] += calls;
		if (lane <= 1 || !rows || is_empty(&f, calls))
			continue;
		row = new_row(pool);
		sums->counts.rows_lost += !row;
		if (row)
			*row = (struct nve_region_row){
				.node = lane / 2, .paused = lane & 1, .calls = calls, .figures = f};
	}
	add_counts(&sums->counts, r, alive);
	if (rows)
		*rows = (struct nve_region_rows){.row = pool->row ? pool->row + start : NULL,
						 .count = pool->used - start};
}

void nve_region_rows_begin(void)
{
	state.live.used = 0;
	state.of_all = state.of_ended;
}

/* Names may stand in several places of the tree. */
static uint32_t first_of_name(const struct nve_region_table *table, uint32_t node)
{
	uint32_t i = 1;

	while (i < node && strcmp(table->node[i].name, table->node[node].name) != 0)
		i++;
	return i;
}

static void fill_names(struct nve_regions_snapshot *s)
{
	const struct nve_region_table *table = nve_markers_table();

	s->name_count = nve_region_table_count(table);
	for (uint32_t i = 1; i < s->name_count; i++)
		state.name[i] = (struct nve_region_name){.name = table->node[i].name,
							 .parent = table->node[i].parent,
							 .first = first_of_name(table, i)};
	state.name[0].name = "";
	s->names = state.name;
}

void nve_region_rows_fill(struct nve_regions_snapshot *s)
{
	size_t count = 0;

	fill_names(s);
	for (uint32_t lane = 0; lane < 2 * s->name_count; lane++) {
		uint64_t calls = lane & 1 ? 0 : state.of_all.calls[lane / 2];

		if (is_empty(&state.of_all.lane[lane], calls))
			continue;
		state.row[count++] = (struct nve_region_row){.node = lane / 2,
							     .paused = lane & 1,
							     .calls = calls,
							     .figures = state.of_all.lane[lane]};
	}
	s->rows = (struct nve_region_rows){.row = state.row, .count = count};
	s->counts = state.of_all.counts;
}

void nve_region_rows_after_fork(void)
{
	state.ended.used = state.live.used = 0;
	memset(&state.of_ended, 0, sizeof(state.of_ended));
}
