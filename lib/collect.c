#include "collect.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "base/file.h"
#include "base/log.h"
#include "count/ahead/taught.h"
#include "emu/monitor.h"
#include "heat.h"
#include "region_rows.h"
#include "timelines.h"

enum { THREADS_LISTED = 1024, PPM = 1000000 };

_Static_assert((int)NVE_PLACED_KINDS == NVE_TIERS_KINDS &&
		       (int)NVE_PLACED_ORIGINS == NVE_TIERS_ORIGINS &&
		       (int)NVE_PLACED_DRAM == NVE_TIER_DRAM,
	       "the report's arrays are the estimator's");

/* Sums from which totals are made: of a thread, or of the process. */
struct sums {
	struct nve_ahead_counts ahead;
	struct nve_thread_model model;
	uint64_t paid_ns, handover_ns, handovers, cost_ns, saved_ns, lookahead_ns, monitor_ns,
		samples_lost;
	uint64_t left_epochs, left_ns, beyond_ns; /* of a replay */
	double dirty_variance;                    /* weighted by stall time */
	double nvm_variance[NVE_TIERS_KINDS];     /* weighted by accesses */
	struct nve_tiers_counts tiers;
	struct nve_pmu_sums counters;
	double traffic_ns[NVE_STREAM_BYS], traffic_unknown_ns;
};

static struct {
	bool injects;
	struct sums process;
	struct nve_thread_snapshot thread[THREADS_LISTED];
	uint64_t threads, listed;
	uint64_t live_at, live_listed,
		live; /* of the last snapshot: where they stand in the list */
} state;

void nve_collect_setup(bool injects, uint64_t started_ns)
{
	nve_timelines_start(started_ns);
	state.injects = injects;
}

void nve_collect_after_fork(uint64_t started_ns)
{
	nve_timelines_start(started_ns);
	memset(&state.process, 0, sizeof(state.process));
	state.threads = state.listed = 0;
	state.live_at = state.live_listed = state.live = 0;
	nve_region_rows_after_fork();
	nve_heat_after_fork();
}

static void add_ahead(struct nve_ahead_counts *to, const struct nve_ahead_counts *c)
{
	to->samples += c->samples;
	to->samples_user += c->samples_user;
	to->samples_kernel += c->samples_kernel;
	to->samples_own += c->samples_own;
	to->samples_no_answer += c->samples_no_answer;
	to->windows += c->windows;
	to->window_steps += c->window_steps;
	to->window_limits += c->window_limits;
	to->window_call_steps += c->window_call_steps;
	to->window_call_limits += c->window_call_limits;
	for (int i = 0; i < NVE_STOP_COUNT; i++)
		to->window_stops[i] += c->window_stops[i];
	to->touches += c->touches;
	to->misses += c->misses;
	to->misses_written += c->misses_written;
	to->faults += c->faults;
	to->miss_ticks += c->miss_ticks;
	to->miss_timed += c->miss_timed;
	to->miss_ticks_squared += c->miss_ticks_squared;
	to->answered_ns += c->answered_ns;
	to->answered += c->answered;
	to->answered_by_kind += c->answered_by_kind;
	to->label_ns += c->label_ns;
	to->label_squared_ns += c->label_squared_ns;
	to->label_dirty_ns += c->label_dirty_ns;
	to->compared += c->compared;
	to->differed_squared += c->differed_squared;
}

static void sum_tiers(struct sums *s, const struct nve_thread *t)
{
	const uint64_t accesses[] = {
		[NVE_TIERS_READ] = t->model.ma_ro, [NVE_TIERS_WRITE] = t->model.ma_wb};

	s->tiers = t->tiers.counts;
	for (int k = 0; k < NVE_TIERS_KINDS; k++) {
		double se = nve_tiers_se(&t->tiers.life, (enum nve_tiers_kind)k);

		s->nvm_variance[k] = se * se * (double)accesses[k] * (double)accesses[k];
	}
}

static void add_tiers(struct sums *to, const struct sums *s)
{
	for (int k = 0; k < NVE_TIERS_KINDS; k++) {
		to->nvm_variance[k] += s->nvm_variance[k];
		for (int i = 0; i < 2; i++)
			to->tiers.misses[k][i] += s->tiers.misses[k][i];
		for (int i = 0; i < NVE_TIERS_ORIGINS; i++)
			to->tiers.epochs[k][i] += s->tiers.epochs[k][i];
	}
}

/* What a thread knows, read once: it may run meanwhile, and its sums and the process's must agree.
 */
static void sum_thread(struct sums *s, const struct nve_thread *t)
{
	uint64_t spun_ns = t->spun_ns;
	int64_t cost_ns;

	if (t->ahead) {
		double se = nve_ahead_dirty_se_ppm(t->ahead) / 1e6;

		s->ahead = *nve_ahead_counts(t->ahead);
		s->ahead.samples =
			s->ahead.samples_user + s->ahead.samples_kernel + s->ahead.samples_own;
		s->lookahead_ns = s->ahead.lookahead_ns;
		s->dirty_variance = se * se * (double)t->model.stall_ns * (double)t->model.stall_ns;
	}
	if (t->ahead && nve_ahead_stream(t->ahead)) {
		const struct nve_stream *stream = nve_ahead_stream(t->ahead);

		memcpy(s->traffic_ns, stream->ns, sizeof(s->traffic_ns));
		s->traffic_unknown_ns = stream->unknown_ns;
	}
	s->model = t->model;
	s->cost_ns = t->cost_ns;
	s->saved_ns = t->saved_ns;
	s->handover_ns = t->handover_ns;
	s->handovers = t->handovers;
	s->monitor_ns = t->monitor_ns;
	s->samples_lost = t->samples_lost;
	sum_tiers(s, t);
	s->counters = t->pmu.sums;
	s->left_epochs = (uint64_t)(t->replay.end - t->replay.next);
	s->left_ns = nve_replay_left_ns(&t->replay);
	s->beyond_ns = t->replay.ran_ns;
	/* The tool's own cost has delayed the program, too: it pays for what is owed. */
	cost_ns = (int64_t)s->cost_ns - (int64_t)s->saved_ns - t->aside_ns;
	if (state.injects)
		s->paid_ns = NVE_MIN(s->model.delay_owed_ns,
				     spun_ns + (uint64_t)NVE_MAX(cost_ns, (int64_t)0));
}

static void add_model(struct nve_thread_model *to, const struct nve_thread_model *m)
{
	to->epochs += m->epochs;
	to->cpu_ns += m->cpu_ns;
	to->stall_ns += m->stall_ns;
	to->stall_wb_ns += m->stall_wb_ns;
	to->ma_ro += m->ma_ro;
	to->ma_wb += m->ma_wb;
	to->nvm_ma_ro += m->nvm_ma_ro;
	to->nvm_ma_wb += m->nvm_ma_wb;
	to->clamps += m->clamps;
	to->delay_owed_ns += m->delay_owed_ns;
	to->delay_bandwidth_ns += m->delay_bandwidth_ns;
	to->read_bytes += m->read_bytes;
	to->written_bytes += m->written_bytes;
	to->read_variance += m->read_variance;
	to->written_variance += m->written_variance;
	to->dram_lat_ps_by_stall += m->dram_lat_ps_by_stall;
}

static void add_counters(struct nve_pmu_sums *to, const struct nve_pmu_sums *s)
{
	to->reads.reads += s->reads.reads;
	to->reads.unread += s->reads.unread;
	to->reads.wraps += s->reads.wraps;
	to->reads.backwards += s->reads.backwards;
	to->reads.enabled_ns += s->reads.enabled_ns;
	to->reads.running_ns += s->reads.running_ns;
	to->epochs += s->epochs;
	to->clamps += s->clamps;
	to->looked_ns += s->looked_ns;
	to->ahead_stall_ns += s->ahead_stall_ns;
	to->ahead_stall_wb_ns += s->ahead_stall_wb_ns;
	to->uncounted += s->uncounted;
	to->loads.taken += s->loads.taken;
	to->loads.elsewhere += s->loads.elsewhere;
	to->loads.lost += s->loads.lost;
	to->loads.throttled += s->loads.throttled;
	to->loads.damaged += s->loads.damaged;
	to->loads.refused += s->loads.refused;
}

static void add_sums(struct sums *to, const struct sums *s)
{
	add_ahead(&to->ahead, &s->ahead);
	add_model(&to->model, &s->model);
	add_counters(&to->counters, &s->counters);
	add_tiers(to, s);
	for (int i = 0; i < NVE_STREAM_BYS; i++)
		to->traffic_ns[i] += s->traffic_ns[i];
	to->traffic_unknown_ns += s->traffic_unknown_ns;
	to->dirty_variance += s->dirty_variance;
	to->paid_ns += s->paid_ns;
	to->handover_ns += s->handover_ns;
	to->handovers += s->handovers;
	to->cost_ns += s->cost_ns;
	to->saved_ns += s->saved_ns;
	to->lookahead_ns += s->lookahead_ns;
	to->monitor_ns += s->monitor_ns;
	to->samples_lost += s->samples_lost;
	to->left_epochs += s->left_epochs;
	to->left_ns += s->left_ns;
	to->beyond_ns += s->beyond_ns;
}

static uint32_t ratio_ppm(double part, double whole)
{
	return whole > 0 ? (uint32_t)(NVE_MIN(part / whole, 1.0) * PPM + 0.5) : 0;
}

/* Standard error of a time-weighted mean of labels, from their weighted variance, and from that of
 * what windows have taught. */
static uint32_t share_se_ppm(const struct nve_ahead_counts *c)
{
	double mean, variance;

	if (c->answered < 2 || !c->answered_ns)
		return 0;
	mean = c->label_ns / (double)c->answered_ns;
	variance = c->label_squared_ns / (double)c->answered_ns - mean * mean;
	variance = fmax(variance, 0) / (double)(c->answered - 1) +
		   nve_taught_variance(c, (double)c->answered);
	/* No share is off by more than all of it. */
	return ratio_ppm(sqrt(variance), 1);
}

static void fill_latency(struct nve_totals *t, const struct nve_ahead_counts *c)
{
	double n = (double)c->miss_timed, mean, variance;

	/* As equation 6 had it, where none was timed here. */
	if (!c->miss_timed && t->ma_ro + t->ma_wb)
		t->latency_ps =
			(uint64_t)((double)t->stall_ns * 1e3 / (double)(t->ma_ro + t->ma_wb));
	if (!c->miss_timed)
		return;
	t->latency_ps = nve_ahead_latency_ps(c->miss_ticks, c->miss_timed);
	mean = (double)c->miss_ticks / n;
	variance = c->miss_ticks_squared / n - mean * mean;
	t->latency_se_ps = (uint64_t)((double)t->latency_ps / mean * sqrt(fmax(variance, 0) / n));
}

static void fill_placed(struct nve_placed_totals *p, const struct sums *s)
{
	const uint64_t accesses[] = {s->model.ma_ro, s->model.ma_wb};

	p->nvm_ma[NVE_PLACED_READ] = s->model.nvm_ma_ro;
	p->nvm_ma[NVE_PLACED_WRITE] = s->model.nvm_ma_wb;
	for (int k = 0; k < NVE_PLACED_KINDS; k++)
		p->se_ppm[k] = ratio_ppm(sqrt(s->nvm_variance[k]), (double)accesses[k]);
	memcpy(p->misses, s->tiers.misses, sizeof(p->misses));
	memcpy(p->epochs, s->tiers.epochs, sizeof(p->epochs));
}

static void fill_traffic(struct nve_traffic_totals *t, const struct sums *s)
{
	const struct nve_thread_model *m = &s->model;

	t->delay_ns = m->delay_bandwidth_ns;
	t->read_bytes = m->read_bytes;
	t->written_bytes = m->written_bytes;
	t->read_se_bytes = (uint64_t)sqrt(m->read_variance);
	t->written_se_bytes = (uint64_t)sqrt(m->written_variance);
	for (int i = 0; i < NVE_STREAM_BYS; i++)
		t->ns[i] = (uint64_t)s->traffic_ns[i];
	t->unknown_ns = (uint64_t)s->traffic_unknown_ns;
}

static void fill_totals(struct nve_totals *t, const struct sums *s)
{
	const struct nve_ahead_counts *c = &s->ahead;
	const struct nve_thread_model *m = &s->model;

	memset(t, 0, sizeof(*t));
	t->cpu_ns = m->cpu_ns;
	t->stall_ns = m->stall_ns;
	t->stall_wb_ns = m->stall_wb_ns;
	t->ma_ro = m->ma_ro;
	t->ma_wb = m->ma_wb;
	t->clamps = m->clamps;
	t->epochs = m->epochs;
	t->stall_share_ppm = ratio_ppm((double)m->stall_ns, (double)m->cpu_ns);
	t->stall_share_se_ppm = share_se_ppm(c);
	t->dirty_ppm = ratio_ppm((double)m->stall_wb_ns, (double)m->stall_ns);
	t->dirty_se_ppm =
		m->stall_ns ? (uint32_t)(sqrt(s->dirty_variance) / (double)m->stall_ns * PPM) : 0;
	fill_latency(t, c);
	t->dram_lat_ps =
		m->stall_ns ? (uint64_t)(m->dram_lat_ps_by_stall / (double)m->stall_ns) : 0;
	fill_traffic(&t->traffic, s);
	t->delay_owed_ns = m->delay_owed_ns;
	t->delay_paid_ns = s->paid_ns;
	t->delay_dropped_ns = m->delay_owed_ns - s->paid_ns;
	t->delay_handover_ns = s->handover_ns;
	t->handovers = s->handovers;
	t->samples = c->samples;
	t->samples_user = c->samples_user;
	t->samples_kernel = c->samples_kernel;
	t->samples_own = c->samples_own;
	t->samples_no_answer = c->samples_no_answer;
	t->samples_by_kind = c->answered_by_kind;
	t->samples_lost = s->samples_lost;
	t->windows = c->windows;
	t->window_steps = c->window_steps;
	t->window_limits = c->window_limits;
	t->window_call_steps = c->window_call_steps;
	t->window_call_limits = c->window_call_limits;
	memcpy(t->window_stops, c->window_stops, sizeof(t->window_stops));
	t->touches = c->touches;
	t->misses = c->misses;
	t->misses_written = c->misses_written;
	t->faults = c->faults;
	t->handler_ns = s->cost_ns;
	t->lookahead_ns = s->lookahead_ns;
	t->saved_ns = s->saved_ns;
	t->monitor_ns = s->monitor_ns;
	t->counters = s->counters;
	fill_placed(&t->placed, s);
	t->replay_left_epochs = s->left_epochs;
	t->replay_left_ns = s->left_ns;
	t->replay_beyond_ns = s->beyond_ns;
}

static void thread_name(const struct nve_thread *t, char name[16])
{
	char path[64];
	size_t length;

	if (t->name[0]) { /* it told its name when it ended */
		memcpy(name, t->name, sizeof(t->name));
		return;
	}
	nve_format(path, sizeof(path), "/proc/self/task/%d/comm", t->tid);
	if (nve_file_read(path, name, 16, &length) || !length)
		strcpy(name, "?");
	else if (name[length - 1] == '\n')
		name[length - 1] = '\0';
}

void nve_collect_thread(const struct nve_thread *t, struct nve_thread_snapshot *s)
{
	struct sums sums = {0};

	sum_thread(&sums, t);
	s->tid = t->tid;
	s->alive = !t->name[0];
	thread_name(t, s->name);
	fill_totals(&s->totals, &sums);
}

static void list_thread(const struct nve_thread *t, const struct sums *sums, bool alive)
{
	struct nve_thread_snapshot *out;

	state.threads++;
	out = state.listed < THREADS_LISTED ? &state.thread[state.listed] : NULL;
	nve_region_rows_take(t, alive, sums->paid_ns, out ? &out->regions : NULL);
	if (!out)
		return;
	state.listed++;
	out->tid = t->tid;
	out->alive = alive;
	thread_name(t, out->name);
	fill_totals(&out->totals, sums);
}

/* Under the registry's lock; of a live thread, while its settling is held. */
static void put_timeline(const struct nve_thread *t, const struct sums *s, bool live, bool held)
{
	const struct nve_thread_model *m = &s->model;
	const uint64_t totals[NVE_TIMELINE_QUANTITIES] = {
		[NVE_TIMELINE_CPU_NS] = m->cpu_ns,
		[NVE_TIMELINE_STALL_NS] = m->stall_ns,
		[NVE_TIMELINE_STALL_WB_NS] = m->stall_wb_ns,
		[NVE_TIMELINE_MA_RO] = m->ma_ro,
		[NVE_TIMELINE_MA_WB] = m->ma_wb,
		[NVE_TIMELINE_OWED_NS] = m->delay_owed_ns,
		[NVE_TIMELINE_PAID_NS] = s->paid_ns,
	};
	struct nve_timelines_thread thread = {
		.tid = t->tid,
		.live = live,
		.of = held ? &t->timeline : NULL,
		.settled_ns = nve_thread_settled_ns(t),
		.totals = totals,
	};

	thread_name(t, thread.name);
	nve_timelines_put(&thread);
}

void nve_collect_ended(const struct nve_thread *t)
{
	struct sums sums = {0};

	sum_thread(&sums, t);
	add_sums(&state.process, &sums);
	list_thread(t, &sums, false);
	put_timeline(t, &sums, false, true);
	nve_heat_ended(t);
}

static void visit_live(struct nve_thread *t, void *arg)
{
	struct sums sums = {0};
	bool held = nve_monitor_hold(t);

	sum_thread(&sums, t);
	put_timeline(t, &sums, true, held);
	if (held)
		nve_monitor_release(t);
	add_sums(arg, &sums);
	list_thread(t, &sums, true);
}

static void add_live(struct nve_thread *t, void *arg)
{
	struct sums sums = {0};

	sum_thread(&sums, t);
	add_sums(arg, &sums);
}

void nve_collect_totals(const struct nve_thread *t, struct nve_totals *totals)
{
	struct sums sums = {0};

	if (t) {
		sum_thread(&sums, t);
	} else if (!nve_thread_lock()) {
		sums = state.process;
		nve_thread_each(add_live, &sums);
		nve_thread_unlock();
	}
	fill_totals(totals, &sums);
}

static void note_sampled(struct nve_thread *t, void *any)
{
	if (t->ahead)
		*(bool *)any = true;
}

bool nve_collect_any(void)
{
	bool any = state.process.cost_ns != 0;

	if (nve_thread_lock())
		return any;
	nve_thread_each(note_sampled, &any);
	nve_thread_unlock();
	return any;
}

static void count_alive(struct nve_thread *t, void *count)
{
	*(uint64_t *)count += 1 + t->has_monitor;
}

/* The kernel counts all threads of the process as links of a directory. Under the registry's lock.
 */
static uint64_t foreign_threads(void)
{
	uint64_t ours = 2; /* "." and ".." */
	struct stat st;

	nve_thread_each(count_alive, &ours);
	if (ours == 2 || stat("/proc/self/task", &st))
		return 0;
	return st.st_nlink > ours ? st.st_nlink - ours : 0;
}

/* They live on and will be listed again. Some may have ended, and been listed, since. */
static void forget_live(void)
{
	uint64_t next = state.live_at + state.live_listed;

	memmove(&state.thread[state.live_at], &state.thread[next],
		(state.listed - next) * sizeof(state.thread[0]));
	state.listed -= state.live_listed;
	state.threads -= state.live;
	state.live_listed = state.live = 0;
}

static void fill_stop_names(struct nve_snapshot *s)
{
	struct nve_ahead_stop_name names[NVE_SNAPSHOT_STOP_NAMES] = {0};
	int n = nve_ahead_stop_names(names, NVE_SNAPSHOT_STOP_NAMES);

	for (int i = 0; i < n; i++) {
		memcpy(s->stop_names[i].name, names[i].name, sizeof(s->stop_names[i].name));
		s->stop_names[i].count = names[i].count;
	}
}

void nve_collect_fill(struct nve_snapshot *s)
{
	static struct sums sums;

	bool locked = nve_thread_lock() == 0;

	sums = state.process;
	forget_live();
	nve_region_rows_begin();
	state.live_at = state.listed;
	state.live = state.threads;
	nve_timelines_begin();
	if (locked)
		nve_thread_each(visit_live, &sums);
	nve_timelines_fill(&s->timeline);
	state.live_listed = state.listed - state.live_at;
	state.live = state.threads - state.live;
	nve_region_rows_fill(&s->regions);
	fill_totals(&s->totals, &sums);
	s->threads = state.thread;
	s->thread_count = state.listed;
	s->threads_total = state.threads;
	s->threads_not_listed = state.threads - state.listed;
	s->foreign_threads = locked ? foreign_threads() : 0;
	nve_heat_fill(&s->heat, &s->totals, locked);
	if (locked)
		nve_thread_unlock();
	fill_stop_names(s);
	nve_pmu_uncore_counts(&s->uncore_reads, &s->uncore_clamps, &s->uncore_failures);
}
