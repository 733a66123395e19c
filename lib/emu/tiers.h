/*
 * Which part of a thread's stalled accesses goes to memory that is placed on DRAM and earns no
 * delay: from the misses that look-ahead's windows have seen, never from sizes. Reads and writes
 * apart: a miss counts as a write-back by the probability that its line gets written.
 *
 * Windows are spread evenly over time, so each counts by its share of stall time. An epoch's parts
 * are those of its own windows; where they show nothing, those of the thread's recent past, else of
 * the process's, else of the default. Pure. All but struct nve_tiers_process belongs to one thread.
 */
#ifndef NVE_EMU_TIERS_H
#define NVE_EMU_TIERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "count/source.h"
#include "emu/guidance.h"

enum nve_tiers_kind { NVE_TIERS_READ, NVE_TIERS_WRITE, NVE_TIERS_KINDS };

/* Of one kind: windows' stall shares, summed, and the part of them on DRAM. */
struct nve_tiers_part {
	double all, dram;
};

/*
 * For the standard error of the ratio of two sums over windows: sums over them of all^2, all * dram
 * and dram^2. Source: Cochran, Sampling Techniques, 3rd ed. 1977, section 6.4.
 */
struct nve_tiers_errors {
	double all_all, all_dram, dram_dram;
	uint64_t windows;
};

struct nve_tiers_sums {
	struct nve_tiers_part part[NVE_TIERS_KINDS];
	struct nve_tiers_errors errors[NVE_TIERS_KINDS];
};

/* Where the parts of epochs came from; of each kind. */
enum nve_tiers_origin {
	NVE_TIERS_EPOCH,
	NVE_TIERS_THREAD,
	NVE_TIERS_PROCESS,
	NVE_TIERS_DEFAULT,
	NVE_TIERS_ORIGINS
};

struct nve_tiers_counts {
	uint64_t misses[NVE_TIERS_KINDS][2]; /* by the kind that is likelier, and by tier */
	uint64_t epochs[NVE_TIERS_KINDS][NVE_TIERS_ORIGINS];
};

/* Of a thread; zeroed at the start. */
struct nve_tiers {
	struct nve_tiers_part window[NVE_TIERS_KINDS]; /* accesses of the one that is told of */
	struct nve_tiers_sums epoch, recent /* fading */, life;
	struct nve_tiers_counts counts;
};

/* Of all threads; zeroed at the start. Millionths. */
struct nve_tiers_process {
	_Atomic uint64_t all[NVE_TIERS_KINDS], dram[NVE_TIERS_KINDS];
};

/* A window has waited for a line: so many accesses' worth (the wait over the line's latency);
 * probability that the line gets written, 0 to 1. */
void nve_tiers_add(struct nve_tiers *t, double accesses, double dirty, enum nve_tier tier);

/* That was all of the window, of whose time this share was stall, 0 to 1. */
void nve_tiers_end_window(struct nve_tiers *t, struct nve_tiers_process *p, double stall_share);

/* The epoch ends: fills the parts on DRAM and their errors. usual: the tier where nothing is known.
 */
void nve_tiers_end_epoch(struct nve_tiers *t, const struct nve_tiers_process *p,
			 enum nve_tier usual, struct nve_epoch *epoch);

/* The part on DRAM, 0 to 1; 0 where there was nothing. Its standard error; 1 with fewer than two
 * windows. */
double nve_tiers_part(const struct nve_tiers_sums *s, enum nve_tiers_kind kind);
double nve_tiers_se(const struct nve_tiers_sums *s, enum nve_tiers_kind kind);

#endif
