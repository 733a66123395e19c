#include "count/ahead/window.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "base/clock.h"
#include "count/ahead/touch.h"

enum {
	HIT_TICKS = 4, /* what an access that hits is worth beside a miss; the result hardly depends
			  on it */
	SHORTLY_STEPS =
		48 /* a second access to a line so soon after its miss waits for the same fill */
};

/* What one interpreted instruction did to memory. */
struct observation {
	uint64_t ip;
	uint64_t missing_ticks, all_ticks;
	uint64_t miss_ip; /* who brought in the line it waits for */
	uint32_t step;
	bool accessed;
	bool is_sample; /* b without an access just before: its own one is the suspect */
};

struct nve_window {
	struct nve_window_machine machine;
	struct nve_window_plan plan;
	struct nve_window_result result;
	struct observation now, before;
	uint64_t started_tsc;
	uint64_t code_page; /* last page that code was fetched from: address / 4096 + 1 */
	bool touched_enough;
	struct nve_interp_world world;
	struct nve_interp *interp;
	struct nve_cpu cpu;
	struct nve_pages pages;
	struct nve_lines lines;
};

static size_t window_bytes(void)
{
	return (sizeof(struct nve_window) + NVE_LINE_BYTES - 1) / NVE_LINE_BYTES * NVE_LINE_BYTES;
}

size_t nve_window_bytes(void)
{
	return window_bytes() + nve_interp_bytes();
}

static void settle(struct nve_window *w, const struct observation *suspect)
{
	w->result.occurrences++;
	w->result.missing_ticks += suspect->missing_ticks;
	w->result.all_ticks += suspect->all_ticks + HIT_TICKS;
	if (suspect->missing_ticks && !w->result.suspect_ip)
		w->result.suspect_ip = suspect->miss_ip;
}

static void on_step(void *ctx, uint64_t ip, uint32_t step)
{
	struct nve_window *w = ctx;

	if (w->now.is_sample)
		settle(w, &w->now);
	w->before = w->now;
	w->now = (struct observation){.ip = ip, .step = step};
	if (ip != w->plan.sample_ip || step <= w->plan.skip)
		return;
	if (w->before.accessed)
		settle(w, &w->before);
	else
		w->now.is_sample = true;
}

static void count_touch(struct nve_window *w, struct nve_line *line, uint64_t ticks)
{
	struct nve_window_result *r = &w->result;
	uint32_t net =
		ticks > w->machine.fence_ticks ? (uint32_t)ticks - w->machine.fence_ticks : 1;

	r->touches++;
	r->touch_ticks += ticks;
	line->timed = true;
	line->missed = ticks > w->machine.threshold_ticks;
	if (!line->missed) {
		line->latency = NVE_MAX(net, (uint32_t)HIT_TICKS);
		return;
	}
	r->misses++;
	if (ticks > w->machine.outlier_ticks) {
		line->latency = w->machine.threshold_ticks;
		return;
	}
	line->latency = net;
	r->miss_ticks += net;
	r->miss_timed++;
}

static int fault(struct nve_window *w, uint64_t addr)
{
	w->result.faults++;
	nve_pages_forget(&w->pages, addr);
	return -EFAULT;
}

static int touch_line(struct nve_window *w, const struct nve_access *a, uint64_t id)
{
	bool fresh;
	struct nve_line *line = nve_lines_touch(&w->lines, id, &fresh);
	uint64_t ticks;

	if (!line) {
		w->touched_enough = true;
		return -E2BIG;
	}
	if (fresh) {
		line->first_step = a->step;
		line->first_ip = a->ip;
		if (a->step >= w->plan.skip && !(a->kind & NVE_ACCESS_STREAMING)) {
			ticks = nve_touch_timed(id * NVE_LINE_BYTES);
			if (ticks == NVE_TOUCH_FAULT)
				return fault(w, a->addr);
			count_touch(w, line, ticks);
		}
	}
	if (line->missed && a->step - line->first_step <= SHORTLY_STEPS) {
		w->now.missing_ticks += line->latency;
		w->now.miss_ip = line->first_ip;
	}
	w->now.all_ticks += fresh || line->missed ? line->latency : HIT_TICKS;
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

	if (w->result.touches >= w->plan.touch_max) {
		w->touched_enough = true;
		return -E2BIG;
	}
	w->now.accessed = true;
	for (uint64_t id = first; id <= last && !rc; id++) {
		if (!nve_pages_readable(&w->pages, id * NVE_LINE_BYTES, w->started_tsc))
			return -EFAULT;
		rc = touch_line(w, a, id);
	}
	return rc;
}

static int on_read(void *ctx, uint64_t addr, void *dst, size_t size)
{
	struct nve_window *w = ctx;

	return nve_touch_copy(dst, addr, size) ? fault(w, addr) : 0;
}

static bool code_readable(struct nve_window *w, uint64_t addr)
{
	uint64_t page = addr / NVE_PAGE_BYTES + 1;

	if (page == w->code_page)
		return true;
	if (!nve_pages_readable(&w->pages, addr, w->started_tsc))
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
	if (size < 16 && nve_pages_readable(&w->pages, addr + size, w->started_tsc))
		size = 16;
	if (nve_touch_copy(dst, addr, size))
		return fault(w, addr);
	return (int)size;
}

struct nve_window *nve_window_init(void *mem, const struct nve_window_machine *machine,
				   uint64_t pages_ttl_ticks)
{
	struct nve_window *w = mem;

	w->machine = *machine;
	w->pages.ttl_ticks = pages_ttl_ticks;
	w->interp = nve_interp_init((char *)mem + window_bytes());
	w->world = (struct nve_interp_world){
		.access = on_access,
		.read = on_read,
		.fetch = on_fetch,
		.step = on_step,
		.ctx = w,
	};
	return w;
}

static void count_written(struct nve_window *w)
{
	for (uint32_t i = 0; i < w->lines.count; i++) {
		const struct nve_line *line = nve_lines_at(&w->lines, i);

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
	w->started_tsc = nve_tsc();
	nve_lines_clear(&w->lines);
	nve_cpu_from_ucontext(&w->cpu, uc);
	end = nve_interp_run(w->interp, &w->cpu, &w->world, plan->limit);
	if (w->now.is_sample && w->now.accessed)
		settle(w, &w->now);
	count_written(w);
	w->result.stop = w->touched_enough ? NVE_STOP_LIMIT : end.stop;
	w->result.steps = end.steps;
	*result = w->result;
}

const struct nve_lines *nve_window_lines(const struct nve_window *w)
{
	return &w->lines;
}

const struct nve_interp *nve_window_interp(const struct nve_window *w)
{
	return w->interp;
}
