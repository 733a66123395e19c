/*
 * The sections "heat" and "sites" of a report: on whose memory stall time falls. Rows are pulled
 * from whoever has them, one at a time, so that thousands need no copy.
 */
#ifndef NVE_REPORT_HEAT_H
#define NVE_REPORT_HEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/json.h"

/* Stall time of the memory of a site, an arena or a kind. */
struct nve_heat_values {
	uint64_t stall_ns, stall_wb_ns; /* the latter: on lines that get written */
	uint64_t reads, writes;         /* stalled accesses, as in equation 6 */
	uint64_t lines;                 /* lines that stood for it */
	uint32_t share_ppm;             /* of all that could be attributed */
	int64_t share_se_ppm;           /* standard error; -1: not known */
	const float *bucket_ns;         /* over time; NULL: no stall time */
};

struct nve_heat_frame {
	uint32_t module; /* number in the list of modules */
	uint64_t offset; /* of the return address in it */
};

struct nve_heat_site {
	uint64_t hash;    /* the same in each run of the same binaries; 0: no site */
	const char *kind; /* "heap", "mapped", "stack", "data", "break", ... */
	uint32_t arena;   /* its own; 0: none */
	uint32_t frames;  /* innermost first */
	const struct nve_heat_frame *frame;
	struct nve_heat_values heat;
	bool counted; /* what follows is known */
	uint64_t allocations, frees, bytes, live_bytes, peak_bytes, lifetimes, lifetime_ns;
	bool resident_known;
	uint64_t resident_bytes;
};

struct nve_heat_arena {
	uint32_t arena;
	const char *kind; /* "thread" or "site" */
	uint64_t site;    /* hash of the site that it belongs to; 0: none */
	uint64_t mapped_bytes;
	struct nve_heat_values heat;
};

struct nve_heat_kind {
	const char *kind;
	struct nve_heat_values heat;
};

struct nve_heat_module {
	const char *path;
	const uint8_t *build_id;
	size_t build_id_bytes;
};

struct nve_heat_snapshot {
	bool on;
	uint64_t stall_ns, attributed_ns; /* of the threads; the part that has rows */
	uint64_t samples_lost, samples_no_answer;
	uint64_t sites_total; /* listed or not */
	uint64_t bucket_ns;
	uint32_t buckets; /* in use */
	/* resident bytes: every so manieth page has been looked at; 0: they are not known */
	uint32_t resident_every;
	/* how many rows, and what they are; a row's pointers are good until the next one is asked
	 * for
	 */
	size_t sites, arenas, kinds, modules;
	void (*site)(size_t i, struct nve_heat_site *site);
	void (*arena)(size_t i, struct nve_heat_arena *arena);
	void (*kind)(size_t i, struct nve_heat_kind *kind);
	void (*module)(size_t i, struct nve_heat_module *module);
};

void nve_report_heat(struct nve_json *j, const struct nve_heat_snapshot *s);

#endif
