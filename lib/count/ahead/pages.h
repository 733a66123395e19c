/*
 * Which addresses the look-ahead may read, asked without reading them.
 *
 * Two levels. The process's snapshot of its mappings (from /proc/self/maps, renewed by a monitor
 * thread, or in a process of one thread by its handler, when an address was unknown) says what is
 * memory at all: readable, anonymous or a regular file; device and kernel mappings never are. A
 * cache per thread says, by mincore(), which pages are resident: a touch that would fault has no
 * latency to tell. A page of anonymous memory that is not resident, where nothing is swapped out,
 * has never been touched: it reads as zeros.
 */
#ifndef NVE_AHEAD_PAGES_H
#define NVE_AHEAD_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NVE_PAGES_GRANULES = 256, NVE_PAGES_PER_GRANULE = 512 };

/* A thread's cache of residency, in granules of 512 pages (2 MiB). Zeroed memory is empty. */
struct nve_pages {
	struct nve_pages_granule {
		uint64_t id; /* address / 2 MiB + 1; 0: empty */
		uint64_t filled_tsc;
		uint64_t resident[NVE_PAGES_PER_GRANULE / 64];
		uint64_t fresh[NVE_PAGES_PER_GRANULE / 64]; /* never touched */
		uint64_t known[NVE_PAGES_PER_GRANULE / 64]; /* in the snapshot, or asked for */
	} granule[NVE_PAGES_GRANULES];
	uint64_t ttl_ticks; /* how long an answer is kept */
};

enum nve_page {
	NVE_PAGE_ABSENT,   /* not to be read */
	NVE_PAGE_RESIDENT, /* memory that may be read */
	NVE_PAGE_FRESH,    /* zeros; must not be read, since that would make it resident */
};

/* What the page of an address is. Signal-safe. An unknown address requests a new snapshot
 * (nve_pages_wanted). */
enum nve_page nve_pages_at(struct nve_pages *pages, uint64_t addr, uint64_t now_tsc);

/* A read met a fault: the answer for this page is forgotten and a new snapshot requested. */
void nve_pages_forget(struct nve_pages *pages, uint64_t addr);

/* Requests a newer snapshot. Signal-safe. */
void nve_pages_want(void);

/* Does a handler want a newer snapshot? */
bool nve_pages_wanted(void);

/*
 * Reads the mappings anew. Takes a file descriptor for its duration, so threads with a file table
 * of their own do it, or the only thread of a process. Signal-safe. Only one thread at a time does
 * the work, every 50 ms at most (otherwise it returns at once). 0 or -errno; the old snapshot stays
 * on failure.
 */
int nve_pages_refresh(void);

/* Is there a snapshot at all? */
bool nve_pages_known(void);

enum nve_pages_kind { NVE_PAGES_NOT, NVE_PAGES_FILE, NVE_PAGES_ANONYMOUS };

/* Parses one line of /proc/PID/maps: may the range be read, and what is it? Pure. */
enum nve_pages_kind nve_pages_parse(const char *line, uint64_t *start, uint64_t *end);

/* In a forked child: locks of threads that do not exist here are opened. */
void nve_pages_after_fork(void);

#endif
