/*
 * For how long a thread wanted to go on, but had no core: wall time beyond its CPU time, unless it
 * has given up its core itself meanwhile (it waited for something). Pure; one thread's.
 */
#ifndef NVE_EMU_COREWAIT_H
#define NVE_EMU_COREWAIT_H

#include <stdint.h>

/* Starts zeroed. */
struct nve_corewait {
	uint64_t wall_ns, cpu_ns;
	uint64_t given_up; /* how often it has, until then */
};

/* Since the last take or mark, ns; 0 the first time. Begins anew. */
uint64_t nve_corewait_take(struct nve_corewait *wait, uint64_t wall_ns, uint64_t cpu_ns,
			   uint64_t given_up);

/* Begins anew: what was lost until then has been made use of but for left_ns. */
void nve_corewait_mark(struct nve_corewait *wait, uint64_t wall_ns, uint64_t cpu_ns,
		       uint64_t left_ns);

#endif
