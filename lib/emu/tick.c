#include "emu/tick.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "count/pmu/ticks.h"
#include "emu/monitor.h"
#include "emu/timer.h"

/* What stands in event. */
enum {
	EVENT_WANTED = -1,
	EVENT_NONE,
	EVENT, /* and its descriptor */
};

enum {
	PERIOD_NS = 4000000, /* of an event; what timers come to with the usual kernel's tick */
};

/* Their addresses are the timers' values. */
static const char usual, fine;
static _Atomic bool by_event;

static int make_timer(clockid_t clock, const char *value, int *id)
{
	return nve_timer_make(clock, NVE_TICK_SIGNAL, (void *)value, id);
}

static void say(struct nve_thread *t, int event)
{
	atomic_store(&t->event, event);
	syscall(SYS_futex, &t->event, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Asks the monitor for an event. Returns whether there is one. */
static bool has_event(struct nve_thread *t)
{
	const struct timespec limit = {1, 0};

	atomic_store(&t->event, EVENT_WANTED);
	nve_monitor_wake(t);
	/* Another thread may just have ended all monitors. */
	while (atomic_load(&t->event) == EVENT_WANTED &&
	       (!syscall(SYS_futex, &t->event, FUTEX_WAIT_PRIVATE, EVENT_WANTED, &limit, NULL, 0) ||
		errno != ETIMEDOUT))
		;
	return atomic_load(&t->event) >= EVENT;
}

void nve_tick_monitor(struct nve_thread *t, bool own_files)
{
	int fd;

	if (atomic_load(&t->event) != EVENT_WANTED)
		return;
	fd = own_files ? nve_pmu_ticks_open(t->tid, NVE_TICK_SIGNAL, PERIOD_NS) : -1;
	say(t, fd >= 0 ? EVENT + fd : EVENT_NONE);
}

/* A monitor that goes on after a pause opens it again. */
void nve_tick_monitor_end(struct nve_thread *t)
{
	int event = atomic_load(&t->event);

	if (event < EVENT)
		return;
	nve_pmu_ticks_close(event - EVENT);
	atomic_store(&t->event, EVENT_WANTED);
}

int nve_tick_start(struct nve_thread *t, uint64_t after_ns)
{
	int rc = make_timer(CLOCK_THREAD_CPUTIME_ID, &usual, &t->timer_id);

	t->has_event = rc && t->has_monitor && has_event(t);
	if (rc && !t->has_event)
		return rc;
	if (t->has_event)
		atomic_store(&by_event, true);
	t->has_timer = true;
	nve_tick_arm(t, after_ns);
	return 0;
}

void nve_tick_stop(struct nve_thread *t)
{
	if (!t->has_timer)
		return;
	t->has_timer = false;
	if (!t->has_event)
		nve_timer_delete(t->timer_id);
	if (atomic_exchange(&t->bandwidth.has_timer, false))
		nve_timer_delete(t->bandwidth.timer_id);
}

void nve_tick_arm(struct nve_thread *t, uint64_t after_ns)
{
	if (t->has_event)
		t->tick_at_ns = nve_clock_ns(CLOCK_THREAD_CPUTIME_ID) + after_ns;
	else
		nve_timer_arm(t->timer_id, after_ns);
}

void nve_tick_arm_fine(struct nve_thread *t, uint64_t after_ns)
{
	if (!t->bandwidth.has_timer && make_timer(CLOCK_MONOTONIC, &fine, &t->bandwidth.timer_id))
		return;
	t->bandwidth.has_timer = true;
	nve_timer_arm(t->bandwidth.timer_id, after_ns);
}

/* It knows no shots, and signals once more when a delay has been served meanwhile. */
static enum nve_tick event_kind(const siginfo_t *info)
{
	const struct nve_thread *t = nve_thread_self;

	if (!t || !t->has_event || !nve_pmu_ticks_sent(info, atomic_load(&t->event) - EVENT))
		return NVE_TICK_NONE;
	return nve_clock_ns(CLOCK_THREAD_CPUTIME_ID) < t->tick_at_ns ? NVE_TICK_EARLY
								     : NVE_TICK_USUAL;
}

enum nve_tick nve_tick_kind(const siginfo_t *info)
{
	const void *value = info->si_code == SI_TIMER ? info->si_value.sival_ptr : NULL;

	if (value == &usual)
		return NVE_TICK_USUAL;
	return value == &fine ? NVE_TICK_FINE : event_kind(info);
}

const char *nve_tick_source(void)
{
	return atomic_load(&by_event) ? "software event of the kernel (no CPU-time timer to be had)"
				      : "thread CPU-time timer";
}
