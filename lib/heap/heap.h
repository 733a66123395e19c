/*
 * Whose memory is it? The program's memory by allocation site: the call path that asked for it.
 *
 * While the heap is on (NVM_HEAT, NVM_PLACE), allocations come from arenas of ours and every block
 * carries the number of its site, out of band. Memory that was mapped, stacks, the modules' data
 * and what lies on the break are sites of kinds of their own.
 *
 * Sites are numbered 1, 2, 3, ... in the order in which they are met; 0 is no site. Numbers are of
 * this process (a forked child goes on with its parent's); hashes are the same in each run of the
 * same binaries. Whatever has no site number of its own (too many sites, no memory for our tables)
 * is NVE_HEAP_SITE_NONE: it is served all the same.
 *
 * Functions are thread-safe. Those marked signal-safe may interrupt any of the others.
 */
#ifndef NVE_HEAP_HEAP_H
#define NVE_HEAP_HEAP_H

#include <stdbool.h>
#include <stdint.h>

enum { NVE_HEAP_SITE_NONE = 0, NVE_HEAP_DEPTH_MAX = 64, NVE_HEAP_BUILD_ID_BYTES = 20 };

enum nve_heap_kind {
	NVE_HEAP_NOWHERE, /* not known, or not the program's */
	NVE_HEAP_BLOCK,   /* a block that malloc and its kin gave */
	NVE_HEAP_LOOSE,   /* an arena's, but in no block that has a site */
	NVE_HEAP_MAPPED,  /* by mmap and mremap of the program */
	NVE_HEAP_STACK,   /* of any thread */
	NVE_HEAP_DATA,    /* of a module: its site has the module as its only frame */
	NVE_HEAP_BREAK,   /* brk and sbrk, and with them the C library's own heap */
	NVE_HEAP_OTHER,   /* mapped, by nobody that we saw */
	NVE_HEAP_KINDS
};

struct nve_heap_place {
	enum nve_heap_kind kind;
	uint32_t site;
	uint32_t arena;        /* of BLOCK and LOOSE: from 1; 0: none */
	uint64_t start, bytes; /* of the block or mapping; 0 bytes: not known */
};

/* Whose is the byte at addr? 0; -ENOENT: nobody's that we know (*place says NOWHERE). Lock-free,
 * signal-safe, never reads at addr. */
int nve_heap_find(uint64_t addr, struct nve_heap_place *place);

/*
 * Looks at the process's mappings anew, for what is told by them alone: main thread's stack, data
 * of modules, break, others. At the start it is done; again by who asks, outside of handlers: after
 * a dlopen, say, every second at most, and before addresses are judged in the end. Takes a file
 * descriptor for its duration. 0; -errno; -EBUSY: another thread is at it.
 */
int nve_heap_refresh(void);

/* Is it on: do blocks get sites? Signal-safe. */
bool nve_heap_is_on(void);

/* One more than the largest number of a site so far. Signal-safe. */
uint32_t nve_heap_site_count(void);

struct nve_heap_frame {
	uint32_t module; /* nve_heap_module() */
	uint64_t offset; /* of the return address, from the module's lowest address: as in its file
			  */
};

struct nve_heap_site {
	enum nve_heap_kind kind; /* BLOCK, MAPPED, STACK, DATA, BREAK or OTHER */
	uint64_t hash;           /* stable; never 0 */
	uint32_t arena;          /* its own; 0: it has none */
	uint32_t frames;         /* innermost first; our own are left out */
	const struct nve_heap_frame *frame;
};

/* What site number id is. 0 or -ENOENT. Signal-safe. */
int nve_heap_site(uint32_t id, struct nve_heap_site *site);

struct nve_heap_module {
	const char *path; /* as the loader has it; of the program itself, its full name */
	uint8_t build_id_bytes;
	uint8_t build_id[NVE_HEAP_BUILD_ID_BYTES]; /* of more bytes, the first */
};

uint32_t nve_heap_module_count(void);
int nve_heap_module(uint32_t id, struct nve_heap_module *module);

/* Sums over all threads, of a moment that is not quite the same for each of them. Bytes are what
 * blocks occupy: sizes rounded up as the allocator does it. */
struct nve_heap_counts {
	uint64_t allocations, frees;
	uint64_t bytes; /* allocated in all */
	uint64_t live_bytes, peak_bytes;
	uint64_t lifetimes, lifetime_ns; /* of one block in so many, those freed: how many, and
					    their sum */
};

void nve_heap_site_counts(uint32_t id, struct nve_heap_counts *counts);

enum nve_heap_arena_kind { NVE_HEAP_ARENA_NONE, NVE_HEAP_ARENA_THREAD, NVE_HEAP_ARENA_SITE };

struct nve_heap_arena {
	enum nve_heap_arena_kind kind;
	uint32_t site;         /* of ARENA_SITE */
	uint64_t mapped_bytes; /* page-aligned, and no other arena's */
};

/* Arenas are numbered from 1. */
uint32_t nve_heap_arena_count(void);
int nve_heap_arena(uint32_t id, struct nve_heap_arena *arena);

/* The site with this hash gets an arena of its own from its first allocation on. Before the program
 * starts. 0; -ENOSPC: too many. */
int nve_heap_pin(uint64_t hash);

/* How often sites were found by what: see the report. */
struct nve_heap_tally {
	uint64_t by_cache; /* the call path was one of the last, proved by its return addresses */
	uint64_t by_unwinding[NVE_HEAP_DEPTH_MAX + 1]; /* by number of frames */
	uint64_t by_caller;                            /* by the return address alone */
	uint64_t unattributed;                         /* served without a site */
	uint64_t checked,
		wrong; /* answers of the cache that were unwound as well; those that differed */
};

void nve_heap_tally(struct nve_heap_tally *tally);

#endif
