#include "life.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sigmask.h"
#include "count/pmu/pmu.h"
#include "emu/bandwidth.h"
#include "emu/handover.h"
#include "emu/inject.h"
#include "emu/monitor.h"
#include "emu/recorder.h"
#include "markers.h"
#include "recording.h"
#include "timelines.h"

static _Atomic bool threaded; /* the program has made threads */

static void start_monitor(struct nve_thread *t)
{
	int rc = nve_monitor_start(t);

	if (rc)
		nve_log(NVE_LOG_INFO, "no monitor thread (%s): the handler does its work",
			strerror(-rc));
}

/* Where there is no timer, the monitor does its work. */
static int start_ticks(struct nve_thread *t)
{
	int rc = nve_inject_start(t);

	if (!rc || t->has_monitor)
		return rc;
	start_monitor(t);
	return nve_inject_start(t);
}

int nve_life_begin(uint64_t number, struct nve_replay *replay)
{
	struct nve_thread *t = nve_thread_new();
	int rc;

	if (!t)
		return -ENOMEM;
	t->tid = (int)syscall(SYS_gettid);
	t->number = number;
	t->born_ns = nve_clock_ns(CLOCK_MONOTONIC);
	t->origin_ns = nve_timelines_origin_ns();
	if (replay)
		t->replay = nve_replay_begin(replay, number);
	nve_markers_thread(t);
	nve_thread_self = t;
	nve_handover_begin(t);
	if (atomic_load(&threaded) || nve_pmu_is_on() || nve_recorder_on())
		start_monitor(t);
	rc = start_ticks(t);
	if (!rc)
		return 0;
	nve_thread_self = NULL;
	nve_monitor_stop(t);
	nve_thread_delete(t);
	return rc;
}

void nve_life_before_thread(void)
{
	struct nve_thread *t = nve_thread_self;

	nve_handover_company();
	if (!atomic_exchange(&threaded, true) && t && !t->has_monitor)
		start_monitor(t);
}

void nve_life_after_fork(void)
{
	nve_bandwidth_after_fork();
	atomic_store(&threaded, false);
}

void nve_life_close(struct nve_thread *t)
{
	bool locked;

	nve_tick_stop(t);
	nve_handover_end();
	syscall(SYS_prctl, PR_GET_NAME, t->name);
	nve_inject_end_epoch(t);
	/* Another thread may pause the monitors. */
	locked = nve_thread_lock() == 0;
	nve_monitor_stop(t);
	nve_pmu_take_loads(&t->pmu, true);
	t->paused = false;
	if (locked)
		nve_thread_unlock();
	nve_inject_serve_rest(t);
}

void nve_life_end(struct nve_thread *t)
{
	nve_life_close(t);
	nve_recording_thread_end(t);
	nve_thread_self = NULL;
	nve_thread_delete(t);
}

void nve_life_settle(struct nve_thread *t)
{
	sigset_t all, mask;

	nve_sigmask_fill(&all);
	nve_sigmask(SIG_BLOCK, &all, &mask);
	nve_inject_end_epoch(t);
	if (!nve_thread_lock()) {
		nve_monitor_pause(t);
		nve_thread_unlock();
	}
	nve_monitor_settle(t);
	nve_pmu_take_loads(&t->pmu, true);
	nve_inject_serve_rest(t);
	nve_sigmask(SIG_SETMASK, &mask, NULL);
}

void nve_life_go_on(struct nve_thread *t)
{
	if (nve_thread_lock())
		return;
	nve_monitor_go_on(t);
	nve_thread_unlock();
}

static void pause_monitor(struct nve_thread *t, void *unused)
{
	(void)unused;
	nve_monitor_pause(t);
}

static void go_on(struct nve_thread *t, void *unused)
{
	(void)unused;
	nve_monitor_go_on(t);
}

void nve_life_alone(bool enter)
{
	if (nve_thread_lock())
		return;
	nve_thread_each(enter ? pause_monitor : go_on, NULL);
	nve_thread_unlock();
}

static void silence(struct nve_thread *t, void *unused)
{
	(void)unused;
	nve_tick_stop(t);
	nve_monitor_pause(t);
}

void nve_life_silence(void)
{
	if (nve_thread_lock())
		return;
	nve_thread_each(silence, NULL);
	nve_thread_unlock();
}
