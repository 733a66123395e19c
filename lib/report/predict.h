/*
 * Prediction: the run time at other latencies, from one run that was recorded (predict_load.h) or
 * reported. Equation 5 is linear in both latencies, and what it needs besides them (how many
 * accesses of either kind stalled the program, DRAM's latency then) does not depend on them.
 *
 * What is predicted. For a thread: its CPU time and delay. For the process: the sum of both over
 * its threads, which is sure as far as the model is; and the wall time, which is not, since nothing
 * tells which thread waited for which. For that there is an estimate, and bounds. Time is cut into
 * intervals; in each, the delay of threads that take turns adds up, that of threads which run at
 * the same time overlaps (divided by how many run; but no less than the longest). The bounds: where
 * one thread alone runs, its delay lengthens the run by itself; where several do, the delays
 * lengthen it by nothing at least, and by their sum at most.
 *
 * Bandwidth limits are not predicted.
 *
 * Pure: no clock, no file, no state; not for signal handlers.
 */
#ifndef NVE_REPORT_PREDICT_H
#define NVE_REPORT_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NVE_PREDICT_NAME_BYTES = 64 };

/*
 * The part of an emulated stall time by which it may be wrong for reasons that no spread of samples
 * shows: the largest error of `bench/run validate` on the machine of the README.
 */
#define NVE_PREDICT_SYSTEMATIC 0.03

/* What a thread did over a while, mostly an epoch. */
struct nve_predict_epoch {
	double from_ns, until_ns; /* wall time since the start of the run */
	double cpu_ns;            /* the program's own */
	double extra_ns;          /* delay paid, or what the emulator cost beyond it */
	double ro, wb;            /* accesses, equation 6 */
	double latency_ns, dram_lat_ns;
	double stall_se_ns; /* standard error of the stall time; 0: not known */
	uint64_t region;    /* 0: none */
};

/* A thread, or a region. */
struct nve_predict_part {
	uint64_t number; /* of the thread in the order of birth; of the region */
	uint64_t tid;    /* 0 for a region */
	char name[NVE_PREDICT_NAME_BYTES];
	double cpu_ns, extra_ns, stall_ns; /* sums of its epochs */
	/* standard errors, those of the dirty fraction and of the latency common to all epochs */
	double stall_se_ns, dirty_se, latency_se; /* latency_se: over the latency */
	bool se_known;
	bool by_region; /* only epochs of region `number` are its */
	const struct nve_predict_epoch *epochs;
	size_t epoch_count;
};

/* A run. Made by predict_load.h, freed by nve_predict_free(). */
struct nve_predict {
	char program[NVE_PREDICT_NAME_BYTES], host[NVE_PREDICT_NAME_BYTES];
	uint64_t pid;
	double rlat_ns, wlat_ns; /* of the run; 0: DRAM's own */
	bool symmetric, injected;
	bool complete;           /* with its end */
	bool bandwidth;          /* it had a limit of bandwidth */
	double dram_lat_ns;      /* in force: no prediction below it */
	double wall_ns, owed_ns; /* of the run */
	struct nve_predict_part *threads, *regions;
	size_t thread_count, region_count;
	struct nve_predict_epoch *epochs; /* by thread, in order */
	size_t epoch_count;
};

void nve_predict_free(struct nve_predict *p);

/* 0, and what DRAM had in force: DRAM's own. One below DRAM's of the moment adds nothing. */
struct nve_predict_point {
	double rlat_ns, wlat_ns;
};

struct nve_predict_time {
	double time_ns, delay_ns; /* CPU time and delay together; of that, delay */
	double se_ns;             /* its standard error; NaN: not known */
	double systematic_ns;     /* NVE_PREDICT_SYSTEMATIC of the emulated stall time */
};

/* Half of a 95 % interval: both errors in quadrature; the systematic one alone where the other is
 * not known. */
double nve_predict_half_width_ns(const struct nve_predict_time *t);

struct nve_predict_time nve_predict_part(const struct nve_predict *p,
					 const struct nve_predict_part *part,
					 struct nve_predict_point point);

/* The sum over the threads. */
struct nve_predict_time nve_predict_cpu(const struct nve_predict *p,
					struct nve_predict_point point);

struct nve_predict_result {
	struct nve_predict_time cpu; /* as nve_predict_cpu() */
	double wall_ns;              /* estimate */
	double wall_low_ns, wall_high_ns;
};

struct nve_predict_result nve_predict_process(const struct nve_predict *p,
					      struct nve_predict_point point);

#endif
