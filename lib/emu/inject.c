#include "emu/inject.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "count/ahead/pages.h"
#include "emu/account.h"
#include "emu/action.h"
#include "emu/bandwidth.h"
#include "emu/guard.h"
#include "emu/handover.h"
#include "emu/monitor.h"
#include "emu/restart.h"
#include "emu/spin.h"
#include "emu/tick.h"

enum {
	SIGNAL = NVE_INJECT_SIGNAL,
	SAMPLE_NS = 3000000, /* at least, between samples; a tick of 4 ms must not be missed */
	SLEEP_MIN_NS = 1000000000, /* mode auto spins below: a stalled core is a busy core */
	SLEEP_MARGIN_NS = 1000000,
	NEW_PAGES = 32,
};

static struct {
	struct nve_inject_config config;
	uint64_t sample_ns;
} state;

static uint64_t cpu_ns(void)
{
	return nve_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t wall_ns(void)
{
	return nve_clock_ns(CLOCK_MONOTONIC);
}

static bool sleeps(uint64_t delay_ns)
{
	if (state.config.mode == NVE_INJECT_SLEEP)
		return delay_ns > 2 * SLEEP_MARGIN_NS;
	return state.config.mode == NVE_INJECT_AUTO && delay_ns > SLEEP_MIN_NS;
}

/* Returns for how long it slept, ns. */
static uint64_t sleep_for(uint64_t rest_ns)
{
	uint64_t start_cpu = cpu_ns(), start_wall = nve_clock_ns(CLOCK_MONOTONIC);
	struct timespec ts = {(time_t)(rest_ns / 1000000000), (long)(rest_ns % 1000000000)};

	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ts, NULL);
	return nve_clock_ns(CLOCK_MONOTONIC) - start_wall - (cpu_ns() - start_cpu);
}

uint64_t nve_inject_serve(uint64_t delay_ns, uint64_t *cpu_now_ns)
{
	uint64_t start_ns = *cpu_now_ns, slept_ns = 0;

	if (sleeps(delay_ns)) {
		slept_ns = sleep_for(delay_ns - SLEEP_MARGIN_NS);
		*cpu_now_ns = cpu_ns();
	}
	if (slept_ns < delay_ns)
		*cpu_now_ns = nve_spin_cpu(*cpu_now_ns, start_ns + delay_ns - slept_ns,
					   state.config.tsc_khz);
	return *cpu_now_ns - start_ns + slept_ns;
}

/* What was injected, and what the tool's own cost has delayed the thread. */
static uint64_t delayed_ns(const struct nve_thread *t)
{
	int64_t cost = (int64_t)t->cost_ns - (int64_t)t->saved_ns - t->aside_ns;

	return t->spun_ns + (uint64_t)NVE_MAX(cost, (int64_t)0);
}

int64_t nve_inject_due_ns(const struct nve_thread *t)
{
	return (int64_t)atomic_load(&t->owed_ns) - (int64_t)delayed_ns(t);
}

/* Of the epochs that the model has not judged yet, as the samples foresee it; or as their traffic
 * asks for, where that is more. */
static int64_t foreseen_ns(const struct nve_thread *t)
{
	double sum_ns = fmax(t->foreseen_ns, (double)t->bandwidth.delay_ns);

	for (uint32_t i = atomic_load(&t->tail); i != atomic_load(&t->head); i++)
		sum_ns += t->ring[i % NVE_THREAD_RING].foreseen_ns;
	return (int64_t)sum_ns;
}

static int64_t due_ns(const struct nve_thread *t)
{
	return nve_inject_due_ns(t) + foreseen_ns(t);
}

/* Served in the portions of a tick: whoever measures a stretch of the program finds in it what it
 * owes, not an epoch's more or less. device_ns: of that the device asks for. Returns what was
 * served, ns. */
static uint64_t serve(struct nve_thread *t, int64_t due, uint64_t device_ns)
{
	uint64_t served_ns, now_ns;

	nve_estimate_served(&t->estimate);
	if (due <= NVE_SPIN_SLACK_NS || state.config.mode == NVE_INJECT_OFF)
		return 0;
	now_ns = cpu_ns();
	if (device_ns && !sleeps((uint64_t)due))
		served_ns = nve_spin_device(&t->bandwidth.corewait, (uint64_t)due, device_ns,
					    state.config.tsc_khz);
	else
		served_ns = nve_inject_serve((uint64_t)due, &now_ns);
	t->spun_ns += served_ns;
	nve_regions_served(&t->regions, served_ns, 0);
	return served_ns;
}

/* What the region that runs is owed; a record's regions need not be the program's. */
static int64_t due_here_ns(const struct nve_thread *t)
{
	return state.config.replay ? due_ns(t) : nve_regions_due_ns(&t->regions);
}

static uint64_t serve_due(struct nve_thread *t, uint64_t device_ns)
{
	return serve(t, due_here_ns(t), device_ns);
}

/* Where the epoch that ends now goes; NULL: there is no room. */
static struct nve_thread_epoch *ring_head(struct nve_thread *t, bool last)
{
	uint32_t head = atomic_load(&t->head);
	/* A thread's last epoch must have room in any case. */
	uint32_t room = last ? NVE_THREAD_RING : NVE_THREAD_RING - 1;

	/* The monitor is behind (no core to run on): its work is done here, unless the epochs wait
	 * for counters that only it can read. */
	if (head - atomic_load(&t->tail) >= room)
		nve_monitor_settle(t);
	if (head - atomic_load(&t->tail) >= room)
		return NULL;
	return &t->ring[head % NVE_THREAD_RING];
}

static void send_epoch(struct nve_thread *t, struct nve_thread_epoch *ended)
{
	ended->ended_ns = nve_clock_ns(CLOCK_MONOTONIC);
	ended->served_ns = state.config.mode == NVE_INJECT_OFF ? 0 : delayed_ns(t);
	atomic_fetch_add(&t->head, 1);
}

static void settle(struct nve_thread *t)
{
	if (t->has_monitor) {
		nve_monitor_come_near(t);
		nve_monitor_wake(t);
	} else {
		nve_monitor_settle(t);
	}
}

static void end_epoch(struct nve_thread *t, uint64_t rest_ns)
{
	const struct nve_regions_sample rest = {.tsc = nve_tsc(), .ran_ns = rest_ns};
	struct nve_thread_epoch *ended = ring_head(t, rest_ns != 0);

	if (!ended)
		return; /* the epoch goes on and ends with the next sample */
	memset(&ended->epoch, 0, sizeof(ended->epoch));
	nve_ahead_epoch(t->ahead, rest_ns, &ended->epoch);
	if (state.config.tiers)
		nve_tiers_end_epoch(&t->tiers, state.config.tiers, state.config.usual,
				    &ended->epoch);
	nve_bandwidth_epoch(&t->bandwidth, &ended->epoch);
	if (rest_ns)
		nve_regions_sample(&t->regions, &rest);
	ended->parts = nve_regions_end_epoch(&t->regions, &ended->epoch, t->part[ended - t->ring],
					     &ended->lane);
	t->since_epoch_ns = 0;
	ended->foreseen_ns = fmax(t->foreseen_ns, (double)ended->epoch.bandwidth_ns);
	t->foreseen_ns = 0;
	ended->estimated_ns = nve_estimate_end_epoch(&t->estimate);
	send_epoch(t, ended);
	settle(t);
}

/* Where the thread stands in emulated time: what it owes, it would have waited for. */
static uint64_t emulated_ns(const struct nve_thread *t)
{
	return wall_ns() + (uint64_t)NVE_MAX(due_ns(t), (int64_t)0);
}

/* All epochs of the record whose time is over. What finds no room comes with the next tick. */
static void replay(struct nve_thread *t, uint64_t ran_ns)
{
	struct nve_thread_epoch *ended;
	bool sent = false;

	t->replay.ran_ns += ran_ns;
	while (nve_replay_due(&t->replay) && (ended = ring_head(t, true))) {
		nve_replay_take(&t->replay, &ended->epoch);
		ended->parts = 0;
		ended->lane = ended->epoch.region;
		if (nve_bandwidth_on() && nve_regions_emulates(&t->regions, ended->lane))
			ended->epoch.bandwidth_ns = nve_bandwidth_replayed(
				&t->bandwidth, t->number, &ended->epoch, emulated_ns(t));
		ended->estimated_ns = ended->foreseen_ns = 0;
		send_epoch(t, ended);
		sent = true;
	}
	if (sent)
		settle(t);
}

/* What a tick has met. */
struct tick {
	const ucontext_t *uc;
	uint64_t tsc, ran_ns; /* the program's CPU time since the last one */
	uint64_t emulated_ns; /* when it came, in emulated time */
	uint64_t waited_ns;   /* for a core, since the last tick or finer one */
	struct nve_ahead_tick ahead;
	bool running;
	uint64_t traffic_ns;    /* the delay that bandwidth adds */
	double delay_per_stall; /* in the region that the thread is in */
	double factor;          /* that over the thread's mean */
};

static void foresee(const struct nve_thread *t, struct tick *tick)
{
	uint32_t lane = t->regions.open.lane;
	double mean = nve_monitor_delay_per_stall(t);

	tick->factor = nve_regions_emulates(&t->regions, lane)
			       ? nve_regions_delay_factor(&t->regions, lane, mean)
			       : 0;
	tick->delay_per_stall = tick->factor * mean;
	if (state.config.mode != NVE_INJECT_OFF)
		tick->ahead.delay_per_stall = tick->delay_per_stall;
}

/* What look-ahead has said of the sample, as differences of its sums. Returns whether the epoch is
 * to end. */
static bool book_sample(struct nve_thread *t, const struct tick *tick,
			const struct nve_regions_sample *before)
{
	const struct nve_ahead_counts *c = nve_ahead_counts(t->ahead);
	const struct nve_regions_sample s = {
		.tsc = tick->tsc,
		.ran_ns = tick->ran_ns,
		.sampled = true,
		.answered_ns = (double)c->answered_ns - before->answered_ns,
		.stall_ns = c->label_ns - before->stall_ns,
		.dirty_weight = c->dirty_weight - before->dirty_weight,
		.dirty = c->dirty - before->dirty,
		.delay_per_stall = nve_monitor_delay_per_stall(t),
	};

	nve_handover_learn(t, tick->running, s.answered_ns, s.stall_ns, tick->factor);
	t->foreseen_ns += tick->delay_per_stall * s.stall_ns;
	t->since_epoch_ns += tick->ran_ns;
	return nve_regions_sample(&t->regions, &s) || t->since_epoch_ns >= state.config.epoch_ns;
}

/* Samples and looks ahead. Returns what that saved the program, ns. */
static uint64_t sample(struct nve_thread *t, struct tick *tick)
{
	struct nve_account traffic = {tick->uc,
				      {tick->emulated_ns, tick->ran_ns, tick->waited_ns},
				      tick->ahead.in_kernel};
	struct nve_regions_sample before = {0};
	const struct nve_ahead_counts *c;
	uint64_t saved_ns;

	if (state.config.replay) {
		replay(t, tick->ran_ns);
		return 0;
	}
	if (!t->ahead)
		t->ahead = nve_ahead_new();
	if (!t->ahead) {
		t->samples_lost++;
		return 0;
	}
	c = nve_ahead_counts(t->ahead);
	before.answered_ns = (double)c->answered_ns;
	before.stall_ns = c->label_ns;
	before.dirty_weight = c->dirty_weight;
	before.dirty = c->dirty;
	foresee(t, tick);
	saved_ns = nve_ahead_sample(t->ahead, tick->uc, tick->ran_ns, tick->ahead, nve_guard);
	nve_pmu_take_loads(&t->pmu, false);
	tick->traffic_ns = nve_account_tick(t, &traffic);
	if (book_sample(t, tick, &before))
		end_epoch(t, 0);
	return saved_ns;
}

static void read_times(struct nve_thread_times *times)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	times->user_us =
		(uint64_t)usage.ru_utime.tv_sec * 1000000 + (uint64_t)usage.ru_utime.tv_usec;
	times->system_us =
		(uint64_t)usage.ru_stime.tv_sec * 1000000 + (uint64_t)usage.ru_stime.tv_usec;
	times->faults = (uint64_t)usage.ru_minflt;
	times->preempted = (uint64_t)usage.ru_nivcsw;
	times->given_up = (uint64_t)usage.ru_nvcsw;
}

/* The kernel books the tick that interrupted us as its own time or the program's. A thread that
 * touches many new pages may have mapped them since the last snapshot of the mappings. */
static bool ran_in_kernel(const struct nve_thread_times *mark, const struct nve_thread_times *now)
{
	if (now->faults - mark->faults >= NEW_PAGES)
		nve_pages_want();
	return now->system_us - mark->system_us > now->user_us - mark->user_us;
}

/* Where there is no monitor to do it. */
static void look_around(const struct nve_thread *t)
{
	if (!t->has_monitor)
		nve_pages_refresh();
}

/* The tool's own cost; where nothing is emulated it pays for nothing. */
static void book_cost(struct nve_thread *t, uint64_t cost_ns, uint64_t saved_ns)
{
	t->cost_ns += cost_ns;
	t->saved_ns += saved_ns;
	nve_regions_cost(&t->regions, (int64_t)cost_ns - (int64_t)saved_ns);
	if (!nve_regions_emulates(&t->regions, t->regions.open.lane))
		t->aside_ns += (int64_t)cost_ns - (int64_t)saved_ns;
}

static void charge(struct nve_thread *t, uint64_t cost_ns, uint64_t saved_ns)
{
	book_cost(t, cost_ns, saved_ns);
	if (t->ahead)
		nve_ahead_charge(t->ahead, (int64_t)cost_ns - (int64_t)saved_ns);
}

/* A thread that may move more than the device does is looked at more often: its traffic is
 * accounted for while it still is in the same loop, and its delay comes in smaller portions. */
static void arm_fine(struct nve_thread *t, uint32_t waits)
{
	if (!state.config.replay && nve_account_wants_fine(t))
		nve_tick_arm_fine(t, nve_account_fine_ns(t, waits));
}

static void on_timer(struct nve_thread *t, ucontext_t *uc)
{
	struct tick tick = {
		.uc = uc, .tsc = nve_tsc(), .ahead = {.at_ns = nve_clock_ns(CLOCK_MONOTONIC)}};
	uint64_t enter_ns = cpu_ns(), saved_ns, served_ns;
	struct nve_thread_times now;

	tick.emulated_ns = emulated_ns(t);
	if (nve_handover_is_busy(t)) {
		/* Not the program's time. The next tick of the kernel brings the next signal. */
		read_times(&t->mark);
		nve_tick_arm(t, 1);
		return;
	}
	nve_regions_check(&t->regions, tick.tsc, enter_ns);
	/* Delivery and return of the signal stand between two marks, but are not the program's. */
	tick.ran_ns = enter_ns - t->mark_ns;
	tick.ran_ns -= NVE_MIN(tick.ran_ns, state.config.signal_ns);
	tick.running = nve_handover_enter_tick(t, enter_ns, &tick.ran_ns);
	read_times(&now);
	nve_restart_call(uc);
	if (!nve_pages_known())
		look_around(t);
	tick.ahead.in_kernel = ran_in_kernel(&t->mark, &now);
	tick.ahead.preempted = now.preempted != t->mark.preempted;
	tick.waited_ns =
		nve_corewait_take(&t->bandwidth.corewait, tick.ahead.at_ns, enter_ns, now.given_up);
	saved_ns = sample(t, &tick);
	if (nve_pages_wanted())
		look_around(t);
	served_ns = nve_handover_serves(t, enter_ns) && !tick.traffic_ns
			    ? 0
			    : serve_due(t, tick.traffic_ns);
	/* Ticks that fell into a long delay are not the program's; no other can have come. */
	if (served_ns)
		read_times(&now);
	t->mark = now;
	t->mark_ns = cpu_ns();
	charge(t,
	       t->mark_ns - enter_ns - NVE_MIN(served_ns, t->mark_ns - enter_ns) +
		       state.config.signal_ns,
	       saved_ns);
	nve_regions_go_on(&t->regions, nve_tsc(), t->mark_ns);
	nve_handover_leave_tick(t, tick.running, t->mark_ns);
	nve_tick_arm(t, state.sample_ns);
	arm_fine(t, 0);
}

/* When the next tick is to come, after the delay that is served now. */
static uint64_t tick_after_ns(const struct nve_thread *t)
{
	uint64_t ran_ns = NVE_MIN(t->bandwidth.accounted_ns, state.sample_ns - 1);

	return state.sample_ns - ran_ns + (uint64_t)NVE_MAX(due_here_ns(t), (int64_t)0);
}

/* Between two ticks: no sample, but what was moved meanwhile. All of its time is taken out of the
 * tick's. */
static void on_fine(struct nve_thread *t, ucontext_t *uc)
{
	uint64_t enter_ns = cpu_ns(), at_ns = wall_ns(), ran_ns = enter_ns - t->mark_ns;
	uint64_t served_ns = 0, delay_ns, spent_ns, hooks_ns, tsc = nve_tsc();
	struct nve_account traffic = {.uc = uc, .time.now_ns = emulated_ns(t)};
	struct nve_thread_times now;
	enum nve_restart blocked = nve_restart_kind(uc);
	bool running;

	if (nve_handover_is_busy(t)) {
		arm_fine(t, 0);
		return;
	}
	nve_regions_check(&t->regions, tsc, enter_ns);
	if (nve_account_lost_tick(t, ran_ns, state.sample_ns)) {
		on_timer(t, uc);
		return;
	}
	ran_ns -= NVE_MIN(ran_ns, state.config.signal_ns);
	hooks_ns = ran_ns;
	running = nve_handover_enter_tick(t, enter_ns, &ran_ns);
	hooks_ns -= ran_ns;
	nve_restart_call(uc);
	ran_ns -= NVE_MIN(ran_ns, t->bandwidth.accounted_ns);
	t->bandwidth.accounted_ns += ran_ns;
	read_times(&now);
	if (blocked)
		traffic.uc = NULL;
	traffic.time.ran_ns = ran_ns;
	traffic.time.waited_ns =
		nve_corewait_take(&t->bandwidth.corewait, at_ns, enter_ns, now.given_up);
	delay_ns = nve_account_moved(t, &traffic);
	if (delay_ns) {
		/* The tick's timer goes by all of the thread's CPU time. */
		nve_tick_arm(t, tick_after_ns(t));
		served_ns = serve_due(t, delay_ns);
	}
	if (served_ns)
		read_times(&t->mark);
	spent_ns = cpu_ns() - enter_ns;
	t->mark_ns += spent_ns + hooks_ns + state.config.signal_ns;
	book_cost(t, spent_ns - NVE_MIN(served_ns, spent_ns) + state.config.signal_ns, 0);
	nve_regions_served(&t->regions, 0, nve_tsc() - tsc);
	nve_region_watch_start(&t->regions.watch, nve_tsc(), enter_ns + spent_ns);
	nve_handover_leave_tick(t, running, enter_ns + spent_ns);
	/* Who waits is left alone more and more; and altogether where the call starts from its
	 * beginning. */
	t->bandwidth.waits = blocked ? t->bandwidth.waits + 1 : 0;
	if (blocked != NVE_RESTART_EINTR)
		arm_fine(t, t->bandwidth.waits);
}

/*
 * The program waits for this signal itself (sigwait, signalfd) and has it blocked: it goes back to
 * where the kernel would have put it, and this thread is emulated no more.
 */
static void step_aside(siginfo_t *info, ucontext_t *uc)
{
	int pid = getpid(), tid = (int)syscall(SYS_gettid);

	if (nve_thread_self)
		nve_tick_stop(nve_thread_self);
	sigaddset(&uc->uc_sigmask, SIGNAL);
	if (info->si_code == SI_TKILL)
		syscall(SYS_rt_tgsigqueueinfo, pid, tid, SIGNAL, info);
	else if (syscall(SYS_rt_sigqueueinfo, pid, SIGNAL, info))
		syscall(SYS_kill, pid, SIGNAL);
}

static void handler(int sig, siginfo_t *info, void *context)
{
	struct nve_thread *t = nve_thread_self;
	enum nve_tick kind = nve_tick_kind(info);
	int saved_errno = errno;

	if (kind == NVE_TICK_NONE && nve_action_blocked)
		step_aside(info, context);
	else if (kind == NVE_TICK_NONE)
		nve_action_pass_on(sig, info, context);
	else if (t && t->has_timer && kind == NVE_TICK_FINE)
		on_fine(t, context);
	else if (t && t->has_timer && kind == NVE_TICK_USUAL)
		on_timer(t, context);
	else
		nve_restart_call(context);
	errno = saved_errno;
}

int nve_inject_setup(const struct nve_inject_config *config)
{
	state.config = *config;
	state.sample_ns = NVE_MIN((uint64_t)SAMPLE_NS, config->epoch_ns);
	nve_guard_setup(config->sigaction);
	return nve_action_setup(SIGNAL, handler, config->sigaction);
}

void nve_inject_set_signal_cost(uint64_t signal_ns)
{
	state.config.signal_ns = signal_ns;
}

int nve_inject_start(struct nve_thread *t)
{
	int rc;

	read_times(&t->mark);
	t->mark_ns = cpu_ns();
	nve_regions_go_on(&t->regions, nve_tsc(), t->mark_ns);
	rc = nve_tick_start(t, state.sample_ns);
	if (!rc)
		arm_fine(t, 0);
	return rc;
}

void nve_inject_tick_swallowed(void)
{
	struct nve_thread *t = nve_thread_self;

	if (t && t->has_timer)
		nve_tick_arm(t, state.sample_ns);
}

void nve_inject_end_epoch(struct nve_thread *t)
{
	uint64_t now_ns = cpu_ns(), rest_ns = now_ns - t->mark_ns;
	struct nve_account traffic = {.time = {.now_ns = emulated_ns(t), .ran_ns = rest_ns}};

	t->mark_ns = now_ns;
	nve_regions_check(&t->regions, nve_tsc(), now_ns);
	if (state.config.replay) {
		replay(t, rest_ns);
		/* The monitor is at work: it makes room. */
		while (nve_replay_due(&t->replay)) {
			sched_yield();
			replay(t, 0);
		}
		return;
	}
	if (!t->ahead)
		t->ahead = nve_ahead_new();
	if (!t->ahead)
		return;
	nve_account_tick(t, &traffic);
	end_epoch(t, rest_ns);
}

void nve_inject_serve_rest(struct nve_thread *t)
{
	serve(t, due_ns(t), 0);
}
