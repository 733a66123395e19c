/*
 * One plain copy of everything a report tells. The runtime fills it; the writers only read it.
 * Times are nanoseconds, latencies picoseconds, shares parts per million, unless a name says
 * otherwise.
 */
#ifndef NVE_REPORT_SNAPSHOT_H
#define NVE_REPORT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/options.h"
#include "base/timeline.h"
#include "count/ahead/interp.h"
#include "count/pmu/pmu.h"
#include "count/source.h"
#include "report/heat.h"
#include "report/placement.h"
#include "report/regions.h"
#include "report/traffic.h"

enum { NVE_SNAPSHOT_STOP_NAMES = 16, NVE_SNAPSHOT_TIMELINES = 16 };

/* Totals of a thread, or of a process (the sum of its threads). */
struct nve_totals {
	/* time of the program itself: without handlers, look-ahead and injected delay */
	uint64_t cpu_ns;
	/* the model (model.md, equations 3 to 9) */
	uint64_t stall_ns;     /* LLC_STALL */
	uint64_t stall_wb_ns;  /* the part of it on write-back misses, LLC_STALL_WB */
	uint64_t ma_ro, ma_wb; /* equation 6 */
	uint64_t clamps;       /* quantities that had to be clamped to a possible value */
	uint64_t epochs;
	uint32_t stall_share_ppm, stall_share_se_ppm;
	uint32_t dirty_ppm, dirty_se_ppm; /* dirty fraction, weighted by stall time */
	uint64_t latency_ps,
		latency_se_ps; /* of a miss as the program sees it, page walk included */
	uint64_t dram_lat_ps;  /* that equation 5 subtracts, mean over the run */
	/* delay; owed = paid + dropped + left at the end (0 at exit) */
	uint64_t delay_owed_ns, delay_paid_ns, delay_dropped_ns;
	struct nve_traffic_totals traffic;
	uint64_t delay_handover_ns, handovers; /* injected before hand-overs; how often */
	/* samples */
	uint64_t samples;           /* all that arrived */
	uint64_t samples_user;      /* in the program's own code */
	uint64_t samples_kernel;    /* met at a system call's return */
	uint64_t samples_own;       /* inside this library */
	uint64_t samples_no_answer; /* user samples for which no label could be given */
	uint64_t samples_by_kind;   /* answered by the kind of the instruction before, as no window
				       passed it */
	uint64_t samples_lost;      /* timer expirations that brought no sample */
	/* look-ahead windows */
	uint64_t windows, window_steps,
		window_limits; /* sums of interpreted and of allowed instructions */
	uint64_t window_call_steps, window_call_limits; /* of windows that ended at a system call */
	uint64_t window_stops[NVE_STOP_COUNT];
	uint64_t touches, misses, misses_written; /* timed first touches */
	uint64_t faults;                          /* reads that met a vanished mapping */
	/* the tool's own cost, CPU time in the program's threads */
	uint64_t handler_ns, lookahead_ns, saved_ns;
	/* in the monitor threads */
	uint64_t monitor_ns;
	struct nve_pmu_sums counters; /* hardware counters; zeros without */
	struct nve_placed_totals placed;
	/* of a replay: what no thread took, and CPU time after the last epoch that was taken */
	uint64_t replay_left_epochs, replay_left_ns, replay_beyond_ns;
};

struct nve_thread_snapshot {
	int tid;
	bool alive;
	char name[16];
	struct nve_totals totals;
	struct nve_region_rows regions;
};

struct nve_timeline_thread {
	int tid;
	char name[16];
	struct nve_timeline timeline;
};

/* Bucket 0 begins with the process. total is the sum of threads and rest; all are equally wide. */
struct nve_timeline_snapshot {
	const struct nve_timeline *total;          /* NULL: there is none */
	const struct nve_timeline_thread *threads; /* those that ran longest, the longest first */
	size_t thread_count;
	const struct nve_timeline *rest; /* all other threads */
	uint64_t rest_threads;
};

struct nve_machine_snapshot {
	char cpu[64];
	uint64_t tsc_khz;
	uint64_t dram_lat_ps, llc_lat_ps; /* in force: measured or given */
	bool dram_lat_given, llc_lat_given;
	uint32_t w_milli; /* W = DRAM_lat / LLC_lat, thousandths */
	uint32_t fence_cycles, threshold_cycles, run_ahead_instructions;
	struct nve_traffic_machine bandwidth;
	uint64_t llc_bytes;
	bool huge_pages;          /* the calibration's buffer was backed by huge pages */
	uint64_t calibrated_at_s; /* CLOCK_REALTIME, seconds; 0: never */
};

/* The record that is replayed. */
struct nve_replay_snapshot {
	const char *file; /* NULL: nothing is replayed */
	const char *program, *host;
	uint64_t started_at_s;
	bool complete;
	uint64_t threads, epochs, cpu_ns;
};

struct nve_snapshot {
	char program[64];
	int pid, ppid;
	char host[64];
	uint64_t started_at_s, wall_ns;
	const char *ended_by;     /* "exit", "exec", ... */
	uint64_t foreign_threads; /* alive at the end, and not emulated: not made by pthread_create
				   */
	bool emulated;
	char why_not[400]; /* when not emulated: the missing piece */
	struct nve_sources sources;
	const char *timer_source;   /* nve_tick_source(), "none" */
	const char *counter_events; /* whose, where hardware counters count; or empty */
	/* socket-wide counters: reads, fractions above one, reads that failed */
	uint64_t uncore_reads, uncore_clamps, uncore_failures;
	struct nve_machine_snapshot machine;
	struct nve_options options;
	struct nve_replay_snapshot replay;
	struct nve_regions_snapshot regions;
	struct nve_placement_snapshot placement;
	struct nve_totals totals;
	struct nve_timeline_snapshot timeline;
	struct nve_heat_snapshot heat;
	/* instructions that ended windows early, most frequent first; unused names are empty */
	struct {
		char name[24];
		uint64_t count;
	} stop_names[NVE_SNAPSHOT_STOP_NAMES];
	uint64_t threads_total,
		threads_not_listed; /* listed are at most the capacity given by the caller */
	size_t thread_count;
	const struct nve_thread_snapshot *threads;
};

#endif
