/* Interprets a stopped child ahead, then steps it for real and compares at every instruction. */
#ifndef TEST_LOCKSTEP_H
#define TEST_LOCKSTEP_H

#include "tracee.h"

#define LOCKSTEP_MAX 2000u

struct lockstep_totals {
	uint64_t windows, steps, compared, mismatches;
	uint64_t known_registers, all_registers;
	uint64_t accesses;
	uint64_t stops[NVE_STOP_COUNT];
	struct {
		char name[48];
		uint64_t count;
	} reasons[32]; /* what ended windows but limit and system calls: mnemonic < first unknown
			  result */
};

/* Allocates what all windows share. */
int lockstep_init(void);

/* One window from where the child stands. 0, 1 at a mismatch, or -ECHILD, -EINTR: it ended early.
 */
int lockstep_window(struct tracee *t, uint32_t limit, struct lockstep_totals *totals);

/* Only interprets: for the length of windows. */
void lockstep_ahead(struct tracee *t, uint32_t limit, struct lockstep_totals *totals);

void lockstep_print(const char *what, const struct lockstep_totals *totals);

#endif
