/*
 * The regions that a process has begun: a tree, since a region is told apart by its name and by the
 * one that it was begun in. Nodes are numbered in the order of their first use and stay.
 *
 * Lock-free and signal-safe: threads, and signal handlers in them, may ask at once. Two that begin
 * the same new region at the same moment may leave a node behind that nobody uses.
 */
#ifndef NVE_EMU_REGION_TABLE_H
#define NVE_EMU_REGION_TABLE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
	NVE_REGION_NODES = 256,     /* the root, outside of all regions, is number 0 */
	NVE_REGION_NAME_BYTES = 64, /* with the terminating zero; what is longer is cut */
	NVE_REGION_SLOTS = 1024,
	NVE_REGION_NONE = UINT16_MAX,
};

struct nve_region_node {
	uint32_t parent;
	char name[NVE_REGION_NAME_BYTES]; /* a copy: the program's may go or change */
};

/* Zeroed: only the root is there. */
struct nve_region_table {
	_Atomic uint32_t reserved; /* nodes besides the root that were asked for, with those that
				      found no room */
	_Atomic uint16_t slot[NVE_REGION_SLOTS]; /* hash table of node numbers; 0: empty */
	struct nve_region_node node[NVE_REGION_NODES];
};

/* The region of that name in parent, made if it is new; NVE_REGION_NONE: there is no room. */
uint32_t nve_region_table_find(struct nve_region_table *table, uint32_t parent, const char *name);

/* Numbers in use are below; some of them may be nobody's, their name is empty. */
uint32_t nve_region_table_count(const struct nve_region_table *table);

#endif
