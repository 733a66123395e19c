#include "emu/handover.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "emu/inject.h"
#include "emu/monitor.h"

enum {
	PAY_MIN_NS = 4000, /* a payment reads the CPU clock twice */
	/* A signal handler of the program's may have jumped out of a hook and left it busy. */
	BUSY_TICKS_MAX = 32,
	PAY_MAX_NS = 20000000, /* at a time: well below so many ticks */
	MEASURE_ROUNDS = 16,
	MEASURE_PASSES = 32,
};

__thread uint32_t nve_handover_armed;

static struct {
	uint32_t kinds;
	uint64_t tsc_khz;
	double pass_ns, clock_ns; /* cost of a hook without payment, and of reading the CPU clock */
	_Atomic uint32_t marker_ps; /* of a pair of markers */
	_Atomic bool off, company;
} state;

/* Nobody waits at the locks of a process that has always been one thread without children. */
static uint32_t kinds_to_arm(const struct nve_thread *t)
{
	uint32_t kinds = state.kinds;

	if (!atomic_load(&state.company))
		kinds &= ~(uint32_t)NVE_HANDOVER_SYNC;
	if (!t->regions.begins && !t->regions.pauses)
		kinds &= ~(uint32_t)NVE_HANDOVER_REGION;
	return kinds;
}

/* For this thread and its own handler. */
static void set_busy(struct nve_thread *t, bool busy)
{
	atomic_signal_fence(memory_order_seq_cst);
	t->busy_ticks = 0;
	t->busy = busy;
	atomic_signal_fence(memory_order_seq_cst);
}

/* The calling thread, unless it has nothing to do here, as where nothing is emulated. A vfork child
 * has its parent's state, and its parent waits: it may account, but not pay. */
static struct nve_thread *enter(void)
{
	struct nve_thread *t = nve_thread_self;

	if (!t || t->busy || atomic_load_explicit(&state.off, memory_order_relaxed) ||
	    !nve_regions_emulates(&t->regions, t->regions.open.lane))
		return NULL;
	set_busy(t, true);
	t->hook_ns += state.pass_ns;
	return t;
}

static uint64_t serve(struct nve_thread *t, uint64_t delay_ns, uint64_t now_ns)
{
	uint64_t start_ns = now_ns, start_tsc = nve_tsc(), part_ns, served_ns = 0;

	while (served_ns < delay_ns) {
		part_ns = NVE_MIN(delay_ns - served_ns, (uint64_t)PAY_MAX_NS);
		served_ns += nve_inject_serve(part_ns, &now_ns);
		set_busy(t, true);
		if (delay_ns - served_ns < PAY_MIN_NS)
			break;
	}
	t->mark_ns += now_ns - start_ns;
	nve_regions_served(&t->regions, served_ns, nve_tsc() - start_tsc);
	nve_region_watch_start(&t->regions.watch, nve_tsc(), now_ns);
	nve_estimate_paid(&t->estimate, now_ns);
	return served_ns;
}

/* Epochs that have ended, but wait for counters that only the monitor can read. */
static double pending_ns(const struct nve_thread *t)
{
	double sum_ns = 0;

	for (uint32_t i = atomic_load(&t->tail); i != atomic_load(&t->head); i++)
		sum_ns += t->ring[i % NVE_THREAD_RING].estimated_ns;
	return sum_ns * t->estimate.gain;
}

/* Of a thread that has been in regions: what the one that runs is owed. */
static double due_in_region(struct nve_thread *t)
{
	double delay_per_stall = nve_monitor_delay_per_stall(t);
	double rest_ns = (double)nve_regions_due_ns(&t->regions) +
			 nve_regions_expected_ns(&t->regions, nve_tsc(), delay_per_stall) -
			 nve_estimate_fresh_ns(&t->estimate);

	return nve_estimate_due_in_region(&t->estimate, rest_ns,
					  nve_regions_rate(&t->regions, delay_per_stall));
}

static void pay(struct nve_thread *t)
{
	uint64_t now_ns = nve_clock_ns(CLOCK_THREAD_CPUTIME_ID), served_ns;
	double due_ns;

	t->hook_ns += state.clock_ns;
	nve_regions_check(&t->regions, nve_tsc(), now_ns);
	nve_estimate_check(&t->estimate, now_ns);
	if (atomic_load(&t->tail) != atomic_load(&t->head))
		nve_monitor_settle(t);
	if (t->regions.begins || t->regions.pauses)
		due_ns = due_in_region(t);
	else
		due_ns = nve_estimate_due(&t->estimate,
					  (double)nve_inject_due_ns(t) + pending_ns(t));
	if (due_ns < PAY_MIN_NS || (int)syscall(SYS_gettid) != t->tid)
		return;
	served_ns = serve(t, (uint64_t)due_ns, now_ns);
	t->spun_ns += served_ns;
	t->handover_ns += served_ns;
	t->handovers++;
}

/* Returns whether that took time. */
static bool end_stretch(struct nve_thread *t, uint64_t tsc)
{
	int saved_errno = errno;

	if (nve_estimate_end(&t->estimate, tsc) < PAY_MIN_NS)
		return false;
	pay(t);
	errno = saved_errno;
	return true;
}

void nve_handover_pass(uint64_t address)
{
	struct nve_thread *t = enter();
	uint64_t tsc = nve_tsc();

	if (!t)
		return;
	if (end_stretch(t, tsc))
		tsc = nve_tsc();
	nve_estimate_begin(&t->estimate, address, tsc);
	set_busy(t, false);
}

void nve_handover_before_wait(void)
{
	struct nve_thread *t = enter();

	if (!t)
		return;
	end_stretch(t, nve_tsc());
	set_busy(t, false);
}

void nve_handover_after_wait(uint64_t address)
{
	struct nve_thread *t = enter();

	if (!t)
		return;
	nve_estimate_begin(&t->estimate, address, nve_tsc());
	set_busy(t, false);
}

static uint32_t kinds(const struct nve_options *options)
{
	if (options->inject == NVE_INJECT_OFF || !nve_options_emulate(options))
		return 0;
	switch (options->handover) {
	case NVE_HANDOVER_AT_SYNC: return NVE_HANDOVER_SYNC | NVE_HANDOVER_REGION;
	case NVE_HANDOVER_AT_IO: return NVE_HANDOVER_SYNC | NVE_HANDOVER_IO | NVE_HANDOVER_REGION;
	default: return 0;
	}
}

void nve_handover_setup(const struct nve_options *options, uint64_t tsc_khz)
{
	state.kinds = kinds(options);
	state.tsc_khz = tsc_khz;
}

static void measure(void)
{
	uint64_t pass_ticks = UINT64_MAX, clock_ticks = UINT64_MAX, start, middle;

	for (int i = 0; i < MEASURE_ROUNDS; i++) {
		start = nve_tsc();
		for (int k = 0; k < MEASURE_PASSES; k++)
			nve_handover_pass((uint64_t)k);
		middle = nve_tsc();
		nve_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		clock_ticks = NVE_MIN(clock_ticks, nve_tsc() - middle);
		pass_ticks = NVE_MIN(pass_ticks, middle - start);
	}
	state.pass_ns = (double)pass_ticks * 1e6 / (double)state.tsc_khz / MEASURE_PASSES;
	state.clock_ns = (double)clock_ticks * 1e6 / (double)state.tsc_khz;
}

static void clear(struct nve_thread *t)
{
	t->hook_ns = 0;
	nve_estimate_clear(&t->estimate, state.tsc_khz, nve_clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

void nve_handover_begin(struct nve_thread *t)
{
	nve_handover_armed = 0;
	clear(t);
	if (state.pass_ns > 0)
		return;
	measure();
	clear(t);
}

/* Returns what hooks and markers have cost since the last call, ns. */
static uint64_t take_cost(struct nve_thread *t)
{
	uint64_t cost_ns;

	t->hook_ns += (double)nve_regions_take_markers(&t->regions) *
		      atomic_load_explicit(&state.marker_ps, memory_order_relaxed) / 1e3;
	t->hook_ns += (double)t->regions.watch.reads * state.clock_ns;
	t->regions.watch.reads = 0;
	cost_ns = (uint64_t)t->hook_ns;
	t->hook_ns -= (double)cost_ns;
	t->cost_ns += cost_ns;
	nve_regions_cost(&t->regions, (int64_t)cost_ns);
	return cost_ns;
}

void nve_handover_end(void)
{
	nve_handover_armed = 0;
	if (nve_thread_self)
		nve_thread_self->mark_ns += take_cost(nve_thread_self);
}

void nve_handover_set_marker_cost(double marker_ns)
{
	atomic_store(&state.marker_ps, (uint32_t)(marker_ns * 1e3));
}

void nve_handover_off(void)
{
	atomic_store(&state.off, true);
}

void nve_handover_company(void)
{
	atomic_store(&state.company, true);
}

bool nve_handover_is_busy(struct nve_thread *t)
{
	if (t->busy && ++t->busy_ticks > BUSY_TICKS_MAX)
		t->busy = false;
	return t->busy;
}

bool nve_handover_enter_tick(struct nve_thread *t, uint64_t cpu_ns, uint64_t *ran_ns)
{
	bool running = t->estimate.running;

	*ran_ns -= NVE_MIN(*ran_ns, take_cost(t));
	if (!nve_handover_armed)
		return false;
	nve_estimate_end(&t->estimate, nve_tsc());
	nve_estimate_check(&t->estimate, cpu_ns);
	return running;
}

void nve_handover_learn(struct nve_thread *t, bool running, double time_ns, double stall_ns,
			double factor)
{
	bool owes = nve_estimate_learn(&t->estimate, running, time_ns, stall_ns,
				       nve_monitor_delay_per_stall(t), factor);
	uint32_t armed = owes ? kinds_to_arm(t) : 0, gain_milli = atomic_load(&t->gain_milli);

	if (gain_milli)
		nve_estimate_set_gain(&t->estimate, gain_milli / 1e3);

	if (armed != nve_handover_armed)
		nve_estimate_clear(&t->estimate, state.tsc_khz, t->estimate.checked_cpu_ns);
	nve_handover_armed = armed;
}

bool nve_handover_serves(const struct nve_thread *t, uint64_t cpu_ns)
{
	return nve_handover_armed && nve_estimate_is_active(&t->estimate, cpu_ns);
}

void nve_handover_leave_tick(struct nve_thread *t, bool running, uint64_t cpu_ns)
{
	if (!nve_handover_armed)
		return;
	t->estimate.checked_cpu_ns = cpu_ns;
	t->estimate.since_tsc = nve_tsc();
	t->estimate.running = running;
}
