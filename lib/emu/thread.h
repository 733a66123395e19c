/*
 * The threads of the program that are emulated: their state, from birth to death.
 *
 * Who may touch what: fields under "handler" belong to the thread itself (its handler, and its
 * birth and death when its timer is off); fields under "settle" to whoever holds settling: the
 * thread's monitor, or the thread at its death. Atomics are shared as their comments say.
 */
#ifndef NVE_EMU_THREAD_H
#define NVE_EMU_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/timeline.h"
#include "count/ahead/ahead.h"
#include "count/pmu/pmu.h"
#include "count/replay.h"
#include "count/source.h"
#include "emu/bandwidth.h"
#include "emu/estimate.h"
#include "emu/model.h"
#include "emu/recorder.h"
#include "emu/regions.h"
#include "emu/thread_model.h"
#include "emu/tiers.h"

enum { NVE_THREAD_RING = 64 };

/* An epoch on its way from the handler to the monitor. */
struct nve_thread_epoch {
	struct nve_epoch epoch;
	uint64_t ended_ns;  /* CLOCK_MONOTONIC */
	uint64_t served_ns; /* delay of the thread until then, by injection or by the tool's cost */
	double estimated_ns; /* its delay, as at hand-overs; 0: there were none */
	double foreseen_ns;  /* its delay, as the ticks have served it */
	/* how many of the thread's; without any it belongs to the lane (regions.h) */
	uint32_t parts, lane;
};

/* The kernel's account of a thread. */
struct nve_thread_times {
	uint64_t user_us, system_us;
	uint64_t faults;    /* without input or output */
	uint64_t preempted; /* lost its core while it wanted to go on */
	uint64_t given_up;  /* has given it up, to wait for something */
};

struct nve_thread {
	struct nve_thread *next, *previous; /* registry; under its lock */
	int tid;
	uint64_t number;    /* in the order in which the process made its threads, from 0 */
	uint64_t born_ns;   /* CLOCK_MONOTONIC */
	uint64_t origin_ns; /* likewise: from where the timeline counts */
	char name[16];
	pthread_t monitor;
	_Atomic bool has_monitor;
	_Atomic int monitor_tid;
	bool paused; /* the monitor, for a call that wants a process of one thread */
	int near;    /* the core that the monitor is kept on, from 1; 0: none yet; -1: any */

	/* handler */
	int timer_id;
	_Atomic bool has_timer;  /* it has ticks (emu/tick.h) */
	bool has_event;          /* instead of a timer */
	_Atomic int event;       /* of the monitor's files, as tick.c counts them */
	uint64_t tick_at_ns;     /* then: not before its CPU clock shows this */
	struct nve_ahead *ahead; /* mapped at the first sample */
	struct nve_replay_cursor replay;
	struct nve_thread_times mark; /* when the program went on last */
	uint64_t mark_ns;             /* thread CPU clock when the program went on last */
	uint64_t since_epoch_ns;      /* program's CPU time since the last epoch ended */
	double foreseen_ns;           /* delay that its samples foresee */
	uint64_t spun_ns;             /* delay injected */
	uint64_t cost_ns;  /* handlers' CPU time without injection, savings not subtracted */
	uint64_t saved_ns; /* what look-ahead saved the program */
	int64_t aside_ns;  /* of these two, where nothing is emulated: that pays for nothing */
	struct nve_bandwidth bandwidth;
	uint64_t samples_lost;
	struct nve_tiers tiers; /* where there is a guidance file */
	void *heat;             /* the runtime's mapping for its misses (lib/heat.h), or NULL */
	size_t heat_bytes;
	bool ending; /* no more samples */
	/* at hooks: delay injected, part of spun_ns; how often; cost that is not in cost_ns yet */
	uint64_t handover_ns, handovers;
	double hook_ns;
	struct nve_estimate estimate;
	volatile bool busy; /* in a hook: the tick keeps out */
	volatile uint32_t busy_ticks;

	/* epochs on their way from the handler (head) to the monitor (tail) */
	struct nve_thread_epoch ring[NVE_THREAD_RING];
	_Atomic uint32_t head, tail;

	/* settle */
	_Atomic bool settling;
	struct nve_model_carry carry;
	struct nve_thread_model model;
	struct nve_timeline timeline;
	uint64_t settled_ns;                     /* when the last settled epoch ended */
	double recent_stall_ns, recent_delay_ns; /* fading sums */
	double handed_ns, handed_estimate_ns;    /* likewise, of epochs with an estimate */
	uint64_t monitor_ns;                     /* the monitor thread's own CPU time */
	struct nve_pmu pmu;                      /* hardware counters; the monitor's */
	struct nve_recorder_buffer record;
	bool record_begun;
	_Atomic bool record_ended;

	_Atomic uint64_t owed_ns;               /* written under settling, read by the handler */
	_Atomic uint32_t delay_per_stall_milli; /* likewise; 0: no epoch yet */
	_Atomic uint32_t gain_milli;            /* of estimates; likewise */
	_Atomic uint32_t wake;                  /* futex word: counts wake-ups of the monitor */
	_Atomic bool stop;                      /* the monitor shall end */

	struct nve_regions regions;
	struct nve_region_part part[NVE_THREAD_RING][NVE_REGION_PARTS]; /* of epochs in the ring */
};

/* The calling thread's state; NULL when it is not emulated. */
extern __thread struct nve_thread *nve_thread_self;

/* Makes and registers the state of the calling thread or of one to come. NULL: no memory. */
struct nve_thread *nve_thread_new(void);

/* Up to when the thread's timeline is filled, ns since its origin. */
static inline uint64_t nve_thread_settled_ns(const struct nve_thread *t)
{
	return (t->settled_ns ? t->settled_ns : t->born_ns) - t->origin_ns;
}

/* Takes it out of the registry; its totals go to the process's and to the list of ended threads. */
void nve_thread_delete(struct nve_thread *t);

/* The registry's lock, which is waited for at most a second: at the end of a process a thread may
 * have died with it. Returns 0 or -ETIMEDOUT. */
int nve_thread_lock(void);
void nve_thread_unlock(void);

/* Calls visit for each live thread. Under the lock. */
void nve_thread_each(void (*visit)(struct nve_thread *t, void *arg), void *arg);

/* Locks the registry over a fork, unlocks it; the child forgets all threads but the calling one. */
void nve_thread_before_fork(void);
void nve_thread_after_fork(bool child);

/* Called for each thread that ends, before its memory goes. Set once. */
extern void (*nve_thread_on_end)(const struct nve_thread *t);

#endif
