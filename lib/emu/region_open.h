/* What a thread has open of regions and pauses, and the markers of it that went wrong. */
#ifndef NVE_EMU_REGION_OPEN_H
#define NVE_EMU_REGION_OPEN_H

#include <stdint.h>

enum { NVE_REGION_DEPTH = 64 }; /* deeper regions count for the 64th */

/* What a thread has open: regions, which may be more than the stack has levels, and pauses. */
struct nve_regions_open {
	uint32_t depth, paused;
	uint32_t lane;                        /* that runs */
	uint16_t stack[NVE_REGION_DEPTH + 1]; /* of nodes; the first is the root */
};

/* Markers that went wrong. */
struct nve_region_misuse {
	uint64_t no_begin;  /* ends without a begin in this thread */
	uint64_t misnested; /* named ends of a region that was not the innermost */
	uint64_t too_deep;  /* begun below the deepest level: their time is the region's there */
	uint64_t no_room;   /* begun when the table was full: their time is the enclosing one's */
	uint64_t cut_names; /* begun with names that are too long */
	uint64_t no_name;   /* begun without a name */
	uint64_t no_pause;  /* resumed without a pause */
};

#endif
