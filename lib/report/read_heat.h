/*
 * Heat read back: the sections "heat" and "sites" of all processes of a view as one. Sites that are
 * the same (by their hash and kind) in several processes are one site. For the command alone, like
 * report/read.h; texts are the view's, which must live as long.
 */
#ifndef NVE_REPORT_READ_HEAT_H
#define NVE_REPORT_READ_HEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/read.h"

/* Stall time of some memory. */
struct nve_view_heat {
	uint64_t stall_ns, stall_wb_ns, reads, writes, lines;
	double share, share_se; /* of all that was attributed, 0 to 1; the latter < 0: not known */
	double *over_time_ns;   /* nve_heat_view.buckets of them */
};

struct nve_view_frame {
	const char *module, *build_id; /* path; hexadecimal digits, or "" */
	uint64_t offset;               /* of the return address in the module */
};

struct nve_view_site {
	uint64_t hash; /* 0: memory without a site */
	const char *kind;
	uint64_t arena;                /* its own, where there is but one process; 0: none */
	struct nve_view_frame *frames; /* innermost first */
	size_t frame_count;
	struct nve_view_heat heat;
	bool counted; /* blocks: what follows up to lifetime_ns */
	uint64_t allocations, frees, bytes, live_bytes, peak_bytes, lifetimes, lifetime_ns;
	bool resident_known;
	uint64_t resident_bytes;
};

struct nve_view_arena {
	const struct nve_view_process *process;
	uint64_t arena;
	const char *kind;
	uint64_t site; /* hash; 0: none */
	uint64_t mapped_bytes;
	struct nve_view_heat heat;
};

struct nve_view_kind {
	const char *kind;
	struct nve_view_heat heat;
};

struct nve_heat_view {
	size_t processes; /* with heat; 0: nobody asked for it */
	uint64_t stall_ns, attributed_ns, unattributed_ns, samples_lost, samples_no_answer;
	uint64_t sites_not_listed;
	uint64_t bucket_ns; /* over_time_ns, from the first process's start on */
	size_t buckets;
	struct nve_view_site *sites; /* the one with most stall time first */
	struct nve_view_arena *arenas;
	struct nve_view_kind *kinds;
	size_t site_count, arena_count, kind_count;
};

/* The view must be finished. 0; or, with the reason in *why, -EINVAL or -ENOENT (a report that is
 * not whole), -ENOMEM. */
int nve_heat_view_read(const struct nve_view *view, struct nve_heat_view *heat,
		       struct nve_read_message *why);

void nve_heat_view_free(struct nve_heat_view *heat);

#endif
