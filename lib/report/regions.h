/*
 * What a report tells of the regions that a program marks: the part of the snapshot, and the
 * section's writer, which is pure like the others (report.h).
 */
#ifndef NVE_REPORT_REGIONS_H
#define NVE_REPORT_REGIONS_H

#include <stddef.h>
#include <stdint.h>

#include "report/json.h"

/* Of a lane: the time in which a region was the innermost, emulated or paused. Sums. */
struct nve_region_figures {
	uint64_t wall_ns, cpu_ns, stall_ns, stall_wb_ns, ma_ro, ma_wb;
	uint64_t delay_owed_ns, delay_paid_ns;
	uint64_t delay_injected_ns; /* while it ran, whatever for */
	uint64_t samples, answered;
	double answered_ns, label_ns, label_squared_ns; /* as in nve_ahead_counts */
};

struct nve_region_row {
	uint32_t node;   /* 0: outside of all */
	uint32_t paused; /* 0, 1 */
	uint64_t calls;
	struct nve_region_figures figures;
};

struct nve_region_name {
	const char *name;
	uint32_t parent; /* the node in which it was begun */
	uint32_t first;  /* the lowest node of the same name */
};

/* Markers, and what went wrong with them. */
struct nve_region_counts {
	uint64_t begins, pauses;
	uint64_t no_begin, misnested, too_deep, no_room, cut_names, no_name, no_pause;
	uint64_t left_open;   /* by threads that ended */
	uint64_t open_at_end; /* when the process ended */
	uint64_t rows_lost;   /* rows of threads that found no room */
};

struct nve_region_rows {
	const struct nve_region_row *row;
	size_t count;
};

struct nve_regions_snapshot {
	const struct nve_region_name *names;
	uint32_t name_count;
	struct nve_region_rows rows; /* of the process */
	struct nve_region_counts counts;
};

/* Adds f to *to. */
void nve_region_figures_add(struct nve_region_figures *to, const struct nve_region_figures *f);

/* "regions" of the process: an object. */
void nve_report_regions(struct nve_json *j, const struct nve_regions_snapshot *s);

/* "regions" of a thread: the list alone. */
void nve_report_thread_regions(struct nve_json *j, const struct nve_regions_snapshot *s,
			       const struct nve_region_rows *rows);

#endif
