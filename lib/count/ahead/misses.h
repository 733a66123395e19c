/*
 * From stall time to lines. Time samples tell at which instruction a thread stands still; windows
 * tell which lines that instruction waits for. For each instruction this keeps a sample of the
 * lines that the last windows saw it wait for, and each time sample's stall is spread over them.
 *
 * By instruction and not by window, since a window shows only the loop that it met, while most
 * samples come without one. Each window has the same number of lines in the sample, drawn in
 * proportion to the time waited: windows are (much like samples) spread evenly over time, so a
 * phase in which the instruction misses one kind of memory counts by the time that it takes, not by
 * the misses of its windows.
 *
 * Pure; one thread's. Signal-safe.
 */
#ifndef NVE_AHEAD_MISSES_H
#define NVE_AHEAD_MISSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "count/ahead/dirty.h"
#include "count/ahead/lines.h"
#include "count/miss.h"

/* An instruction (that comes just after the access, as samples show it) stood still for a line. */
struct nve_wait {
	uint64_t ip;
	float cycles;   /* as modelled */
	uint16_t line;  /* in struct nve_lines */
	uint16_t entry; /* for nve_misses_learn() */
};

struct nve_misses;

size_t nve_misses_bytes(void);
/* mem: nve_misses_bytes() of zeroed memory. */
struct nve_misses *nve_misses_init(void *mem, const struct nve_miss_sink *sink);

/* A window of so many steps has ended. wait: what it waited for, in any order; changed. */
void nve_misses_learn(struct nve_misses *m, struct nve_wait *wait, size_t count,
		      const struct nve_lines *lines, uint32_t steps, struct nve_dirty_table *dirty);

/* A sample at an instruction stands for stall_ns: the sink gets lines that stand for that, and for
 * what samples before it left over. */
void nve_misses_spread(struct nve_misses *m, uint64_t ip, double stall_ns);

/* An epoch ends, in which the thread stalled for stall_ns in all, samples without an answer
 * included. The difference to what was spread goes with the next sample; what was still left of the
 * epoch before is unattributed. */
void nve_misses_end_epoch(struct nve_misses *m, uint64_t stall_ns);

/* Sum of all that the sink got, ns: the epochs' stall_ns, less this, is unattributed. */
uint64_t nve_misses_attributed_ns(const struct nve_misses *m);

#endif
