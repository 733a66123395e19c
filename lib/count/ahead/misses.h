/*
 * From stall time to lines. Time samples tell at which instruction a thread stands still; windows
 * tell for which lines that instruction waits.
 *
 * The access just before a sampled instruction has most often left the registers that its address
 * is made of as they were: then the sample itself tells the line, and whose it is. Where that is
 * not to be had, or windows have seen that the instruction finds such memory in the cache, the
 * sample's stall is spread over lines that the last windows saw the instruction wait for. By
 * instruction and not by window, since a window shows only the loop that it met, while most samples
 * come without one. Each window leaves the same number of lines, drawn in proportion to the time
 * waited: windows are, much like samples, spread evenly over time, so that a phase in which the
 * instruction misses one kind of memory counts by the time that it takes, not by the misses of its
 * windows.
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
	uint64_t ip, access_ip; /* the instruction; the one that makes the access */
	float cycles;           /* as modelled */
	uint16_t line;          /* in struct nve_lines */
	bool missed;            /* for memory; false: for a cache */
	uint16_t entry;         /* for nve_misses_learn() */
};

struct nve_misses;

size_t nve_misses_bytes(void);
/* mem: nve_misses_bytes() of zeroed memory. */
struct nve_misses *nve_misses_init(void *mem, const struct nve_miss_sink *sink);

/* A window of so many steps has ended. wait: what it waited for, in any order; changed. */
void nve_misses_learn(struct nve_misses *m, struct nve_wait *wait, size_t count,
		      const struct nve_lines *lines, uint32_t steps, struct nve_dirty_table *dirty);

/* The instruction whose access a sampled one waits for; 0: no window has seen it wait. */
uint64_t nve_misses_access(const struct nve_misses *m, uint64_t ip);

/* Would a window at an instruction tell what nobody knows yet: what it waits for, or whether lines
 * like that at addr (0: not known), which it accesses, get written? */
bool nve_misses_is_news(const struct nve_misses *m, uint64_t ip, uint64_t addr);

/* A sample at an instruction stands for stall_ns: the sink gets lines that stand for that, and for
 * what samples before it left over. addr: what the access before it touched; 0: not known. */
void nve_misses_spread(struct nve_misses *m, uint64_t ip, double stall_ns, uint64_t addr);

/* An epoch ends, in which the thread stalled for stall_ns in all, samples without an answer
 * included. The difference to what was spread goes with the next sample; what was still left of the
 * epoch before is unattributed. */
void nve_misses_end_epoch(struct nve_misses *m, uint64_t stall_ns);

/* Sum of all that the sink got, ns: the epochs' stall_ns, less this, is unattributed. */
uint64_t nve_misses_attributed_ns(const struct nve_misses *m);

#endif
