/*
 * What one of a thread's lanes (emu/regions.h) is owed and has been paid, so that delay is served
 * where it was earned. Pure.
 *
 * "handler" and "settle" as in emu/regions.h.
 */
#ifndef NVE_EMU_REGION_DUE_H
#define NVE_EMU_REGION_DUE_H

#include <stdatomic.h>
#include <stdint.h>

struct nve_region_due {
	/* handler */
	uint64_t served_ns; /* delay, while the lane ran */
	int64_t cost_ns; /* of the tool, less what it saved the program: pays, where it is more */
	int64_t foreseen_ns; /* of epochs that have ended */
	int64_t moved_ns;    /* from lanes that run no more; negative in those */
	uint64_t ran_at_ns;  /* the thread's own time when it ran last */

	/* settle */
	_Atomic int64_t corrected_ns; /* what the model has said, less what was foreseen */
};

/* The model has judged a part of an epoch that was foreseen to owe so much. */
void nve_region_due_settle(struct nve_region_due *d, uint64_t owed_ns, uint64_t foreseen_ns);

/* Owed for epochs that have ended and not paid; negative: paid too much. */
int64_t nve_region_due_ns(const struct nve_region_due *d);

/* What is due to one lane goes to another one. */
void nve_region_due_move(struct nve_region_due *from, struct nve_region_due *to);

#endif
