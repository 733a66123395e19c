#include <math.h>
#include <stdbool.h>

#include "base/base.h"
#include "report/regions.h"

/* Which rows are wanted: of one name or of any, where the region itself or one around it has it. */
struct choice {
	const struct nve_region_name *names;
	uint32_t first;  /* node of the name */
	bool inclusive;  /* also of regions within */
	bool any_paused; /* whatever the name: rows that are paused */
};

static bool is_within(const struct choice *c, uint32_t node)
{
	while (node) {
		if (c->names[node].first == c->first)
			return true;
		if (!c->inclusive)
			return false;
		node = c->names[node].parent;
	}
	return !c->first;
}

void nve_region_figures_add(struct nve_region_figures *to, const struct nve_region_figures *f)
{
	to->wall_ns += f->wall_ns;
	to->cpu_ns += f->cpu_ns;
	to->stall_ns += f->stall_ns;
	to->stall_wb_ns += f->stall_wb_ns;
	to->ma_ro += f->ma_ro;
	to->ma_wb += f->ma_wb;
	to->delay_owed_ns += f->delay_owed_ns;
	to->delay_paid_ns += f->delay_paid_ns;
	to->delay_injected_ns += f->delay_injected_ns;
	to->samples += f->samples;
	to->answered += f->answered;
	to->answered_ns += f->answered_ns;
	to->label_ns += f->label_ns;
	to->label_squared_ns += f->label_squared_ns;
}

static struct nve_region_figures sum(const struct nve_region_rows *rows, const struct choice *c)
{
	struct nve_region_figures figures = {0};

	for (size_t i = 0; i < rows->count; i++) {
		const struct nve_region_row *row = &rows->row[i];

		if (c->any_paused ? row->paused != 0 : is_within(c, row->node))
			nve_region_figures_add(&figures, &row->figures);
	}
	return figures;
}

static void put_share(struct nve_json *j, const char *key, double part, double whole)
{
	double share = whole > 0 ? fmin(part / whole, 1) : 0;

	nve_json_decimal(j, key, (int64_t)(share * 1e6 + 0.5), 6);
}

/* As of the totals: the labels' spread over the root of their number less one. */
static double share_se(const struct nve_region_figures *f)
{
	double mean, variance;

	if (f->answered < 2 || f->answered_ns <= 0)
		return 0;
	mean = f->label_ns / f->answered_ns;
	variance = f->label_squared_ns / f->answered_ns - mean * mean;
	return sqrt(fmax(variance, 0) / (double)(f->answered - 1));
}

static void write_figures(struct nve_json *j, const char *key, const struct nve_region_rows *rows,
			  const struct choice *c)
{
	struct nve_region_figures f = sum(rows, c);

	nve_json_object(j, key);
	nve_json_uint(j, "wall_ns", f.wall_ns);
	nve_json_uint(j, "cpu_ns", f.cpu_ns);
	nve_json_uint(j, "stall_ns", f.stall_ns);
	nve_json_uint(j, "stall_wb_ns", f.stall_wb_ns);
	put_share(j, "stall_share", (double)f.stall_ns, (double)f.cpu_ns);
	put_share(j, "stall_share_se", share_se(&f), 1);
	put_share(j, "dirty_fraction", (double)f.stall_wb_ns, (double)f.stall_ns);
	nve_json_uint(j, "ma_ro", f.ma_ro);
	nve_json_uint(j, "ma_wb", f.ma_wb);
	nve_json_uint(j, "delay_owed_ns", f.delay_owed_ns);
	nve_json_uint(j, "delay_paid_ns", f.delay_paid_ns);
	nve_json_uint(j, "delay_injected_ns", f.delay_injected_ns);
	nve_json_uint(j, "samples", f.samples);
	nve_json_close(j);
}

/* Has a thread been in a region of that name? *calls: how often it was begun. */
static bool is_listed(const struct nve_region_rows *rows, const struct choice *c, uint64_t *calls)
{
	bool found = false;

	*calls = 0;
	for (size_t i = 0; i < rows->count; i++) {
		const struct nve_region_row *row = &rows->row[i];

		if (!row->node || c->names[row->node].first != c->first)
			continue;
		found = true;
		*calls += row->calls;
	}
	return found;
}

static void write_list(struct nve_json *j, const char *key, const struct nve_regions_snapshot *s,
		       const struct nve_region_rows *rows)
{
	struct choice c = {.names = s->names};
	uint64_t calls;

	nve_json_array(j, key);
	for (c.first = 1; c.first < s->name_count; c.first++) {
		if (!is_listed(rows, &c, &calls))
			continue;
		nve_json_object(j, NULL);
		nve_json_string(j, "name", s->names[c.first].name);
		nve_json_uint(j, "calls", calls);
		c.inclusive = false;
		write_figures(j, "exclusive", rows, &c);
		c.inclusive = true;
		write_figures(j, "inclusive", rows, &c);
		nve_json_close(j);
	}
	nve_json_close(j);
}

/* Ends without a begin and begins without an end: as many as can be pairs were of two threads. */
static void write_misuse(struct nve_json *j, const struct nve_region_counts *c)
{
	nve_json_object(j, "misuse");
	nve_json_uint(j, "ends_without_begin", c->no_begin);
	nve_json_uint(j, "left_open", c->left_open);
	nve_json_uint(j, "open_at_end", c->open_at_end);
	nve_json_uint(j, "cross_thread", NVE_MIN(c->no_begin, c->left_open + c->open_at_end));
	nve_json_uint(j, "misnested", c->misnested);
	nve_json_uint(j, "too_deep", c->too_deep);
	nve_json_uint(j, "too_many", c->no_room);
	nve_json_uint(j, "names_cut", c->cut_names);
	nve_json_uint(j, "without_name", c->no_name);
	nve_json_uint(j, "resumes_without_pause", c->no_pause);
	nve_json_close(j);
}

void nve_report_regions(struct nve_json *j, const struct nve_regions_snapshot *s)
{
	const struct choice outside = {.names = s->names}, paused = {.any_paused = true};

	nve_json_object(j, "regions");
	nve_json_uint(j, "begins", s->counts.begins);
	nve_json_uint(j, "pauses", s->counts.pauses);
	write_misuse(j, &s->counts);
	nve_json_uint(j, "rows_not_listed", s->counts.rows_lost);
	write_figures(j, "outside", &s->rows, &outside);
	write_figures(j, "paused", &s->rows, &paused);
	write_list(j, "list", s, &s->rows);
	nve_json_close(j);
}

void nve_report_thread_regions(struct nve_json *j, const struct nve_regions_snapshot *s,
			       const struct nve_region_rows *rows)
{
	write_list(j, "regions", s, rows);
}
