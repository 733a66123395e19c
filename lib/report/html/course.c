/* What happened when: the charts over the wall time of a process. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "report/html/parts.h"

/* Parts of the time of threads. */
enum part { COMPUTING, READ_ONLY, WRITE_BACK, DELAY, PARTS };

static const struct nve_page_key keys[PARTS] = {
	[COMPUTING] = {"cpu", "computing"},
	[READ_ONLY] = {"ro", "stalled, read-only misses"},
	[WRITE_BACK] = {"wb", "stalled, write-back misses"},
	[DELAY] = {"delay", "delay of the emulation"},
};

/* From below: what matters where there is little room lies on the axis. */
static const enum part whole[PARTS] = {COMPUTING, READ_ONLY, WRITE_BACK, DELAY};
static const enum part waiting_first[PARTS] = {READ_ONLY, WRITE_BACK, DELAY, COMPUTING};

/* The parts of a lane for each bucket, as numbers of threads, and their tops when stacked. */
struct stack {
	const enum part *order;
	size_t count;
	double *part[PARTS], *top[PARTS];
	double most;
};

static int make_stack(const struct nve_view_timeline *t, const struct nve_view_lane *lane,
		      const enum part order[PARTS], struct stack *s)
{
	double *all = calloc(2 * PARTS * t->buckets, sizeof(all[0]));

	if (!all)
		return -ENOMEM;
	*s = (struct stack){.order = order, .count = t->buckets};
	for (int k = 0; k < PARTS; k++) {
		s->part[k] = all + (size_t)k * t->buckets;
		s->top[k] = all + (size_t)(PARTS + k) * t->buckets;
	}
	for (size_t i = 0; i < t->buckets; i++) {
		double cpu = (double)nve_view_amounts(t, lane, NVE_TIMELINE_CPU_NS)[i];
		double stall = (double)nve_view_amounts(t, lane, NVE_TIMELINE_STALL_NS)[i];
		double wb = (double)nve_view_amounts(t, lane, NVE_TIMELINE_STALL_WB_NS)[i];
		double paid = (double)nve_view_amounts(t, lane, NVE_TIMELINE_PAID_NS)[i];
		double width = (double)t->bucket_ns, sum = 0;

		s->part[COMPUTING][i] = fmax(0, cpu - stall) / width;
		s->part[READ_ONLY][i] = fmax(0, stall - wb) / width;
		s->part[WRITE_BACK][i] = wb / width;
		s->part[DELAY][i] = paid / width;
		for (int k = 0; k < PARTS; k++)
			s->top[k][i] = sum += s->part[order[k]][i];
		s->most = fmax(s->most, sum);
	}
	return 0;
}

static void free_stack(struct stack *s)
{
	free(s->part[0]);
}

static double buckets_ns(const struct nve_page_process *p)
{
	return (double)p->timeline.bucket_ns * (double)p->timeline.buckets;
}

/* The process's life. Its last bucket may reach beyond, or end before. */
static double length_of(const struct nve_page_process *p)
{
	return p->of->wall_ns ? (double)p->of->wall_ns : buckets_ns(p);
}

static double reach_of(const struct nve_page_process *p)
{
	return buckets_ns(p) / length_of(p);
}

static struct nve_chart_axis time_axis(const struct nve_page_process *p, bool narrow)
{
	double length = length_of(p);

	return (struct nve_chart_axis){"wall time since the start", 0, length,
				       nve_units_time(length), narrow ? 4 : 10};
}

static void put_parts(struct nve_chart *c, const struct stack *s, double width)
{
	for (int k = 0; k < PARTS; k++) {
		struct nve_chart_steps steps = {width, s->count, k ? s->top[k - 1] : NULL,
						s->top[k]};

		nve_chart_area(c, keys[s->order[k]].class, &steps);
	}
}

static void draw_busy(const struct nve_page *page, const struct nve_page_process *p,
		      const struct stack *s, bool narrow)
{
	struct nve_chart c = {.out = page->out};

	nve_chart_size(&c, narrow, narrow ? 260 : 300);
	c.x = time_axis(p, narrow);
	c.y = (struct nve_chart_axis){"threads that run", 0, fmax(1, s->most * 1.02), {"", 1}, 5};
	nve_chart_open(&c);
	put_parts(&c, s, (double)p->timeline.bucket_ns);
	nve_chart_close(&c);
}

static void put_head(struct nve_html *h, const char *const *names, size_t count)
{
	nve_html_put(h, "<thead><tr>");
	for (size_t i = 0; i < count; i++)
		nve_html_element(h, "th scope=\"col\"", names[i]);
	nve_html_put(h, "</tr></thead><tbody>\n");
}

static void put_number(struct nve_html *h, double n)
{
	nve_html_print(h, "<td>%.2f</td>", n);
}

static int put_busy(const struct nve_page *page, const struct nve_page_process *p, size_t number)
{
	static const char *const names[] = {"wall time", "computing", "stalled, read-only",
					    "stalled, write-back", "delay"};
	const struct nve_view_timeline *t = &p->timeline;
	struct nve_html *h = page->out;
	struct stack s;
	char id[32];

	if (make_stack(t, &t->total, whole, &s))
		return -ENOMEM;
	snprintf(id, sizeof(id), "busy-%zu", number);
	nve_page_figure(h, id, "What the threads do",
			"How many threads run at a time, and what they do: compute, wait for "
			"memory as the machine's own DRAM makes them, or wait for the delay that "
			"makes it the emulated one.");
	nve_page_legend(h, keys, PARTS);
	nve_page_plot(h, "steps", reach_of(p),
		      "Areas over wall time: threads that compute, are stalled, or are "
		      "delayed");
	draw_busy(page, p, &s, false);
	draw_busy(page, p, &s, true);
	nve_page_plot_end(h);
	nve_page_values(h);
	put_head(h, names, NVE_ARRAY_SIZE(names));
	for (size_t i = 0; i < t->buckets; i++) {
		nve_page_span(h, (double)t->bucket_ns * (double)i,
			      (double)t->bucket_ns * (double)(i + 1));
		for (int k = 0; k < PARTS; k++)
			put_number(h, s.part[k][i]);
		nve_html_put(h, "</tr>\n");
	}
	nve_page_values_end(h);
	free_stack(&s);
	return 0;
}

/* Lanes, one under the other, each with its own small axis from 0 to 100 %. */
enum { LANE_PITCH = 44, LANE_HEIGHT = 34 };

static void lane_name(const struct nve_view_timeline *t, const struct nve_view_lane *lane,
		      char *text, size_t size)
{
	if (lane->name)
		snprintf(text, size, "%.400s (%d)", lane->name, lane->tid);
	else
		snprintf(text, size, "%llu other%s", (unsigned long long)t->rest_threads,
			 t->rest_threads == 1 ? "" : "s");
}

/* A lane of several threads reaches from 0 to as many as ran at once. */
static void draw_lane(struct nve_chart *frame, const struct nve_page_process *p, size_t number,
		      const struct stack *s)
{
	const struct nve_view_lane *lane = &p->timeline.lanes[number];
	struct nve_chart c = *frame;
	double high = lane->name ? 1 : fmax(1, ceil(s->most));
	char name[NVE_HTML_NAME_BYTES], top[32] = "100 %";

	c.top = frame->top + LANE_PITCH * (double)number + (c.narrow ? 8 : 4);
	c.bottom = c.height - c.top - LANE_HEIGHT + (c.narrow ? 8 : 0);
	c.y = (struct nve_chart_axis){NULL, 0, high, {"", 1}, 0};
	lane_name(&p->timeline, lane, name, sizeof(name));
	nve_page_cut(name, sizeof(name), c.narrow ? 36 : 22);
	if (!lane->name)
		snprintf(top, sizeof(top), "%.0f", high);
	if (c.narrow)
		nve_chart_label(&c, c.left + 2, c.top - 1, "start", "lane", name);
	else
		nve_chart_label(&c, 30, c.top + LANE_HEIGHT / 2. + 4, "start", "lane", name);
	if (!c.narrow || !number || !lane->name)
		nve_chart_label(&c, c.left - 5, c.top + 8, "end", "tick", top);
	put_parts(&c, s, (double)p->timeline.bucket_ns);
	nve_html_print(c.out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>", c.left, c.top,
		       c.height - c.bottom, c.width - c.right);
}

static void draw_lanes(const struct nve_page *page, const struct nve_page_process *p,
		       const struct stack *stacks, bool narrow)
{
	struct nve_chart c = {.out = page->out};

	nve_chart_size(&c, narrow, 0);
	c.height = c.top + c.bottom + LANE_PITCH * (double)p->timeline.lane_count;
	c.left = narrow ? 66 : 210;
	c.x = time_axis(p, narrow);
	c.y = (struct nve_chart_axis){"share of wall time, each lane", 0, 1, {"", 1}, 0};
	if (p->timeline.lane_count < 4)
		c.y.title = "share";
	nve_chart_open(&c);
	for (size_t i = 0; i < p->timeline.lane_count; i++)
		draw_lane(&c, p, i, &stacks[i]);
	nve_chart_close(&c);
}

static void put_lane_rows(const struct nve_page *page, const struct nve_page_process *p,
			  const struct stack *stacks)
{
	const struct nve_view_timeline *t = &p->timeline;
	struct nve_html *h = page->out;

	nve_html_put(h, "<thead><tr><th scope=\"col\">wall time</th>");
	for (size_t k = 0; k < t->lane_count; k++) {
		char name[NVE_HTML_NAME_BYTES];

		lane_name(t, &t->lanes[k], name, sizeof(name));
		nve_html_element(h, "th scope=\"col\"", name);
	}
	nve_html_put(h, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < t->buckets; i++) {
		nve_page_span(h, (double)t->bucket_ns * (double)i,
			      (double)t->bucket_ns * (double)(i + 1));
		for (size_t k = 0; k < t->lane_count; k++) {
			const struct stack *s = &stacks[k];

			nve_html_print(h, "<td>%.0f %% + %.0f %%</td>",
				       100 * (s->part[READ_ONLY][i] + s->part[WRITE_BACK][i]),
				       100 * s->part[DELAY][i]);
		}
		nve_html_put(h, "</tr>\n");
	}
}

static void write_lanes(const struct nve_page *page, const struct nve_page_process *p,
			size_t number, const struct stack *stacks)
{
	struct nve_html *h = page->out;
	char id[32];

	snprintf(id, sizeof(id), "lanes-%zu", number);
	nve_page_figure(h, id, "Stall and delay by thread",
			p->timeline.rest_threads
				? "Of those that ran longest; all others are added up in the last "
				  "lane, whose height is the number of threads. In the table: "
				  "stalled + delayed."
				: "How much of its time each thread waits for DRAM, and for the "
				  "delay on top. In the table: stalled + delayed.");
	nve_page_legend(h, keys, PARTS);
	nve_page_plot(h, "lanes", reach_of(p),
		      "One lane for each thread over wall time: share stalled and "
		      "share delayed");
	draw_lanes(page, p, stacks, false);
	draw_lanes(page, p, stacks, true);
	nve_page_plot_end(h);
	nve_page_values(h);
	put_lane_rows(page, p, stacks);
	nve_page_values_end(h);
}

static int put_lanes(const struct nve_page *page, const struct nve_page_process *p, size_t number)
{
	size_t count = p->timeline.lane_count, made = 0;
	struct stack *stacks = calloc(count + 1, sizeof(stacks[0]));
	int err = stacks ? 0 : -ENOMEM;

	while (!err && made < count) {
		err = make_stack(&p->timeline, &p->timeline.lanes[made], waiting_first,
				 &stacks[made]);
		made += !err;
	}
	if (!err)
		write_lanes(page, p, number, stacks);
	while (made)
		free_stack(&stacks[--made]);
	free(stacks);
	return err;
}

/* Misses per second of wall time. */
static void rates(const struct nve_view_timeline *t, enum nve_timeline_quantity quantity,
		  double *rate, double *most)
{
	for (size_t i = 0; i < t->buckets; i++) {
		rate[i] = (double)nve_view_amounts(t, &t->total, quantity)[i] /
			  ((double)t->bucket_ns * 1e-9);
		*most = fmax(*most, rate[i]);
	}
}

static void draw_misses(const struct nve_page *page, const struct nve_page_process *p,
			double *const rate[2], double most, bool narrow)
{
	static const char *const classes[] = {"line ro-line", "line wb-line"};
	struct nve_chart c = {.out = page->out};

	nve_chart_size(&c, narrow, narrow ? 240 : 260);
	c.x = time_axis(p, narrow);
	c.y = (struct nve_chart_axis){"misses per second", 0, most > 0 ? most * 1.05 : 1,
				      nve_units_count(most), 5};
	nve_chart_open(&c);
	for (int k = 0; k < 2; k++) {
		struct nve_chart_steps steps = {(double)p->timeline.bucket_ns, p->timeline.buckets,
						NULL, rate[k]};

		nve_chart_outline(&c, classes[k], &steps);
	}
	nve_chart_close(&c);
}

static int put_misses(const struct nve_page *page, const struct nve_page_process *p, size_t number)
{
	static const struct nve_page_key lines[] = {{"line ro-line", "read-only (MA_RO)"},
						    {"line wb-line", "write-back (MA_WB)"}};
	static const char *const names[] = {"wall time", "read-only, per second",
					    "write-back, per second"};
	const struct nve_view_timeline *t = &p->timeline;
	struct nve_html *h = page->out;
	double *rate[2] = {calloc(2 * t->buckets, sizeof(double)), NULL}, most = 0;
	char id[32];

	if (!rate[0])
		return -ENOMEM;
	rate[1] = rate[0] + t->buckets;
	rates(t, NVE_TIMELINE_MA_RO, rate[0], &most);
	rates(t, NVE_TIMELINE_MA_WB, rate[1], &most);
	snprintf(id, sizeof(id), "misses-%zu", number);
	nve_page_figure(h, id, "Misses that stall",
			"Of all threads. Misses that overlap with others, or that a prefetcher "
			"hides, cost no time and are not among them.");
	nve_page_legend(h, lines, 2);
	nve_page_plot(h, "steps", reach_of(p),
		      "Lines over wall time: read-only and write-back misses per second");
	draw_misses(page, p, rate, most, false);
	draw_misses(page, p, rate, most, true);
	nve_page_plot_end(h);
	nve_page_values(h);
	put_head(h, names, NVE_ARRAY_SIZE(names));
	for (size_t i = 0; i < t->buckets; i++) {
		nve_page_span(h, (double)t->bucket_ns * (double)i,
			      (double)t->bucket_ns * (double)(i + 1));
		nve_page_cell_count(h, rate[0][i]);
		nve_page_cell_count(h, rate[1][i]);
		nve_html_put(h, "</tr>\n");
	}
	nve_page_values_end(h);
	free(rate[0]);
	return 0;
}

static int put_process(const struct nve_page *page, const struct nve_page_process *p, size_t number)
{
	int err = put_busy(page, p, number);

	if (!err)
		err = put_lanes(page, p, number);
	return err ? err : put_misses(page, p, number);
}

bool nve_page_has_course(const struct nve_page *page)
{
	for (size_t i = 0; i < page->process_count; i++)
		if (page->processes[i].timeline.buckets)
			return true;
	return false;
}

int nve_page_course(const struct nve_page *page)
{
	struct nve_html *h = page->out;
	bool several = page->view->count > 1, begun = false;
	int err = 0;

	for (size_t i = 0; i < page->process_count && !err; i++) {
		const struct nve_page_process *p = &page->processes[i];

		if (!p->timeline.buckets)
			continue;
		if (!begun)
			nve_html_put(h, "<section><h2 id=\"course\">Over time</h2>\n");
		if (several) {
			nve_html_print(h, "<details class=\"process\"%s><summary><bdi>",
				       begun ? "" : " open");
			nve_html_text(h, p->of->program);
			nve_html_print(h, "</bdi>, process %d</summary>\n", p->of->pid);
		}
		err = put_process(page, p, i);
		if (several)
			nve_html_put(h, "</details>\n");
		begun = true;
	}
	if (begun)
		nve_html_put(h, "</section>\n");
	return err;
}
