#include "count/ahead/ahead.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"
#include "base/clock.h"
#include "count/ahead/budget.h"
#include "count/ahead/context.h"
#include "count/ahead/dirty.h"
#include "count/ahead/exposed.h"
#include "count/ahead/lateness.h"
#include "count/ahead/learned.h"
#include "count/ahead/misses_sample.h"
#include "count/ahead/pace.h"
#include "count/ahead/predictor.h"
#include "count/ahead/probe.h"
#include "count/ahead/stop_names.h"
#include "count/ahead/taught.h"
#include "count/ahead/touch.h"
#include "count/ahead/traffic.h"
#include "count/ahead/waits.h"
#include "count/ahead/window.h"

enum {
	TOUCH_MAX = 512,
	KIND_UNITS = 16,
	LATENCY_MIN = 32, /* misses before the thread's own latency is used */
	CLASS_HALVE_UNITS = 1 << 26,
	LATENCY_HALVE = 8192,
	PPM = 1000000,
};

/* A latency that is lower, in parts of DRAM's, is not memory's. */
#define LEAST_OF_DRAM 0.9
#define NEWS_LABEL    0.1

/* Process-wide. */
static struct {
	struct nve_calibration cal;
	struct nve_window_machine machine;
	double given_ratio; /* DRAM latency in force over measured */
	uint64_t budget_ppm, library_start, library_end;
	uint64_t pages_ttl_ticks;
	uint64_t tick_ns; /* of the kernel */
	bool counts_traffic;
	double most_lines_per_ns;
	struct nve_learned *learned;
	struct nve_predictor *predictor;
	struct nve_dirty_table *dirty;
	const struct nve_miss_sink *sink;   /* NULL: nobody wants misses */
	const struct nve_waits_sink *waits; /* NULL: nobody wants waits */
	/* of all threads: for those too short to be sampled. Sums, ns, of time and label * time. */
	_Atomic uint64_t share_ns, share_label_ns, share_wb_ns;
} shared;

struct nve_ahead {
	struct nve_ahead_counts counts;
	struct nve_dirty dirty;
	struct nve_window *window;
	struct nve_misses *misses; /* NULL: nobody wants them */
	struct nve_budget budget;
	struct nve_lateness lateness;
	struct nve_pace pace;
	struct nve_stream stream;
	bool for_stream;   /* the last window was on its account */
	uint64_t setup_ns; /* of this sample, spent on what all windows to come need */
	/* the latency of its misses, fading sums */
	uint64_t latency_ticks, latency_count;
	uint64_t translated_ticks, translated_count; /* without page walks */
	/* of all instructions after an access: time waited for memory and in all, fading sums */
	uint64_t class_waited, class_all;
	struct nve_exposed exposed;
	/* since the last epoch ended; ns */
	uint64_t epoch_ns, epoch_answered_ns, epoch_answered;
	double epoch_label_ns, epoch_label_squared_ns, epoch_label_dirty_ns;
	uint64_t epoch_looked_ns; /* waited for touches, less what they spared the program */
};

static void *map_table(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

const char *nve_ahead_why_not(void)
{
	return NULL;
}

int nve_ahead_setup(const struct nve_calibration *cal, uint64_t given_dram_lat_ps,
		    uint64_t budget_ppm, uint64_t library_start, uint64_t library_end)
{
	shared.cal = *cal;
	shared.given_ratio = given_dram_lat_ps ? (double)given_dram_lat_ps / cal->dram_lat_ps : 1;
	shared.machine = nve_window_machine(cal);
	shared.budget_ppm = budget_ppm;
	shared.library_start = library_start;
	shared.library_end = library_end;
	shared.tick_ns = nve_clock_tick_ns();
	shared.pages_ttl_ticks = nve_ns_to_tsc(1000000000, cal->tsc_khz);
	if (!shared.learned)
		shared.learned = map_table(nve_learned_bytes());
	if (!shared.dirty)
		shared.dirty = map_table(nve_dirty_table_bytes());
	if (!shared.predictor)
		shared.predictor = map_table(nve_predictor_bytes());
	if (!shared.learned || !shared.dirty || !shared.predictor)
		return -ENOMEM;
	nve_interp_setup(); /* without executable memory some results stay unknown: no failure */
	nve_probe_start_mean(cal->probe_cycles_milli / 1e3);
	return 0;
}

void nve_ahead_set_sink(const struct nve_miss_sink *sink)
{
	shared.sink = sink;
}

void nve_ahead_set_waits_sink(const struct nve_waits_sink *sink)
{
	shared.waits = sink;
}

void nve_ahead_after_fork(void)
{
	nve_stop_names_forget();
	nve_pages_after_fork();
	nve_probe_after_fork();
}

static size_t ahead_bytes(void)
{
	return (sizeof(struct nve_ahead) + NVE_LINE_BYTES - 1) / NVE_LINE_BYTES * NVE_LINE_BYTES;
}

static size_t thread_bytes(void)
{
	return ahead_bytes() + nve_window_bytes() + (shared.sink ? nve_misses_bytes() : 0);
}

struct nve_ahead *nve_ahead_new(void)
{
	struct nve_ahead *a;
	char *mem = mmap(NULL, thread_bytes(), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		return NULL;
	a = (struct nve_ahead *)mem;
	nve_budget_start(&a->budget, shared.machine.run_ahead);
	a->window = nve_window_init(mem + ahead_bytes(), &shared.machine, shared.learned,
				    shared.predictor, shared.pages_ttl_ticks);
	nve_traffic_begin(&a->stream, a->window, shared.most_lines_per_ns);
	if (shared.sink)
		a->misses = nve_misses_init(mem + ahead_bytes() + nve_window_bytes(), shared.sink);
	return a;
}

void nve_ahead_delete(struct nve_ahead *a)
{
	munmap(a, thread_bytes());
}

static void fade(uint64_t *sum, uint64_t *count, uint64_t halve_at)
{
	if (*count < halve_at)
		return;
	*sum /= 2;
	*count /= 2;
}

/* By the probe, for those whose own misses do not tell. */
static double probed_ratio(void)
{
	double now = nve_probe_mean() - shared.machine.fence_ticks;
	double then = shared.cal.probe_cycles_milli / 1e3 - shared.machine.fence_ticks;

	return now / then;
}

/*
 * DRAM's own latency as it is now for this thread, ps: the calibrated one times what memory's
 * answer takes now over what it took then, both without page walks. The thread's own misses tell,
 * since memory need not be equally far everywhere (nodes of the host). Where the program takes
 * longer than the readings, memory is slower for it than when it is read: after a long delay, say,
 * in which others have pushed its page tables out.
 */
static uint64_t dram_lat_ps(const struct nve_ahead *a)
{
	double fences = shared.machine.fence_ticks, ratio, slower = nve_pace_factor(&a->pace);

	if (a->translated_count >= LATENCY_MIN)
		ratio = (double)a->translated_ticks / (double)a->translated_count /
			(shared.cal.timed_translated_cycles_milli / 1e3 - fences);
	else
		ratio = probed_ratio();
	return (uint64_t)(shared.cal.dram_lat_ps * ratio * shared.given_ratio * fmax(slower, 1));
}

/* A timed read less its fences is what the program waits for, page walk included. */
uint64_t nve_ahead_latency_ps(uint64_t ticks_sum, uint64_t count)
{
	double ticks = (double)ticks_sum / (double)count;

	return (uint64_t)(ticks * 1e9 / (double)shared.cal.tsc_khz * shared.given_ratio);
}

static void count_stop(struct nve_ahead *a, enum nve_stop stop)
{
	a->counts.window_stops[stop]++;
	if (stop != NVE_STOP_LIMIT && stop != NVE_STOP_SYSCALL)
		nve_stop_names_count(nve_interp_stop_name(nve_window_interp(a->window)));
}

/* Every missed line that was followed for a while says whether it gets written. */
static void learn_dirty(struct nve_ahead *a, const struct nve_window_result *r)
{
	double share = 0;

	if (r->real_cycles > r->resident_cycles)
		share = 1 - r->resident_cycles / r->real_cycles;
	nve_dirty_window(&a->dirty, shared.dirty, nve_window_lines(a->window), r->steps, share);
	a->counts.dirty_weight = a->dirty.all;
	a->counts.dirty = a->dirty.fraction;
}

/*
 * What the touches of the window's misses spare the program: one after another they took their
 * latencies; the program would have waited for them as the core model says, less where they
 * overlap.
 */
static uint64_t saved(const struct nve_window_result *r)
{
	double ticks = (double)r->spared_ticks, modelled = r->real_cycles - r->resident_cycles;
	double serial = r->modelled_miss_cycles, held = r->waited_cycles + r->waited_far_cycles;

	if (serial > 0 && held > 0)
		ticks *= fmin(fmax(modelled * r->waited_cycles / held / serial, 0), 1);
	return nve_tsc_to_ns((uint64_t)ticks, shared.cal.tsc_khz);
}

/* Programs that end before their first window do without. */
static void prepare(struct nve_ahead *a)
{
	uint64_t started_tsc = nve_tsc();

	if (nve_probe_is_set_up())
		return;
	nve_probe_setup();
	a->setup_ns = nve_tsc_to_ns(nve_tsc() - started_tsc, shared.cal.tsc_khz);
}

static void pay(struct nve_ahead *a, int octave, const struct nve_window_result *r)
{
	struct nve_budget_window window = {
		.octave = octave,
		.steps = r->steps,
		.misses = r->misses,
		.written = r->misses_written,
		.share = r->real_cycles > 0 ? r->waited_cycles / r->real_cycles : 0,
		.unresolved = a->dirty.unresolved,
	};

	if (nve_budget_took(&a->budget, &window))
		nve_dirty_another_phase(&a->dirty);
}

static uint64_t look(struct nve_ahead *a, const ucontext_t *uc, int octave, bool after_syscall,
		     struct nve_window_result *r)
{
	struct nve_ahead_counts *c = &a->counts;
	struct nve_window_plan plan = {
		.sample_ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP],
		.limit = nve_budget_steps(&a->budget, octave),
		.skip = after_syscall ? 0 : shared.machine.run_ahead,
		.touch_max = TOUCH_MAX << octave,
		.notes_waits = a->misses || shared.waits,
		.streams = shared.counts_traffic,
	};
	uint64_t saved_ns, waited_ns, started_tsc = nve_tsc();
	double believed = nve_learned_believed(shared.learned, plan.sample_ip);

	nve_window_run(a->window, uc, &plan, r);
	c->windows++;
	c->window_steps += r->steps;
	/* A window that touched as many lines as it may is as long as it was allowed to be. */
	c->window_limits += r->stop == NVE_STOP_LIMIT ? r->steps : plan.limit;
	if (r->stop == NVE_STOP_SYSCALL) {
		c->window_call_steps += r->steps;
		c->window_call_limits += plan.limit;
	}
	c->touches += r->touches;
	c->misses += r->misses;
	c->misses_written += r->misses_written;
	c->faults += r->faults;
	c->miss_ticks += r->miss_ticks;
	c->miss_ticks_squared += r->miss_ticks_squared;
	c->miss_timed += r->miss_timed;
	fade(&a->class_waited, &a->class_all, CLASS_HALVE_UNITS);
	a->class_waited += r->class_waited;
	a->class_all += r->class_all;
	fade(&a->latency_ticks, &a->latency_count, LATENCY_HALVE);
	a->latency_ticks += r->miss_ticks;
	a->latency_count += r->miss_timed;
	fade(&a->translated_ticks, &a->translated_count, LATENCY_HALVE / 4);
	a->translated_ticks += r->translated_ticks;
	a->translated_count += r->translated_timed;
	count_stop(a, r->stop);
	if (!a->for_stream)
		pay(a, octave, r); /* before: what it learns is of this phase */
	learn_dirty(a, r);
	nve_exposed_window(&a->exposed, r);
	nve_taught_compare(c, (double)r->waited / (double)r->all, believed,
			   nve_exposed(&a->exposed));
	nve_probe_go_on(shared.machine.outlier_ticks);
	saved_ns = saved(r);
	nve_pace_window(&a->pace, nve_window_loop(a->window),
			(double)nve_ns_to_tsc(saved_ns, shared.cal.tsc_khz));
	nve_window_stream(a->window, &a->stream, shared.cal.tsc_khz);
	c->saved_ns += saved_ns;
	waited_ns = nve_tsc_to_ns(r->spared_ticks, shared.cal.tsc_khz);
	a->epoch_looked_ns += waited_ns - NVE_MIN(waited_ns, saved_ns);
	c->lookahead_ns += nve_tsc_to_ns(nve_tsc() - started_tsc, shared.cal.tsc_khz);
	return saved_ns;
}

/*
 * Instructions that no window has passed: the mean over all that come after an access, as this
 * sample's does; without an access before there is nothing to wait for. Kept with little weight, so
 * that the first window to pass says more.
 */
static bool label_by_kind(struct nve_ahead *a, uint64_t ip, void (*guard)(bool enter),
			  double *label)
{
	enum nve_before before;
	struct nve_learned_ip *e;
	double mean = 0;

	guard(true);
	before = nve_window_before(a->window, ip);
	guard(false);
	if (before == NVE_BEFORE_UNKNOWN || (before == NVE_BEFORE_ACCESS && a->class_all == 0))
		return false;
	if (before == NVE_BEFORE_ACCESS)
		mean = (double)a->class_waited / (double)a->class_all;
	e = nve_learned_find(shared.learned, ip, true);
	if (e)
		nve_learned_add(shared.learned, e, (uint32_t)(mean * KIND_UNITS), KIND_UNITS);
	a->counts.answered_by_kind++;
	*label = mean * nve_exposed(&a->exposed);
	return true;
}

/* 0 to 1; false when it is not known. */
static bool label_sample(struct nve_ahead *a, uint64_t ip, const struct nve_window_result *r,
			 void (*guard)(bool enter), double *label)
{
	const struct nve_learned_ip *e = nve_learned_find(shared.learned, ip, false);

	/* The table has this window's word, too, and those of others that pass the loop. */
	if (e && nve_learned_label(e, label)) {
		*label *= nve_exposed(&a->exposed);
		return true;
	}
	if (r->occurrences == 0)
		return label_by_kind(a, ip, guard, label);
	*label = (double)r->waited / (double)r->all * nve_exposed(&a->exposed);
	return true;
}

static void answer(struct nve_ahead *a, uint64_t cpu_ns, double label)
{
	double time = (double)cpu_ns, stall = label * time;
	double wb = stall * nve_dirty_fraction(&a->dirty);

	a->counts.answered++;
	a->counts.answered_ns += cpu_ns;
	a->counts.label_ns += stall;
	a->counts.label_squared_ns += label * stall;
	a->counts.label_dirty_ns += wb;
	a->epoch_answered_ns += cpu_ns;
	a->epoch_answered++;
	a->epoch_label_ns += stall;
	a->epoch_label_squared_ns += label * stall;
	a->epoch_label_dirty_ns += wb;
	atomic_fetch_add_explicit(&shared.share_ns, cpu_ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&shared.share_label_ns, (uint64_t)stall, memory_order_relaxed);
	atomic_fetch_add_explicit(&shared.share_wb_ns, (uint64_t)wb, memory_order_relaxed);
}

/* What else ran on the core pushes the program's lines out. A tick that fell into the kernel is
 * delivered when that has done its work: its lateness says nothing. */
static bool is_disturbed(struct nve_ahead *a, const struct nve_ahead_tick *tick, bool in_kernel)
{
	if (in_kernel)
		return tick->preempted;
	return nve_lateness_is_late(&a->lateness, tick->at_ns, shared.tick_ns) || tick->preempted;
}

/* How long a window may be taken: see budget.h. news: the stream of misses would have one,
 * unless the instruction hardly stalls. */
static int choose_octave(struct nve_ahead *a, uint64_t ip, struct nve_budget_sample sample,
			 double delay_per_stall, bool news)
{
	const struct nve_learned_ip *e = nve_learned_find(shared.learned, ip, false);
	int octave;

	sample.known = e && atomic_load_explicit(&e->all, memory_order_relaxed) > 2 * KIND_UNITS;
	if (sample.known)
		nve_learned_label(e, &sample.label);
	sample.delay_ns = (uint64_t)(sample.label * delay_per_stall * (double)sample.cpu_ns);
	if (news && sample.label >= NEWS_LABEL)
		sample.known = false;
	octave = nve_budget_choose(&a->budget, &sample, shared.budget_ppm);
	a->for_stream =
		octave < 0 && shared.counts_traffic && nve_stream_wants_window(&a->stream, ip);
	return a->for_stream ? 0 : octave;
}

static void keep_pace(struct nve_ahead *a, const ucontext_t *uc, uint64_t cpu_ns, bool kernel)
{
	uint64_t registers[NVE_PACE_REGISTERS];

	if (kernel) {
		nve_pace_interrupt(&a->pace);
		return;
	}
	nve_cpu_registers(uc, registers);
	nve_pace_sample(&a->pace, registers, (double)nve_ns_to_tsc(cpu_ns, shared.cal.tsc_khz));
}

uint64_t nve_ahead_sample(struct nve_ahead *a, const ucontext_t *uc, uint64_t cpu_ns,
			  struct nve_ahead_tick tick, void (*guard)(bool enter))
{
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP], saved_ns = 0;
	struct nve_window_result r = {0};
	struct nve_misses_sample miss;
	bool in_kernel;
	int octave;
	double label = 0;

	a->counts.samples++;
	a->epoch_ns += cpu_ns;
	if (ip - shared.library_start < shared.library_end - shared.library_start) {
		a->counts.samples_own++;
		return 0;
	}
	in_kernel = nve_context_is_after_syscall(uc, guard) || tick.in_kernel;
	miss = nve_misses_sample(a->misses, a->window, uc, guard);
	octave = choose_octave(a, ip,
			       (struct nve_budget_sample){
				       .cpu_ns = cpu_ns,
				       .disturbed = is_disturbed(a, &tick, in_kernel),
			       },
			       tick.delay_per_stall, miss.is_news);
	keep_pace(a, uc, cpu_ns, in_kernel);
	if (octave >= 0) {
		prepare(a);
		guard(true);
		saved_ns = look(a, uc, octave, in_kernel, &r);
		guard(false);
		if (shared.waits)
			nve_waits_tell_window(shared.waits, a->window, &r, shared.dirty);
		if (a->misses)
			nve_misses_learn_window(a->misses, a->window, r.steps, shared.dirty);
	}
	if (in_kernel) {
		a->counts.samples_kernel++;
		answer(a, cpu_ns, 0);
		return saved_ns;
	}
	a->counts.samples_user++;
	if (!label_sample(a, ip, &r, guard, &label)) {
		a->counts.samples_no_answer++;
		return saved_ns;
	}
	answer(a, cpu_ns, label);
	if (a->misses)
		nve_misses_spread(a->misses, ip, label * (double)cpu_ns, miss.addr);
	return saved_ns;
}

void nve_ahead_count_traffic(uint64_t bytes_per_s)
{
	shared.counts_traffic = true;
	shared.most_lines_per_ns = (double)bytes_per_s / NVE_LINE_BYTES / 1e9;
}

struct nve_stream *nve_ahead_stream(struct nve_ahead *a)
{
	return &a->stream;
}

void nve_ahead_charge(struct nve_ahead *a, int64_t cost_ns)
{
	if (!a->for_stream)
		nve_budget_charge(&a->budget, cost_ns - (int64_t)a->setup_ns);
	a->setup_ns = 0;
}

/* Shares of the epoch's answered time; where it has none, of the thread's; else of the process's.
 */
static void shares(const struct nve_ahead *a, double *stall, double *wb)
{
	double label = a->epoch_label_ns, dirty = a->epoch_label_dirty_ns;
	double time = (double)a->epoch_answered_ns;

	if (time == 0) {
		time = (double)a->counts.answered_ns;
		label = a->counts.label_ns;
		dirty = a->counts.label_dirty_ns;
	}
	if (time == 0) {
		time = (double)atomic_load(&shared.share_ns);
		label = (double)atomic_load(&shared.share_label_ns);
		dirty = (double)atomic_load(&shared.share_wb_ns);
	}
	*stall = time > 0 ? label / time : 0;
	*wb = time > 0 ? dirty / time : 0;
}

/* Standard errors: of the epoch's own samples; of the rest, over the life of the thread. */
static void errors(const struct nve_ahead *a, struct nve_epoch *epoch)
{
	const struct nve_ahead_counts *c = &a->counts;
	double time = (double)a->epoch_answered_ns, n = (double)c->miss_timed, mean, variance;

	if (a->epoch_answered > 1 && time > 0) {
		mean = a->epoch_label_ns / time;
		variance = a->epoch_label_squared_ns / time - mean * mean;
		variance = fmax(variance, 0) / (double)(a->epoch_answered - 1) +
			   nve_taught_variance(c, (double)a->epoch_answered);
		epoch->stall_se_ns = (uint64_t)(sqrt(variance) * (double)epoch->cpu_ns + 0.5);
	}
	epoch->dirty_se_ppm = nve_ahead_dirty_se_ppm(a);
	if (a->latency_count < LATENCY_MIN)
		return;
	mean = (double)c->miss_ticks / n;
	variance = fmax(c->miss_ticks_squared / n - mean * mean, 0);
	epoch->latency_se_ps = (uint64_t)((double)epoch->latency_ps / mean * sqrt(variance / n));
}

/*
 * Of a miss, as the program sees it: as the windows read it, corrected by its own pace; DRAM's own
 * while there are few. What is much below DRAM's did not come from there (a hit with a page walk on
 * top), and must not make more accesses of the stall time than memory can answer.
 */
static uint64_t latency_ps(const struct nve_ahead *a, uint64_t dram_ps)
{
	double read_ps;

	if (a->latency_count < LATENCY_MIN)
		return dram_ps;
	read_ps = (double)nve_ahead_latency_ps(a->latency_ticks, a->latency_count);
	return (uint64_t)fmax(read_ps * nve_pace_factor(&a->pace), LEAST_OF_DRAM * (double)dram_ps);
}

void nve_ahead_epoch(struct nve_ahead *a, uint64_t rest_ns, struct nve_epoch *epoch)
{
	uint64_t dram_ps = dram_lat_ps(a);
	double stall, wb;

	shares(a, &stall, &wb);
	epoch->cpu_ns = a->epoch_ns + rest_ns;
	epoch->stall_ns = (uint64_t)(stall * (double)epoch->cpu_ns + 0.5);
	epoch->stall_wb_ns = NVE_MIN(epoch->stall_ns, (uint64_t)(wb * (double)epoch->cpu_ns + 0.5));
	epoch->latency_ps = latency_ps(a, dram_ps);
	/* The program's latency is DRAM's and more (page walks): a higher reading is noise. */
	epoch->dram_lat_ps = NVE_MIN(dram_ps, epoch->latency_ps);
	epoch->dirty_ppm = (uint32_t)(nve_dirty_fraction(&a->dirty) * PPM + 0.5);
	epoch->looked_ns = a->epoch_looked_ns;
	errors(a, epoch);
	if (a->misses)
		nve_misses_end_epoch(a->misses, epoch->stall_ns);
	a->epoch_looked_ns = 0;
	a->epoch_ns = a->epoch_answered_ns = a->epoch_answered = 0;
	a->epoch_label_ns = a->epoch_label_squared_ns = a->epoch_label_dirty_ns = 0;
}

const struct nve_ahead_counts *nve_ahead_counts(const struct nve_ahead *a)
{
	return &a->counts;
}

uint32_t nve_ahead_dirty_se_ppm(const struct nve_ahead *a)
{
	return (uint32_t)(nve_dirty_se(&a->dirty) * PPM);
}
