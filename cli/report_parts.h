/* nvmemu report: regions, allocation sites and placement, where the reports have them. */
#ifndef CLI_REPORT_PARTS_H
#define CLI_REPORT_PARTS_H

#include <stdio.h>

#include "report/read.h"
#include "report/read_heat.h"
#include "report/read_placement.h"
#include "report/read_regions.h"
#include "symbols.h"

struct report_parts {
	struct nve_view_regions regions;
	struct nve_heat_view heat;
	struct nve_view_placement placement;
	struct symbols *symbols;
};

/* 0, or -errno after a message. */
int report_parts_read(const struct nve_view *view, struct report_parts *parts);
void report_parts_free(struct report_parts *parts);

/* Tables of at most so many rows each, the first ones by time; a blank line before each. */
void report_put_regions(FILE *out, const struct report_parts *parts, size_t rows);
void report_put_sites(FILE *out, const struct report_parts *parts, size_t rows);

/* What was where, in one line after a label of that width. */
void report_put_placement(FILE *out, const struct report_parts *parts, int label);

#endif
