/*
 * Which conditional branches the core mispredicts: a model of its predictor, fed with the branches
 * that windows pass. What a branch depends on that is predicted the core does not wait for; behind
 * one that is not, nothing begins before it is known, and the way to there is empty for some
 * cycles.
 *
 * A table by instruction, and two by instruction and the branches before it, of which the one with
 * the longest history that knows the case decides; in outline that of Seznec and Michaud, "A case
 * for (partially) tagged geometric history length branch prediction", Journal of Instruction-Level
 * Parallelism 8, 2006. Cores have more tables and longer histories, so a branch that follows a long
 * pattern may be taken for one that follows none.
 *
 * Signal-safe. The table is shared by threads (relaxed atomics: a lost update costs a branch); the
 * history belongs to one window.
 */
#ifndef NVE_AHEAD_PREDICTOR_H
#define NVE_AHEAD_PREDICTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nve_predictor; /* in memory that the caller gives, zeroed */

size_t nve_predictor_bytes(void);

/* The branch at ip went that way. Returns whether it was predicted otherwise; learns from it.
 * history: of the branches before, one bit each; this one is added. Begins as 0. */
bool nve_predictor_branch(struct nve_predictor *p, uint64_t *history, uint64_t ip, bool taken);

#endif
