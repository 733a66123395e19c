/*
 * Samples and windows on their way to the stream of misses. In the handler, outside the fault
 * guard.
 */
#ifndef NVE_AHEAD_MISSES_SAMPLE_H
#define NVE_AHEAD_MISSES_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "count/ahead/misses.h"
#include "count/ahead/window.h"

/* What a sample tells without a window. */
struct nve_misses_sample {
	uint64_t addr; /* that the access before it touched; 0: not known */
	bool is_news;  /* a window there would tell more */
};

/* m may be NULL: nobody wants misses. */
struct nve_misses_sample nve_misses_sample(const struct nve_misses *m, struct nve_window *w,
					   const ucontext_t *uc, void (*guard)(bool enter));

/* The window w has just ended, of so many steps. */
void nve_misses_learn_window(struct nve_misses *m, struct nve_window *w, uint32_t steps,
			     struct nve_dirty_table *dirty);

#endif
