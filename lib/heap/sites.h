/*
 * Allocation sites and the modules that their call paths lead through.
 *
 * A site is a kind and a list of frames; its hash, of the modules' build ids and the offsets in
 * them, is the same wherever the modules are loaded. Addresses are turned into modules and offsets
 * once for each path: a table of paths by their raw addresses comes before.
 *
 * Neither the loader's locks nor any other of ours are taken while the table is locked; readers
 * take none. Tables grow by mapping; where there is no memory, there is no site.
 */
#ifndef NVE_HEAP_SITES_H
#define NVE_HEAP_SITES_H

#include <stdint.h>

#include "heap/blocks.h"
#include "heap/heap.h"

enum {
	NVE_SITES_MAX = 1 << NVE_BLOCKS_SITE_BITS,
	NVE_SITES_CHUNK = 1024, /* mapped together */
};

/* What is kept of a site, beside what nve_heap_site() tells. Bytes: published by shards. */
struct nve_sites_entry {
	enum nve_heap_kind kind;
	uint32_t frames;
	const struct nve_heap_frame *frame;
	uint64_t hash;
	_Atomic uint32_t arena; /* its own; 0: none */
	_Atomic bool promoting; /* somebody makes it one */
	bool pinned;            /* it gets one from the beginning */
	_Atomic int64_t live_bytes, peak_bytes;
};

/* 0 or -ENOMEM. program: full name of the program's file. */
int nve_sites_setup(const char *program);

/* The site of the call path with these return addresses, innermost first; count at most
 * NVE_HEAP_DEPTH_MAX. NVE_HEAP_SITE_NONE: there is no room for it. */
uint32_t nve_sites_of_path(enum nve_heap_kind kind, const uint64_t *address, uint32_t count);

/* The site of a kind without call path: STACK, BREAK, OTHER. */
uint32_t nve_sites_of_kind(enum nve_heap_kind kind);

/* The same, if it has been made. Signal-safe. */
uint32_t nve_sites_known(enum nve_heap_kind kind);

/* Sites of that hash are made pinned. 0; -ENOSPC: too many. */
int nve_sites_pin(uint64_t hash);

/* The site of the data of a module, of that name. */
uint32_t nve_sites_of_module(const char *path);

/* NULL: no such site. */
struct nve_sites_entry *nve_sites_entry(uint32_t id);

/* Modules may have been unloaded, and others come to their addresses. */
void nve_sites_modules_changed(void);
/* Changes with that. */
uint32_t nve_sites_generation(void);

/* Around a fork. */
void nve_sites_before_fork(void);
void nve_sites_after_fork(void);

/* The hash of a site from its frames: build id (or, without one, the name of the file without
 * directories) and offset of each. Pure. */
uint64_t nve_sites_hash_start(enum nve_heap_kind kind);
uint64_t nve_sites_hash_frame(uint64_t hash, const struct nve_heap_module *module, uint64_t offset);

#endif
