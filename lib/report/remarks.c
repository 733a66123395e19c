#include "report/remarks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { REMARK_BYTES = 640 };

/* Below these shares nothing is said. */
static const double dropped_share = 0.01, unanswered_share = 0.1, clamped_share = 0.01,
		    uncertain_share = 0.1, kernel_share = 0.5, running_share = 0.9,
		    lost_share = 0.01;

struct remarks {
	void (*put)(void *ctx, const char *text);
	void *ctx;
	size_t count;
};

static void remark(struct remarks *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void remark(struct remarks *r, const char *format, ...)
{
	char text[REMARK_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	r->put(r->ctx, text);
	r->count++;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static void on_native(struct remarks *r, const struct nve_view *v)
{
	const struct nve_view_process *first = NULL;
	size_t native = 0;

	for (size_t i = 0; i < v->count; i++) {
		if (v->processes[i].emulated)
			continue;
		first = first ? first : &v->processes[i];
		native++;
	}
	if (native == 1)
		remark(r, "process %d (%s) ran natively: %s", first->pid, first->program,
		       first->why_not);
	else if (native)
		remark(r, "%zu processes ran natively, the first, %d (%s), since: %s", native,
		       first->pid, first->program, first->why_not);
}

static void on_settings(struct remarks *r, const struct nve_view *v)
{
	const struct nve_view_process *a, *b;
	const char *name = nve_view_difference(v, &a, &b), *mine, *other;

	if (!name)
		return;
	mine = nve_view_setting(a, name);
	other = nve_view_setting(b, name);
	remark(r,
	       "these are of unlike runs, their sums mean little: %s is %s in process %d, %s in "
	       "process %d",
	       name, mine ? mine : "unknown", a->pid, other ? other : "unknown", b->pid);
}

static void on_samples(struct remarks *r, const struct nve_totals *t)
{
	if (!t->samples && !t->counters.reads.reads) {
		remark(r, "ended before its first tick: nothing was measured");
		return;
	}
	if (share(t->samples_no_answer, t->samples_user) > unanswered_share)
		remark(r, "%.0f %% of the samples are without an answer, and count as the mean",
		       100 * share(t->samples_no_answer, t->samples_user));
	if (share(t->samples_kernel, t->samples) > kernel_share)
		remark(r, "%.0f %% of the samples fell into the kernel, whose stalls are not seen",
		       100 * share(t->samples_kernel, t->samples));
}

static void on_model(struct remarks *r, const struct nve_totals *t)
{
	if (share(t->delay_dropped_ns, t->delay_owed_ns) > dropped_share)
		remark(r, "%.1f %% of the delay owed was not served",
		       100 * share(t->delay_dropped_ns, t->delay_owed_ns));
	if (share(t->stall_share_se_ppm, t->stall_share_ppm) > uncertain_share &&
	    t->stall_share_ppm > 10000)
		remark(r, "the stall share is known to %.0f %% only: a longer run tells more",
		       100 * share(t->stall_share_se_ppm, t->stall_share_ppm));
	if (share(t->clamps, t->epochs) > clamped_share)
		remark(r,
		       "%" PRIu64 " values of %" PRIu64 " epochs had to be forced into their "
		       "range",
		       t->clamps, t->epochs);
}

static void on_counters(struct remarks *r, const struct nve_totals *t)
{
	const struct nve_pmu_sums *c = &t->counters;

	if (c->uncounted)
		remark(r, "%" PRIu64 " threads went by look-ahead: no hardware counters for them",
		       c->uncounted);
	if (c->loads.refused)
		remark(r,
		       "addresses of %" PRIu64 " threads were not sampled: their stall time is "
		       "unattributed",
		       c->loads.refused);
	if (share(c->loads.lost, c->loads.taken + c->loads.lost) > lost_share)
		remark(r, "%" PRIu64 " of %" PRIu64 " sampled loads were lost: no room for them",
		       c->loads.lost, c->loads.taken + c->loads.lost);
	if (c->reads.enabled_ns && share(c->reads.running_ns, c->reads.enabled_ns) < running_share)
		remark(r, "hardware counters ran for %.0f %% of the time only: others used them",
		       100 * share(c->reads.running_ns, c->reads.enabled_ns));
}

static void on_threads(struct remarks *r, const struct nve_view *v)
{
	uint64_t foreign = 0, unlisted = 0;

	for (size_t i = 0; i < v->count; i++) {
		foreign += v->processes[i].threads_not_emulated;
		unlisted += v->processes[i].threads_not_listed;
	}
	if (foreign)
		remark(r, "%" PRIu64 " threads were not made by pthread_create, and ran natively",
		       foreign);
	if (unlisted)
		remark(r, "%" PRIu64 " threads are in the sums, but not listed", unlisted);
}

static bool is_dry(const struct nve_view_process *p)
{
	const char *inject = nve_view_setting(p, "NVM_INJECT");

	return inject && !strcmp(inject, "off");
}

size_t nve_remarks(const struct nve_view *view, void (*put)(void *ctx, const char *text), void *ctx)
{
	struct remarks r = {.put = put, .ctx = ctx};
	const struct nve_view_process *first = &view->processes[0];
	struct nve_totals totals = view->totals;

	on_native(&r, view);
	on_settings(&r, view);
	if (is_dry(first)) {
		remark(&r, "a dry run (NVM_INJECT=off): delay was counted, and not served");
		totals.delay_dropped_ns = 0;
	}
	if (first->emulated && !*first->replay)
		on_samples(&r, &totals);
	if (first->emulated) {
		on_model(&r, &totals);
		on_counters(&r, &totals);
	}
	on_threads(&r, view);
	return r.count;
}
