#include "timelines.h"

#include <string.h>
#include <time.h>

#include "base/base.h"
#include "base/clock.h"

enum { LISTED = NVE_SNAPSHOT_TIMELINES };

/* The busiest threads so far, in no order, and the sum of the others. */
struct set {
	struct nve_timeline_thread thread[LISTED];
	size_t count;
	struct nve_timeline rest;
	uint64_t rest_threads;
};

static struct {
	uint64_t origin_ns;
	struct set ended, all; /* all: with those alive, of the last snapshot */
	struct nve_timeline total;
} state;

static void clear_set(struct set *set)
{
	set->count = 0;
	set->rest_threads = 0;
	memset(&set->rest, 0, sizeof(set->rest));
}

void nve_timelines_start(uint64_t started_ns)
{
	state.origin_ns = started_ns;
	clear_set(&state.ended);
}

uint64_t nve_timelines_origin_ns(void)
{
	return state.origin_ns;
}

void nve_timelines_begin(void)
{
	memcpy(state.all.thread, state.ended.thread,
	       state.ended.count * sizeof(state.ended.thread[0]));
	state.all.count = state.ended.count;
	state.all.rest = state.ended.rest;
	state.all.rest_threads = state.ended.rest_threads;
}

static uint64_t busy_ns(const struct nve_timeline_thread *thread)
{
	return thread->timeline.sum[NVE_TIMELINE_CPU_NS] +
	       thread->timeline.sum[NVE_TIMELINE_PAID_NS];
}

static struct nve_timeline_thread *least_busy(struct set *set)
{
	struct nve_timeline_thread *least = &set->thread[0];

	for (size_t i = 1; i < set->count; i++)
		if (busy_ns(&set->thread[i]) < busy_ns(least))
			least = &set->thread[i];
	return least;
}

static void put(struct set *set, const struct nve_timeline_thread *thread)
{
	struct nve_timeline_thread *least;

	if (set->count < LISTED) {
		set->thread[set->count++] = *thread;
		return;
	}
	least = least_busy(set);
	set->rest_threads++;
	if (busy_ns(thread) <= busy_ns(least)) {
		nve_timeline_merge(&set->rest, &thread->timeline);
		return;
	}
	nve_timeline_merge(&set->rest, &least->timeline);
	*least = *thread;
}

void nve_timelines_put(const struct nve_timelines_thread *thread)
{
	static struct nve_timeline_thread made; /* under the registry's lock, as all here */
	uint64_t now_ns = nve_clock_ns(CLOCK_MONOTONIC) - state.origin_ns;

	memset(&made, 0, sizeof(made));
	made.tid = thread->tid;
	memcpy(made.name, thread->name, sizeof(made.name));
	if (thread->of)
		made.timeline = *thread->of;
	nve_timeline_settle(&made.timeline, thread->settled_ns, now_ns, thread->totals);
	put(thread->live ? &state.all : &state.ended, &made);
}

/* The busiest first. */
static void sort(struct set *set)
{
	static struct nve_timeline_thread moved;

	for (size_t i = 1; i < set->count; i++) {
		size_t to = i;

		while (to && busy_ns(&set->thread[to - 1]) < busy_ns(&set->thread[i]))
			to--;
		moved = set->thread[i];
		memmove(&set->thread[to + 1], &set->thread[to], (i - to) * sizeof(moved));
		set->thread[to] = moved;
	}
}

void nve_timelines_fill(struct nve_timeline_snapshot *s)
{
	struct set *all = &state.all;

	sort(all);
	memset(&state.total, 0, sizeof(state.total));
	nve_timeline_merge(&state.total, &all->rest);
	for (size_t i = 0; i < all->count; i++)
		nve_timeline_merge(&state.total, &all->thread[i].timeline);
	nve_timeline_widen(&all->rest, state.total.width_ns);
	for (size_t i = 0; i < all->count; i++)
		nve_timeline_widen(&all->thread[i].timeline, state.total.width_ns);
	*s = (struct nve_timeline_snapshot){
		.total = &state.total,
		.threads = all->thread,
		.thread_count = all->count,
		.rest = &all->rest,
		.rest_threads = all->rest_threads,
	};
}
