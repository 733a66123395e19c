/*
 * The look-ahead provider: stall time, dirty fraction and miss latency of a thread from time
 * samples and look-ahead windows, with nothing but a CPU-time timer. How and why: DESIGN.md.
 *
 * nve_ahead_sample() is called in the handler that interrupts the thread, everything else outside
 * of handlers unless it says otherwise.
 */
#ifndef NVE_AHEAD_AHEAD_H
#define NVE_AHEAD_AHEAD_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "count/ahead/interp.h"
#include "count/ahead/stream.h"
#include "count/calibration.h"
#include "count/miss.h"
#include "count/source.h"
#include "count/waits.h"

/* What is counted over the life of a thread; sums of threads make a process. */
struct nve_ahead_counts {
	uint64_t samples, samples_user, samples_kernel, samples_own, samples_no_answer;
	uint64_t windows, window_steps, window_limits;
	uint64_t window_call_steps, window_call_limits; /* of those that ended at a system call */
	uint64_t window_stops[NVE_STOP_COUNT];
	uint64_t touches, misses, misses_written, faults;
	uint64_t miss_ticks, miss_timed;   /* latencies, TSC ticks */
	double miss_ticks_squared;         /* their squares, for the standard error */
	uint64_t lookahead_ns;             /* time in windows */
	uint64_t saved_ns;                 /* time that touches saved the program */
	uint64_t answered_ns;              /* CPU time of samples with an answer */
	double label_ns, label_squared_ns; /* sums over them of label * time, label^2 * time */
	double label_dirty_ns;             /* of label * dirty fraction * time */
	/* windows at instructions that were known: how many, and the squares of the differences
	 * between what was believed of the instruction and what the window says */
	uint64_t compared;
	double differed_squared;
	double dirty_weight, dirty; /* sums over windows: weight, weight * dirty fraction */
	uint64_t answered;          /* samples with an answer */
	uint64_t answered_by_kind;  /* of them those known by kind of instruction only */
};

/* Most frequent instructions that end windows early, process-wide. */
enum { NVE_AHEAD_STOP_NAMES = 64, NVE_AHEAD_STOP_NAME_BYTES = 24 };
struct nve_ahead_stop_name {
	char name[NVE_AHEAD_STOP_NAME_BYTES];
	uint64_t count;
};

/* Why this processor allows no look-ahead, for people; NULL: it does. */
const char *nve_ahead_why_not(void);

/*
 * Once per process. given_dram_lat_ps: stands in for the measured DRAM latency, 0 for none; both
 * latencies are scaled alike. library_start, library_end: our own code, whose samples are not the
 * program's. 0 or -errno.
 */
int nve_ahead_setup(const struct nve_calibration *calibration, uint64_t given_dram_lat_ps,
		    uint64_t budget_ppm, uint64_t library_start, uint64_t library_end);

/* Who wants the stream of misses; NULL: nobody. Before the first thread. */
void nve_ahead_set_sink(const struct nve_miss_sink *sink);

/* Who wants to know what windows have waited for; NULL: nobody. Before the first thread. */
void nve_ahead_set_waits_sink(const struct nve_waits_sink *sink);

/* Replaces the budget's clock and lets a forked child start afresh. */
void nve_ahead_after_fork(void);

struct nve_ahead; /* of one thread */

/* Maps a thread's state; signal-safe. NULL when there is no memory. */
struct nve_ahead *nve_ahead_new(void);
void nve_ahead_delete(struct nve_ahead *a);

/* What the kernel did when a sample was taken. */
struct nve_ahead_tick {
	bool in_kernel; /* the tick fell into the kernel (a page fault, say), at whose return the
			 * thread stands now */
	bool preempted; /* the thread has lost its core since the last sample */
	uint64_t at_ns; /* CLOCK_MONOTONIC when the handler began */
	double delay_per_stall; /* what the thread is delayed by for its stall time, over that */
};

/*
 * One time sample, in the handler: cpu_ns of the program's own CPU time have passed since the last
 * one. Takes a window when the budget allows it. guard(true) is called before
 * memory of the program is read, guard(false) after. Returns what the window saved the program, ns.
 */
uint64_t nve_ahead_sample(struct nve_ahead *a, const ucontext_t *uc, uint64_t cpu_ns,
			  struct nve_ahead_tick tick, void (*guard)(bool enter));

/* Tells the budget what the sample cost in all, savings subtracted. In the handler. */
void nve_ahead_charge(struct nve_ahead *a, int64_t cost_ns);

/* Once, after setup: windows also count what loops move between memory and the caches. bytes_per_s:
 * the most that one thread can move on this machine; 0: not known. */
void nve_ahead_count_traffic(uint64_t bytes_per_s);

/* Before the first thread, inside the fault guard then: of which memory lines count (no lock, and
 * signal-safe). NULL, as at first: of all. */
void nve_ahead_count_traffic_of(bool (*counts)(uint64_t addr));

/* What the thread has moved in the last cpu_ns, which end in uc (NULL: it does not run any more),
 * or somewhere in the kernel. guard: as above. In the handler, after nve_ahead_sample() if that is
 * called at all. */
struct nve_stream_bytes nve_ahead_traffic(struct nve_ahead *a, const ucontext_t *uc,
					  uint64_t cpu_ns, bool in_kernel,
					  void (*guard)(bool enter));

/* What it moves in a ns, and whether that is measured. */
struct nve_stream_bytes nve_ahead_traffic_rate(struct nve_ahead *a, bool *known);

/* How that is known; NULL: it is not counted. */
struct nve_stream *nve_ahead_stream(struct nve_ahead *a);

/* Ends the epoch: what was learned since the last call. rest_ns: CPU time since the last sample,
 * for which the running share stands. In the handler, or when the thread's handlers are off. */
void nve_ahead_epoch(struct nve_ahead *a, uint64_t rest_ns, struct nve_epoch *epoch);

const struct nve_ahead_counts *nve_ahead_counts(const struct nve_ahead *a);

/* Standard error of the dirty fraction, ppm: a million while nothing is known of it. */
uint32_t nve_ahead_dirty_se_ppm(const struct nve_ahead *a);

/* TSC ticks of a timed miss into picoseconds of the latency that the program sees. */
uint64_t nve_ahead_latency_ps(uint64_t ticks_sum, uint64_t count);

/* Copies the table of stop names, sorted by count. Returns how many there are. */
int nve_ahead_stop_names(struct nve_ahead_stop_name *names, int capacity);

#endif
