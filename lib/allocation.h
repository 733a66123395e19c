/*
 * Blocks of memory by allocation site, where somebody asks for it: heat, or placement by sites.
 * Independent of emulation.
 */
#ifndef NVE_ALLOCATION_H
#define NVE_ALLOCATION_H

#include "base/options.h"
#include "heap/alloc.h"
#include "heap/mapped.h"

/* What is needed of who preloads us. */
struct nve_allocation_host {
	uint64_t library_start, library_end; /* our code in memory */
	struct nve_alloc_next (*next)(void);
	struct nve_mapped_next (*next_mapped)(void);
	nve_unwind_fn *(*load_unwind)(void);
	/* jemalloc, from the library beside ours; -ENOENT: it is not there, or has no room */
	int (*load_arenas)(struct nve_arena_functions *functions);
	int (*begin)(void); /* the hooks lead to lib/heap; -ENOTSUP: they are not reached */
};

/* Once, in the constructor. Says why not, once per process tree, where it cannot be; the program
 * then runs without. */
void nve_allocation_start(const struct nve_options *o, const struct nve_allocation_host *host);

#endif
