/*
 * The program's own pace, against that of its windows.
 *
 * A window times misses in circumstances of its own: the interpreter's data take cache and
 * page-walk entries from the program's, and so a miss that needs a page walk is read a few per cent
 * too long. What it really takes shows in the program's CPU time, where something counts its
 * iterations: in most loops at least one register advances by the same amount each time around. A
 * window finds these registers; two samples after it give the advance, and so the number of
 * iterations between them and the time of one; the core model (core.h) says what one should have
 * taken by the timed latencies. What a window spared the program counts as taken after it. In loops
 * that hardly do anything but wait for memory, the difference is the error of those latencies.
 *
 * Pure; one thread's. Times are ticks of any one clock.
 */
#ifndef NVE_AHEAD_PACE_H
#define NVE_AHEAD_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { NVE_PACE_REGISTERS = 16 };

/* What one window sees of the loop around the instruction at which it began. */
struct nve_pace_loop {
	uint64_t last[NVE_PACE_REGISTERS];   /* at the last pass */
	int64_t advance[NVE_PACE_REGISTERS]; /* from pass to pass; 0: none, or not always the same
					      */
	uint32_t passes, modelled;           /* in all after the first; in the core model */
	float start, start_waited, end, end_waited; /* course of the model at first and last pass */
};

struct nve_pace {
	struct nve_pace_loop loop; /* of the last window */
	bool placed;               /* at: registers at the last sample */
	uint64_t at[NVE_PACE_REGISTERS];
	double spared; /* by a window there */
	/* over good intervals, fading: sum of what the program took longer than the model says
	 * (negative: shorter), in parts of the model's waiting for memory, and their weight */
	double excess, weight;
	uint64_t intervals;
};

/* A window begins, and will tell each time that it comes to the same instruction again. unknown:
 * bits of registers without a value. now, waited: of the core model, ticks; modelled: do they cover
 * this pass? */
void nve_pace_begin(struct nve_pace_loop *loop, const uint64_t *registers);
void nve_pace_pass(struct nve_pace_loop *loop, const uint64_t *registers, uint32_t unknown,
		   bool modelled, float now, float waited);

/*
 * Iterations between two places anywhere in the loop, to one or two: all registers that advance
 * must agree. 0: it cannot be told.
 */
uint64_t nve_pace_iterations(const struct nve_pace_loop *loop, const uint64_t *from,
			     const uint64_t *to);

/* A sample, ticks of the program after the one before. */
void nve_pace_sample(struct nve_pace *pace, const uint64_t *registers, double ticks);

/* A window was taken at that sample; it has seen this loop, and what it touched spares the program
 * so many ticks. */
void nve_pace_window(struct nve_pace *pace, const struct nve_pace_loop *loop, double spared);

/* The time since the last sample is not all the program's. */
void nve_pace_interrupt(struct nve_pace *pace);

/* Real over timed latency of a miss; 1 while too little is known. */
double nve_pace_factor(const struct nve_pace *pace);

#endif
