/*
 * One look-ahead window: interprets a thread's future from an interrupted context, times the first
 * touch of each line in program order, and tells what that says of the sample.
 *
 * The reorder window: when the interrupt is taken, the core has already started the loads of the
 * next instructions; their lines are in the cache or on their way. What the first skip instructions
 * hit says nothing.
 */
#ifndef NVE_AHEAD_WINDOW_H
#define NVE_AHEAD_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "count/ahead/core.h"
#include "count/ahead/interp.h"
#include "count/ahead/learned.h"
#include "count/ahead/predictor.h"
#include "count/ahead/lines.h"
#include "count/ahead/misses.h"
#include "count/ahead/pace.h"
#include "count/ahead/pages.h"
#include "count/ahead/reach.h"
#include "count/calibration.h"
#include "count/ahead/stream.h"

/* What calibration says; constant. Ticks are of the TSC. */
struct nve_window_machine {
	uint32_t fence_ticks;     /* a timed read of a line in the first-level cache */
	uint32_t threshold_ticks; /* above it (fences included) the line came from memory */
	bool translates;          /* some misses are timed with their translation fetched before */
	uint32_t far_ticks;       /* above it, fences not included, from the last-level cache */
	uint32_t outlier_ticks;   /* above it the reading was interrupted: a miss without latency */
	uint32_t run_ahead;       /* instructions that the core may have started already */
	struct nve_core_machine core;
};

struct nve_window_machine nve_window_machine(const struct nve_calibration *cal);

struct nve_window_plan {
	uint64_t sample_ip; /* the interrupted instruction, b */
	uint32_t limit;     /* instructions */
	uint32_t skip;      /* length of the reorder window; 0 after a system call */
	uint32_t touch_max; /* timed touches beyond the reorder window */
	bool notes_waits;
	bool streams; /* count what the loop moves, for nve_window_stream() */
};

struct nve_window_result {
	enum nve_stop stop;
	uint32_t steps;
	/* the sample's label: at the occurrences of b, how long the instruction just before it held
	 * up the others, for a line from memory and in all; units of 1/16 cycle, as modelled */
	uint32_t occurrences;
	uint64_t waited, all;
	/* the same over all instructions of the window that come after an access */
	uint64_t class_waited, class_all;
	/* core cycles of a part of the window, as modelled: as it is, without lines from beyond the
	 * second-level cache, and those in which an access to memory, to the last-level cache, was
	 * the oldest instruction */
	float real_cycles, resident_cycles, waited_cycles, waited_far_cycles;
	float modelled_miss_cycles; /* sum of the latencies of the misses of that part */
	/* all timed touches */
	uint32_t touches, misses, misses_written, faults;
	/* latencies, TSC ticks less the fences, of misses beyond the reorder window; those with
	 * their translation fetched before stand apart */
	uint64_t miss_ticks, translated_ticks;
	double miss_ticks_squared;
	uint32_t miss_timed, translated_timed;
	uint64_t spared_ticks; /* of all misses, those of the reorder window included */
};

struct nve_window; /* a thread's window state; in memory that the caller gives */

size_t nve_window_bytes(void);
/* learned: what windows see of each instruction goes there. mem: nve_window_bytes() of zeroed
 * memory, 64-byte aligned. */
struct nve_window *nve_window_init(void *mem, const struct nve_window_machine *machine,
				   struct nve_learned *learned, struct nve_predictor *predictor,
				   uint64_t pages_ttl_ticks);

/* Signal-safe. Must run inside the fault guard (touch.h). */
void nve_window_run(struct nve_window *w, const ucontext_t *uc, const struct nve_window_plan *plan,
		    struct nve_window_result *result);

/* What the instruction before an address is, read like a window reads code. In the fault guard. */
enum nve_before nve_window_before(struct nve_window *w, uint64_t ip);

/* The address that the memory operand of an instruction has with the registers of an interrupted
 * context. 0; -ENOENT: it has none, or one that general registers alone do not tell. In the fault
 * guard; not during a window. */
int nve_window_address(struct nve_window *w, const ucontext_t *uc, uint64_t ip, uint64_t *addr);

/* The lines of the last window, the loop around its sample, and its interpreter. */
const struct nve_lines *nve_window_lines(const struct nve_window *w);
/* Its waits for lines from memory, where the plan wanted them; the caller may change them. */
struct nve_wait *nve_window_waits(struct nve_window *w, size_t *count);
const struct nve_pace_loop *nve_window_loop(const struct nve_window *w);
const struct nve_interp *nve_window_interp(const struct nve_window *w);

/* Tells s what the last window saw its loop move. In the fault guard. */
void nve_window_stream(struct nve_window *w, struct nve_stream *s, uint64_t tsc_khz);

/* Reads a line that one of the loop's streams has not been to yet, and tells where it came from. In
 * the fault guard; not during a window. */
enum nve_reach_line nve_window_probe(struct nve_window *w, const ucontext_t *uc,
				     const struct nve_stream_head *head, uint64_t random);

#endif
