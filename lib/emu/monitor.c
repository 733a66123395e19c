#include "emu/monitor.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/sigmask.h"
#include "count/ahead/pages.h"
#include "emu/tick.h"

enum {
	MONITOR_STACK_BYTES = 256 << 10,
	GONE_TRIES = 10000,
	HOLD_TRIES = 1000,
	RECENT_STALL_NS = 500000000,
	BEHIND = 4, /* epochs */
	NEAR_ANY = -1,
};

static struct nve_model_target target;
static nve_thread_create_fn *create_thread;
static _Atomic uint32_t last_delay_per_stall_milli; /* of any thread */

void nve_monitor_setup(const struct nve_model_target *t, nve_thread_create_fn *create)
{
	target = *t;
	create_thread = create;
}

static void note_ratio(struct nve_thread *t, uint64_t stall_ns, uint64_t delay_ns)
{
	uint32_t milli;

	if (t->recent_stall_ns > RECENT_STALL_NS) {
		t->recent_stall_ns /= 2;
		t->recent_delay_ns /= 2;
	}
	t->recent_stall_ns += (double)stall_ns;
	t->recent_delay_ns += (double)delay_ns;
	if (t->recent_stall_ns <= 0)
		return;
	milli = (uint32_t)NVE_MIN(1000 * t->recent_delay_ns / t->recent_stall_ns, 4e9);
	atomic_store(&t->delay_per_stall_milli, milli);
	atomic_store(&last_delay_per_stall_milli, milli);
}

/* Estimates miss what samples make of kernel time, for instance: what they come to on average. */
static void note_gain(struct nve_thread *t, double estimated_ns, uint64_t delay_ns)
{
	if (estimated_ns <= 0)
		return;
	if (t->handed_estimate_ns > RECENT_STALL_NS) {
		t->handed_ns /= 2;
		t->handed_estimate_ns /= 2;
	}
	t->handed_ns += (double)delay_ns;
	t->handed_estimate_ns += estimated_ns;
	atomic_store(&t->gain_milli,
		     (uint32_t)NVE_MIN(1000 * t->handed_ns / t->handed_estimate_ns, 4e9));
}

double nve_monitor_delay_per_stall(const struct nve_thread *t)
{
	uint32_t milli = atomic_load(&t->delay_per_stall_milli);

	return (milli ? milli : atomic_load(&last_delay_per_stall_milli)) / 1e3;
}

static void record_birth(struct nve_thread *t)
{
	struct nve_record record = {
		.type = NVE_RECORD_THREAD,
		.thread = {.thread = t->number,
			   .tid = (uint64_t)t->tid,
			   .when_ns = nve_recorder_when_ns(t->born_ns)},
	};

	t->record_begun = true;
	nve_recorder_add(&t->record, &record);
}

/* How regions are numbered in a record: as lanes. Returns whether it is known now. */
static bool record_lane(struct nve_thread *t, uint32_t lane)
{
	const struct nve_region_node *node = &t->regions.table->node[lane / 2];
	struct nve_record record = {
		.type = NVE_RECORD_REGION,
		.region = {.region = lane,
			   .parent = 2 * node->parent,
			   .owes = lane & 1                                  ? NVE_RECORD_PAUSED
				   : nve_regions_emulates(&t->regions, lane) ? NVE_RECORD_OWES
									     : NVE_RECORD_OUTSIDE},
	};

	memcpy(record.region.name, node->name, sizeof(node->name));
	return nve_recorder_add(&t->record, &record);
}

/* With the regions that it was begun in. */
static void record_region(struct nve_thread *t, uint32_t lane)
{
	while (!t->regions.model[lane].recorded) {
		t->regions.model[lane].recorded = record_lane(t, lane);
		if (lane <= 1 || !t->regions.model[lane].recorded)
			return;
		lane = 2 * t->regions.table->node[lane / 2].parent;
	}
}

static void record_epoch(struct nve_thread *t, const struct nve_thread_epoch *ended,
			 const struct nve_epoch *e, uint32_t lane)
{
	struct nve_record record = {
		.type = NVE_RECORD_EPOCH,
		.epoch = {.thread = t->number,
			  .when_ns = nve_recorder_when_ns(ended->ended_ns),
			  .region = lane,
			  .cpu_ns = e->cpu_ns,
			  .stall_ns = e->stall_ns,
			  .stall_wb_ns = e->stall_wb_ns,
			  .latency_ps = e->latency_ps,
			  .dram_lat_ps = e->dram_lat_ps,
			  .stall_se_ns = e->stall_se_ns,
			  .dirty_se_ppm = e->dirty_se_ppm,
			  .latency_se_ps = e->latency_se_ps,
			  .dram_ro_ppm = e->dram_ro_ppm,
			  .dram_wb_ppm = e->dram_wb_ppm,
			  .dram_ro_se_ppm = e->dram_ro_se_ppm,
			  .dram_wb_se_ppm = e->dram_wb_se_ppm,
			  .delay_owed_ns = t->model.delay_owed_ns,
			  .delay_paid_ns = NVE_MIN(ended->served_ns, t->model.delay_owed_ns),
			  .read_bytes = e->read_bytes,
			  .written_bytes = e->written_bytes,
			  .read_se_bytes = e->read_se_bytes,
			  .written_se_bytes = e->written_se_bytes,
			  .bandwidth_ns = e->bandwidth_ns},
	};

	if (!t->record_begun)
		record_birth(t);
	if (lane || !nve_regions_emulates(&t->regions, lane))
		record_region(t, lane);
	nve_recorder_add(&t->record, &record);
}

/* An epoch's amounts belong to the time since the one before. */
static void note_when(struct nve_thread *t, const struct nve_thread_epoch *ended,
		      const struct nve_model_delay *d)
{
	const struct nve_epoch *e = &ended->epoch;
	uint64_t paid_ns = NVE_MIN(ended->served_ns, t->model.delay_owed_ns);
	uint64_t before_ns = t->timeline.sum[NVE_TIMELINE_PAID_NS];
	const uint64_t amounts[NVE_TIMELINE_QUANTITIES] = {
		[NVE_TIMELINE_CPU_NS] = e->cpu_ns,
		[NVE_TIMELINE_STALL_NS] = e->stall_ns,
		[NVE_TIMELINE_STALL_WB_NS] = e->stall_wb_ns,
		[NVE_TIMELINE_MA_RO] = d->ma_ro,
		[NVE_TIMELINE_MA_WB] = d->ma_wb,
		[NVE_TIMELINE_OWED_NS] = d->larger_ns,
		[NVE_TIMELINE_PAID_NS] = paid_ns - NVE_MIN(paid_ns, before_ns),
	};

	nve_timeline_add(&t->timeline, nve_thread_settled_ns(t), ended->ended_ns - t->origin_ns,
			 amounts);
	t->settled_ns = ended->ended_ns;
}

/* An epoch, or the part of it that a lane has. Adds what it owes to *sum. */
static void settle_part(struct nve_thread *t, const struct nve_thread_epoch *ended,
			const struct nve_epoch *e, const struct nve_region_part *part,
			struct nve_model_delay *sum)
{
	static const struct nve_model_target none;
	uint32_t lane = part->lane;
	bool emulated = nve_regions_emulates(&t->regions, lane);
	struct nve_model_delay d = nve_model_delay(emulated ? &target : &none, e, &t->carry);
	struct nve_thread_model *m = &t->model;

	/* One part too many may have brought it time of a region that owes (emu/regions.h). */
	if (!emulated)
		d.larger_ns = 0;
	m->epochs++;
	m->cpu_ns += e->cpu_ns;
	m->stall_ns += e->stall_ns;
	m->stall_wb_ns += e->stall_wb_ns;
	m->ma_ro += d.ma_ro;
	m->ma_wb += d.ma_wb;
	m->nvm_ma_ro += d.nvm_ma_ro;
	m->nvm_ma_wb += d.nvm_ma_wb;
	m->clamps += d.clamps;
	m->delay_owed_ns += d.larger_ns;
	if (d.larger_ns > d.delay_ns)
		m->delay_bandwidth_ns += d.larger_ns;
	m->read_bytes += e->read_bytes;
	m->written_bytes += e->written_bytes;
	m->read_variance += (double)e->read_se_bytes * (double)e->read_se_bytes;
	m->written_variance += (double)e->written_se_bytes * (double)e->written_se_bytes;
	m->dram_lat_ps_by_stall += (double)e->dram_lat_ps * (double)e->stall_ns;
	nve_regions_settle(&t->regions, lane, e, &d, part->foreseen_ns);
	if (emulated)
		note_ratio(t, e->stall_ns, d.delay_ns);
	atomic_fetch_add(&t->owed_ns, d.larger_ns);
	if (nve_recorder_on())
		record_epoch(t, ended, e, lane);
	sum->ma_ro += d.ma_ro;
	sum->ma_wb += d.ma_wb;
	sum->delay_ns += d.delay_ns;
	sum->larger_ns += d.larger_ns;
}

static void settle_epoch(struct nve_thread *t, uint32_t at, const struct nve_thread_epoch *ended)
{
	struct nve_region_part *parts = t->part[at % NVE_THREAD_RING];
	const struct nve_region_part whole = {.lane = ended->lane};
	struct nve_model_delay sum = {0};
	struct nve_epoch part;

	if (ended->parts <= 1) {
		settle_part(t, ended, &ended->epoch, ended->parts ? parts : &whole, &sum);
	} else {
		nve_region_parts_fit(&ended->epoch, parts, ended->parts);
		t->model.clamps += ended->epoch.stall_wb_ns > ended->epoch.stall_ns;
		for (uint32_t i = 0; i < ended->parts; i++) {
			nve_region_parts_take(&ended->epoch, parts, ended->parts, i, &part);
			settle_part(t, ended, &part, &parts[i], &sum);
		}
	}
	note_when(t, ended, &sum);
	note_gain(t, ended->estimated_ns, sum.delay_ns);
}

static struct nve_pmu_pending pending_of(const struct nve_thread *t, uint32_t head)
{
	struct nve_pmu_pending pending = {0};

	for (uint32_t i = atomic_load(&t->tail); i != head; i++) {
		const struct nve_epoch *e = &t->ring[i % NVE_THREAD_RING].epoch;

		pending.cpu_ns += e->cpu_ns;
		pending.looked_ns += e->looked_ns;
	}
	return pending;
}

/* All epochs up to head; counted: by the hardware counters, which have been read for them. */
static void settle_up_to(struct nve_thread *t, uint32_t head, bool counted)
{
	struct nve_pmu_pending pending = pending_of(t, head);

	for (uint32_t i = atomic_load(&t->tail); i != head; i++) {
		struct nve_thread_epoch ended = t->ring[i % NVE_THREAD_RING];

		if (counted)
			nve_pmu_apply(&t->pmu, &pending, &ended.epoch);
		settle_epoch(t, i, &ended);
		atomic_store(&t->tail, i + 1);
	}
}

/* In the monitor, which alone can read the thread's hardware counters. last: it is about to end. */
static void settle_counted(struct nve_thread *t, bool last)
{
	uint32_t head = atomic_load(&t->head);
	int rc;

	/* The last time, what was counted in an epoch that goes on is kept for its end. */
	if (head == atomic_load(&t->tail) && !last)
		return;
	rc = nve_pmu_read(&t->pmu, pending_of(t, head), last);
	if (rc != -EAGAIN)
		settle_up_to(t, head, rc == 0);
}

/* Who settles: the thread's monitor, with the record's descriptor in its own file table or -1; or
 * somebody else. */
struct settler {
	bool monitor, last;
	int record;
};

static void settle(struct nve_thread *t, const struct settler *who)
{
	bool full;

	if (atomic_exchange_explicit(&t->settling, true, memory_order_acquire))
		return;
	if (!nve_pmu_is_open(&t->pmu))
		settle_up_to(t, atomic_load(&t->head), false);
	else if (who->monitor)
		settle_counted(t, who->last);
	/* What a handler has settled for a monitor that was late is the monitor's to write. */
	full = t->record.used > sizeof(t->record.bytes) / 2;
	if (who->record >= 0 || !t->has_monitor || full)
		nve_recorder_flush(&t->record, who->record, full && !t->has_monitor);
	atomic_store_explicit(&t->settling, false, memory_order_release);
}

bool nve_monitor_hold(struct nve_thread *t)
{
	for (int i = 0; i < HOLD_TRIES; i++) {
		if (!atomic_exchange_explicit(&t->settling, true, memory_order_acquire))
			return true;
		sched_yield();
	}
	return false;
}

void nve_monitor_release(struct nve_thread *t)
{
	atomic_store_explicit(&t->settling, false, memory_order_release);
}

void nve_monitor_settle(struct nve_thread *t)
{
	settle(t, &(struct settler){.record = -1});
}

/* To read the counters of a thread that runs on another core the kernel interrupts that core. A
 * monitor that runs in the thread's place reads what has been saved at the switch, at a twentieth
 * of the cost in a virtual machine. One that falls behind there (the thread is of real-time
 * priority, say) is left to the scheduler. */
void nve_monitor_come_near(struct nve_thread *t)
{
	bool behind = atomic_load(&t->head) - atomic_load(&t->tail) > BEHIND;
	int cpu = sched_getcpu(), tid = atomic_load(&t->monitor_tid);
	cpu_set_t cpus;

	if (!nve_pmu_is_open(&t->pmu) || t->near == NEAR_ANY || !tid || cpu < 0 ||
	    cpu >= CPU_SETSIZE || (t->near == cpu + 1 && !behind))
		return;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (behind && syscall(SYS_sched_getaffinity, 0, sizeof(cpus), &cpus) < 0)
		return;
	syscall(SYS_sched_setaffinity, tid, sizeof(cpus), &cpus);
	t->near = behind ? NEAR_ANY : cpu + 1;
}

void nve_monitor_wake(struct nve_thread *t)
{
	atomic_fetch_add(&t->wake, 1);
	syscall(SYS_futex, &t->wake, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* The monitor's files are its own: what it opens takes no descriptor number from the program, and
 * it keeps none of the program's open. *record: the descriptor of the record, or -1. False: where a
 * filter forbids that. */
static bool leave_file_table(int *record)
{
	*record = -1;
	if (syscall(SYS_unshare, CLONE_FILES))
		return false;
	*record = nve_recorder_descriptor();
	if (*record > 0)
		syscall(SYS_close_range, 0, *record - 1, 0);
	syscall(SYS_close_range, *record + 1, ~0u, 0);
	return true;
}

/* A program of real-time priority does not mean us. */
static void leave_real_time(void)
{
	struct sched_param param = {0};

	if (sched_getscheduler(0) != SCHED_OTHER)
		sched_setscheduler(0, SCHED_OTHER, &param);
}

static void *monitor(void *arg)
{
	struct nve_thread *t = arg;
	struct settler who = {.monitor = true, .record = -1};
	bool own_files;
	uint32_t seen = 0;

	atomic_store(&t->monitor_tid, (int)syscall(SYS_gettid));
	leave_real_time();
	own_files = leave_file_table(&who.record);
	nve_pmu_open(&t->pmu, t->tid, own_files);
	nve_tick_monitor(t, own_files);
	nve_pages_refresh();
	while (!atomic_load(&t->stop)) {
		syscall(SYS_futex, &t->wake, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		seen = atomic_load(&t->wake);
		nve_tick_monitor(t, own_files);
		settle(t, &who);
		if (nve_pages_wanted())
			nve_pages_refresh();
		t->monitor_ns = nve_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	}
	nve_tick_monitor_end(t);
	who.last = true;
	settle(t, &who);
	nve_pmu_close(&t->pmu);
	t->monitor_ns = nve_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

int nve_monitor_start(struct nve_thread *t)
{
	sigset_t all, old;
	pthread_attr_t attr;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr,
				  NVE_MAX((size_t)MONITOR_STACK_BYTES, (size_t)PTHREAD_STACK_MIN));
	sigfillset(&all);
	nve_sigmask(SIG_BLOCK, &all, &old);
	atomic_store(&t->stop, false);
	t->near = 0;
	atomic_store(&t->monitor_tid, 0);
	rc = create_thread(&t->monitor, &attr, monitor, t);
	nve_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	t->has_monitor = rc == 0;
	return -rc;
}

void nve_monitor_stop(struct nve_thread *t)
{
	if (t->has_monitor) {
		atomic_store(&t->stop, true);
		nve_monitor_wake(t);
		pthread_join(t->monitor, NULL);
		t->has_monitor = false;
	}
	nve_monitor_settle(t);
}

void nve_monitor_pause(struct nve_thread *t)
{
	if (!t->has_monitor)
		return;
	nve_monitor_stop(t);
	t->paused = true;
	/* A thread that has been joined is still one of the process for a moment. */
	for (int i = 0; i < GONE_TRIES && sched_getscheduler(t->monitor_tid) >= 0; i++)
		sched_yield();
}

void nve_monitor_go_on(struct nve_thread *t)
{
	if (!t->paused)
		return;
	t->paused = false;
	nve_monitor_start(t);
}
