#include "count/ahead/window.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/clock.h"
#include "count/ahead/address.h"
#include "count/ahead/touch.h"

enum {
	CORE_STEPS = 2048, /* modelled at most: enough to tell, and cheap */
	TRANSLATED_ONE_OF = 4,
	SECOND_LEVEL_CYCLES = 14, /* of a line from the second-level cache, of usual cores */
	HIT_TICKS = 2,            /* a touch that hits the first level takes no less */
};

/* What one interpreted instruction did to memory, and for how long it held up the others. */
struct observation {
	float stood, waited; /* as modelled, cycles: in all, and for a line from memory */
	uint64_t ip;
	uint32_t step;
	uint16_t line; /* the last that it touched, a missed one if any; in the window's lines */
	bool accessed, is_branch, modelled;
	struct nve_core_access core;
};

struct nve_window {
	struct nve_window_machine machine;
	struct nve_window_plan plan;
	struct nve_window_result result;
	struct observation now, before;
	uint64_t started_tsc;
	uint64_t code_page;    /* last page that code was fetched from: address / 4096 + 1 */
	uint32_t late_touches; /* beyond the reorder window */
	uint64_t missing_ip;   /* whose touch was the last, if that missed; 0 */
	bool touched_enough;
	bool met_fresh; /* a page that nobody has touched yet */
	struct nve_core core;
	struct nve_interp_world world;
	struct nve_interp *interp;
	struct nve_learned *learned;
	struct nve_predictor *predictor;
	uint64_t branches; /* the last ones that were passed, a bit each */
	struct nve_cpu cpu;
	struct nve_pace_loop loop;
	struct nve_stream_seen seen;
	struct nve_pages pages;
	struct nve_lines lines;
	uint32_t waits;
	struct nve_wait wait[CORE_STEPS];
};

static size_t window_bytes(void)
{
	return (sizeof(struct nve_window) + NVE_LINE_BYTES - 1) / NVE_LINE_BYTES * NVE_LINE_BYTES;
}

size_t nve_window_bytes(void)
{
	return window_bytes() + nve_interp_bytes();
}

static void note_wait(struct nve_window *w, uint64_t ip, const struct observation *o, bool missed)
{
	if (!w->plan.notes_waits || !o->accessed || o->stood <= 0 || w->waits == CORE_STEPS)
		return;
	w->wait[w->waits++] = (struct nve_wait){.ip = ip,
						.access_ip = o->ip,
						.cycles = o->stood,
						.line = o->line,
						.missed = missed};
}

/*
 * The interrupt is taken when the instruction that held up the others retires: a sample shows the
 * one after it. So what time sampled at an instruction means is told by the access just before it.
 * A comparison and the branch on it retire as one: a branch that touches no memory hands on the
 * suspicion to the instruction before.
 */
static void suspect(struct nve_window *w, uint64_t ip)
{
	const struct observation *o = &w->before;
	struct nve_learned_ip *e = nve_learned_find(w->learned, ip, true);
	uint32_t all = (uint32_t)(o->stood * NVE_LABEL_UNITS) + 1;
	uint32_t waited = o->waited > 0 ? all : 0; /* it waited all the while, or not at all */

	if (e)
		nve_learned_add(w->learned, e, waited, all);
	note_wait(w, ip, o, waited != 0);
	if (o->accessed) {
		w->result.class_waited += waited;
		w->result.class_all += all;
	}
	if (ip != w->plan.sample_ip || w->now.step <= w->plan.skip)
		return;
	w->result.occurrences++;
	w->result.waited += waited;
	w->result.all += all;
}

/* In the modelled part of the window? */
static bool is_modelled(const struct nve_window *w, uint32_t step)
{
	return step >= w->plan.skip && step - w->plan.skip < CORE_STEPS;
}

/* The window comes around to where it began. */
static void pass(struct nve_window *w, uint32_t step)
{
	float ticks = w->machine.core.cycle_ticks;

	nve_pace_pass(&w->loop, w->cpu.gpr, w->cpu.gpr_unknown, is_modelled(w, step),
		      nve_core_real(&w->core) * ticks, w->core.waited * ticks);
	if (w->plan.streams && step >= w->plan.skip)
		nve_stream_pass(&w->seen, w->cpu.gpr, w->cpu.gpr_unknown, step);
}

static void on_step(void *ctx, uint64_t ip, uint32_t step)
{
	struct nve_window *w = ctx;

	if (!w->now.is_branch || w->now.accessed)
		w->before = w->now;
	w->now = (struct observation){.ip = ip, .step = step};
	if (w->plan.streams)
		nve_stream_step(&w->seen, ip);
	if (ip == w->plan.sample_ip && step > 0)
		pass(w, step);
	/* In the reorder window an access says nothing, but none at all does. */
	if (step > 1 && (w->before.modelled || !w->before.accessed))
		suspect(w, ip);
}

/* Time in which nothing had come in yet: a sample of it shows this very instruction. */
static void count_empty(struct nve_window *w, float cycles)
{
	struct nve_learned_ip *e = nve_learned_find(w->learned, w->now.ip, true);
	uint32_t units = (uint32_t)(cycles * NVE_LABEL_UNITS);

	if (e)
		nve_learned_add(w->learned, e, 0, units);
	if (w->now.ip == w->plan.sample_ip)
		w->result.all += units;
}

static void on_flow(void *ctx, const struct nve_flow *flow)
{
	struct nve_window *w = ctx;
	bool mispredicted =
		flow->is_conditional_branch &&
		nve_predictor_branch(w->predictor, &w->branches, w->now.ip, flow->is_taken);

	w->now.is_branch = flow->is_conditional_branch;
	if (!is_modelled(w, w->now.step))
		return;
	w->now.modelled = true;
	w->now.stood = nve_core_step(&w->core, flow, &w->now.core, mispredicted);
	if (w->core.real.empty > 0)
		count_empty(w, w->core.real.empty);
	w->now.waited = w->core.real.waits ? w->now.stood : 0;
	if (w->now.core.missing)
		w->result.modelled_miss_cycles += w->now.core.latency;
}

/* Latency of a miss as it is: a reading without its page walk takes the mean of the others. */
static uint32_t whole_latency(const struct nve_window *w, uint32_t net, bool translated)
{
	const struct nve_window_result *r = &w->result;

	return translated && r->miss_timed ? (uint32_t)(r->miss_ticks / r->miss_timed) : net;
}

static void count_latency(struct nve_window_result *r, uint32_t net, bool translated)
{
	if (translated) {
		r->translated_ticks += net;
		r->translated_timed++;
		return;
	}
	r->miss_ticks += net;
	r->miss_ticks_squared += (double)net * net;
	r->miss_timed++;
}

/* Some cores fetch a missed line together with the other one of its pair of 128 bytes. */
static void compare_pair(const struct nve_window *w, struct nve_line *line)
{
	const struct nve_line *other = nve_lines_find(&w->lines, line->id ^ 1);

	line->beside = other && other->missed;
	line->alone = !other;
}

/* A miss of the reorder window is a miss all the same, and the program is spared it; a hit there
 * says nothing, since the core may have started the load itself. So those lines tell neither labels
 * nor dirty fractions; nor latencies, which the entry into the handler has disturbed. */
static void count_touch(struct nve_window *w, struct nve_line *line, uint64_t ticks,
			bool translated)
{
	struct nve_window_result *r = &w->result;
	uint32_t net =
		ticks > w->machine.fence_ticks ? (uint32_t)ticks - w->machine.fence_ticks : 1;
	bool early = line->first_step < w->plan.skip;

	r->touches++;
	w->late_touches += !early;
	line->latency = NVE_MAX(net, (uint32_t)HIT_TICKS);
	w->missing_ip = 0;
	if (ticks <= w->machine.threshold_ticks) {
		if (!early)
			compare_pair(w, line);
		return;
	}
	line->missed = !early;
	r->misses += !early;
	w->missing_ip = early ? 0 : line->first_ip;
	if (ticks > w->machine.outlier_ticks) {
		line->latency = w->machine.threshold_ticks;
		return;
	}
	line->latency = whole_latency(w, net, translated);
	r->spared_ticks += line->latency;
	if (!early)
		count_latency(r, net, translated);
}

/* Is the line to be timed with its translation fetched before? One of four of those that are
 * likely to miss, as the last touch of the same instruction did. */
static bool wants_translation(const struct nve_window *w, const struct nve_access *a)
{
	return w->machine.translates && a->ip == w->missing_ip &&
	       w->late_touches % TRANSLATED_ONE_OF == 0;
}

static int fault(struct nve_window *w, uint64_t addr)
{
	w->result.faults++;
	nve_pages_forget(&w->pages, addr);
	return -EFAULT;
}

/* For the core model: what kind of access it is, and how long its line takes. */
static void observe(struct nve_window *w, struct nve_line *line, const struct nve_access *a,
		    bool fresh)
{
	struct nve_core_access *core = &w->now.core;
	float cycles = (float)line->latency / w->machine.core.cycle_ticks;

	core->loads |= (a->kind & NVE_ACCESS_READ) != 0;
	core->stores |= (a->kind & NVE_ACCESS_WRITE) != 0;
	if (line->missed) {
		core->filled = &line->filled;
	}
	if (line->missed || !core->filled)
		w->now.line = (uint16_t)(line - w->lines.line);
	if (!fresh)
		return;
	core->missing |= line->missed;
	core->latency = fmaxf(core->latency, cycles);
	if (line->missed)
		return;
	if (line->latency > w->machine.far_ticks)
		core->far = true;
	core->resident_latency = fmaxf(core->resident_latency, fminf(cycles, SECOND_LEVEL_CYCLES));
}

static int touch_line(struct nve_window *w, const struct nve_access *a, uint64_t id, bool exists)
{
	bool fresh, translated;
	struct nve_line *line = nve_lines_touch(&w->lines, id, &fresh);
	uint64_t ticks;

	if (!line) {
		w->touched_enough = true;
		return -E2BIG;
	}
	if (fresh) {
		line->first_step = a->step;
		line->first_ip = a->ip;
		line->streaming = (a->kind & NVE_ACCESS_STREAMING) != 0;
		/* Nor do rounds of a string instruction that only store: it is known beforehand
		 * that they fill the line. */
		line->unfetched =
			line->streaming || (a->step != w->now.step && !(a->kind & NVE_ACCESS_READ));
		if (exists && !(a->kind & NVE_ACCESS_STREAMING)) {
			translated = wants_translation(w, a);
			if (translated && nve_touch_translate(id * NVE_LINE_BYTES))
				return fault(w, a->addr);
			ticks = nve_touch_timed(id * NVE_LINE_BYTES);
			if (ticks == NVE_TOUCH_FAULT)
				return fault(w, a->addr);
			count_touch(w, line, ticks, translated);
		}
	}
	observe(w, line, a, fresh);
	if (a->kind & NVE_ACCESS_WRITE && !line->written) {
		line->written = true;
		line->written_step = a->step;
	}
	return 0;
}

static int on_access(void *ctx, const struct nve_access *a)
{
	struct nve_window *w = ctx;
	uint64_t first = a->addr / NVE_LINE_BYTES, last = (a->addr + a->size - 1) / NVE_LINE_BYTES;
	int rc = 0;

	if (w->late_touches >= w->plan.touch_max) {
		w->touched_enough = true;
		return -E2BIG;
	}
	w->now.accessed = true;
	for (uint64_t id = first; id <= last && !rc; id++) {
		enum nve_page page = nve_pages_at(&w->pages, id * NVE_LINE_BYTES, w->started_tsc);

		if (page == NVE_PAGE_ABSENT)
			return -EFAULT;
		w->met_fresh |= page == NVE_PAGE_FRESH;
		rc = touch_line(w, a, id, page == NVE_PAGE_RESIDENT);
	}
	return rc;
}

/* A read that may meet fresh pages, page by page. */
static int read_fresh(struct nve_window *w, uint64_t addr, char *dst, size_t size)
{
	while (size) {
		size_t part = NVE_MIN(size, NVE_PAGE_BYTES - addr % NVE_PAGE_BYTES);

		if (nve_pages_at(&w->pages, addr, w->started_tsc) == NVE_PAGE_FRESH)
			memset(dst, 0, part);
		else if (nve_touch_copy(dst, addr, part))
			return fault(w, addr);
		addr += part;
		dst += part;
		size -= part;
	}
	return 0;
}

static int on_read(void *ctx, uint64_t addr, void *dst, size_t size)
{
	struct nve_window *w = ctx;

	if (w->met_fresh)
		return read_fresh(w, addr, dst, size);
	return nve_touch_copy(dst, addr, size) ? fault(w, addr) : 0;
}

static bool code_readable(struct nve_window *w, uint64_t addr)
{
	uint64_t page = addr / NVE_PAGE_BYTES + 1;

	if (page == w->code_page)
		return true;
	if (nve_pages_at(&w->pages, addr, w->started_tsc) != NVE_PAGE_RESIDENT)
		return false;
	w->code_page = page;
	return true;
}

static int on_fetch(void *ctx, uint64_t addr, uint8_t dst[16])
{
	struct nve_window *w = ctx;
	size_t here = NVE_PAGE_BYTES - addr % NVE_PAGE_BYTES;
	size_t size = here >= 16 ? 16 : here;

	if (!code_readable(w, addr))
		return -EFAULT;
	if (size < 16 && nve_pages_at(&w->pages, addr + size, w->started_tsc) == NVE_PAGE_RESIDENT)
		size = 16;
	if (nve_touch_copy(dst, addr, size))
		return fault(w, addr);
	return (int)size;
}

static uint64_t on_tsc(void *ctx)
{
	(void)ctx;
	return nve_tsc();
}

struct nve_window *nve_window_init(void *mem, const struct nve_window_machine *machine,
				   struct nve_learned *learned, struct nve_predictor *predictor,
				   uint64_t pages_ttl_ticks)
{
	struct nve_window *w = mem;

	w->machine = *machine;
	w->learned = learned;
	w->predictor = predictor;
	w->pages.ttl_ticks = pages_ttl_ticks;
	w->interp = nve_interp_init((char *)mem + window_bytes());
	w->world = (struct nve_interp_world){
		.access = on_access,
		.read = on_read,
		.fetch = on_fetch,
		.step = on_step,
		.flow = on_flow,
		.tsc = on_tsc,
		.ctx = w,
	};
	return w;
}

static void count_written(struct nve_window *w)
{
	for (uint32_t i = 0; i < w->lines.count; i++) {
		const struct nve_line *line = &w->lines.line[i];

		if (line->missed && line->written)
			w->result.misses_written++;
	}
}

void nve_window_run(struct nve_window *w, const ucontext_t *uc, const struct nve_window_plan *plan,
		    struct nve_window_result *result)
{
	struct nve_interp_result end;

	w->plan = *plan;
	memset(&w->result, 0, sizeof(w->result));
	w->now = w->before = (struct observation){0};
	w->code_page = 0;
	w->touched_enough = false;
	w->late_touches = 0;
	w->missing_ip = 0;
	w->met_fresh = false;
	w->waits = 0;
	w->branches = 0;
	w->started_tsc = nve_tsc();
	nve_learned_window(w->learned);
	nve_lines_clear(&w->lines, plan->limit);
	nve_core_start(&w->core, &w->machine.core);
	nve_cpu_from_ucontext(&w->cpu, uc);
	nve_pace_begin(&w->loop, w->cpu.gpr);
	nve_stream_begin(&w->seen);
	end = nve_interp_run(w->interp, &w->cpu, &w->world, plan->limit);
	/* The sampled instruction alone, many times: a string instruction that goes on. */
	if (plan->streams && end.stop_ip == plan->sample_ip && !w->loop.passes)
		nve_stream_rounds(&w->seen, w->loop.last, w->cpu.gpr, end.steps);
	count_written(w);
	w->result.stop = w->touched_enough ? NVE_STOP_LIMIT : end.stop;
	w->result.steps = end.steps;
	w->result.real_cycles = nve_core_real(&w->core);
	w->result.resident_cycles = nve_core_resident(&w->core);
	w->result.waited_cycles = w->core.waited;
	w->result.waited_far_cycles = w->core.waited_far;
	*result = w->result;
}

enum nve_before nve_window_before(struct nve_window *w, uint64_t ip)
{
	w->code_page = 0;
	w->started_tsc = nve_tsc();
	return nve_interp_before(w->interp, &w->world, ip);
}

int nve_window_address(struct nve_window *w, const ucontext_t *uc, uint64_t ip, uint64_t *addr)
{
	w->code_page = 0;
	w->started_tsc = nve_tsc();
	nve_cpu_registers(uc, w->cpu.gpr);
	return nve_interp_address(w->interp, &w->world, w->cpu.gpr, ip, addr);
}

const struct nve_lines *nve_window_lines(const struct nve_window *w)
{
	return &w->lines;
}

struct nve_wait *nve_window_waits(struct nve_window *w, size_t *count)
{
	*count = w->waits;
	return w->wait;
}

const struct nve_pace_loop *nve_window_loop(const struct nve_window *w)
{
	return &w->loop;
}

static enum nve_reach_line probe_line(void *ctx, uint64_t id)
{
	struct nve_window *w = ctx;
	uint64_t addr = id * NVE_LINE_BYTES, ticks;

	if (nve_pages_at(&w->pages, addr, w->started_tsc) != NVE_PAGE_RESIDENT)
		return NVE_REACH_UNKNOWN;
	if (w->machine.translates && nve_touch_translate(addr)) {
		fault(w, addr);
		return NVE_REACH_UNKNOWN;
	}
	ticks = nve_touch_timed(addr);
	if (ticks == NVE_TOUCH_FAULT) {
		fault(w, addr);
		return NVE_REACH_UNKNOWN;
	}
	return ticks > w->machine.threshold_ticks ? NVE_REACH_MISSED : NVE_REACH_CACHED;
}

void nve_window_stream(struct nve_window *w, struct nve_stream *s, uint64_t tsc_khz)
{
	const struct nve_reach_world world = {probe_line, s->counts, w, w->started_tsc};
	struct nve_stream_lines lines;
	float ticks = w->loop.end - w->loop.start;

	s->looked = true;
	if (!w->seen.passes)
		return;
	ticks *= w->loop.modelled > 1 ? (float)w->seen.passes / (float)(w->loop.modelled - 1) : 0;
	nve_reach_count(&w->lines, w->seen.first_step, w->seen.last_step, &world, &lines);
	nve_stream_window(s, w->plan.sample_ip, &w->seen, &lines, ticks * 1e6 / (double)tsc_khz);
}

enum nve_reach_line nve_window_probe(struct nve_window *w, const ucontext_t *uc,
				     const struct nve_stream_head *head, uint64_t random)
{
	uint64_t addr;

	if (nve_window_address(w, uc, head->ip, &addr) &&
	    nve_interp_string_address(w->interp, &w->world, w->cpu.gpr, head->ip, head->writes,
				      &addr))
		return NVE_REACH_UNKNOWN;
	return probe_line(w, nve_reach_ahead(head, addr, random));
}

const struct nve_interp *nve_window_interp(const struct nve_window *w)
{
	return w->interp;
}
