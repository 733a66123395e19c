/* nvmemu heat: what its files share. */
#ifndef CLI_HEAT_H
#define CLI_HEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/read_heat.h"
#include "symbols.h"

enum { HEAT_STACK_MOST = 256, HEAT_TEXT_BYTES = 512 };

enum heat_by { HEAT_BY_SITE, HEAT_BY_ARENA, HEAT_BY_THREAD, HEAT_BY_KIND };

/* What one run told. */
struct heat_source {
	struct nve_view view;
	struct nve_heat_view heat;
	struct symbols *symbols;
};

/* One function of a call path. */
struct heat_frame {
	const char *module; /* path */
	uint64_t offset;    /* of the return address */
	struct symbol symbol;
	bool inlined; /* into the next one */
};

/* A path's last part. */
const char *heat_base_name(const char *path);

/* The call path of a site, innermost first. Returns its length. */
size_t heat_stack(struct symbols *symbols, const struct nve_view_site *site,
		  struct heat_frame frames[HEAT_STACK_MOST]);

/* "function (file.c:12)", or "module!0x1234". */
void heat_frame_text(const struct heat_frame *frame, char text[HEAT_TEXT_BYTES]);

/* The site in one line: its kind, unless it is the heap, and the first functions of its call path
 * that are no allocators. */
void heat_site_text(struct symbols *symbols, const struct nve_view_site *site,
		    char text[HEAT_TEXT_BYTES]);

/* A row of the table. */
struct heat_row {
	char label[HEAT_TEXT_BYTES];
	const struct nve_view_site *site; /* NULL: of no single site */
	uint64_t stall_ns, reads, writes;
	double share, share_se;     /* 0 to 1; the latter < 0: not known */
	const double *over_time_ns; /* NULL: not known */
	bool counted;               /* blocks are known */
	uint64_t allocations, frees, bytes, live_bytes, peak_bytes, lifetimes, lifetime_ns;
	bool resident_known;
	uint64_t resident_bytes;
};

struct heat_rows {
	struct heat_row *row;
	size_t count;
};

/* What rows are sorted by, and stacks weighed by. */
struct heat_column {
	const char *name, *unit;
	double (*value)(const struct heat_row *row); /* NaN: not known */
};

/* NULL: no such column. The first is the default. */
const struct heat_column *heat_column(const char *name);
/* Row i of the list of columns; NULL past the end. */
const struct heat_column *heat_column_at(size_t i);

/* Sorted by the column, the largest first. 0 or -ENOMEM. */
int heat_rows_make(const struct heat_source *source, enum heat_by by,
		   const struct heat_column *sort, struct heat_rows *rows);
void heat_rows_free(struct heat_rows *rows);

struct heat_table {
	enum heat_by by;
	size_t top; /* rows at most */
	bool stacks, over_time;
	int width; /* of the terminal */
};

void heat_print_table(FILE *out, const struct heat_source *source, const struct heat_rows *rows,
		      const struct heat_table *table);
void heat_print_map(FILE *out, const struct heat_source *source, const struct heat_rows *rows,
		    const struct heat_table *table);
/* Two runs: rows of the same site side by side. 0 or -ENOMEM. */
int heat_print_diff(FILE *out, const struct heat_source *a, const struct heat_source *b,
		    const struct heat_table *table);

/* Exports of rows; by site only: folded, DHAT and pprof. 0 or -errno. */
int heat_write_csv(FILE *out, const struct heat_source *source, const struct heat_rows *rows);
int heat_write_json(FILE *out, const struct heat_source *source, const struct heat_rows *rows);
int heat_write_folded(FILE *out, const struct heat_source *source, const struct heat_rows *rows,
		      const struct heat_column *weight);
int heat_write_dhat(FILE *out, const struct heat_source *source, const struct heat_rows *rows);
int heat_write_pprof(FILE *out, const struct heat_source *source, const struct heat_rows *rows);

/* A guidance file (NVM_PLACE): the sites that are worth most to DRAM of so many bytes go there. 0,
 * or -errno; -ENODATA: no stall time on any memory that a line can name. */
int heat_write_guidance(FILE *out, const struct heat_source *source, uint64_t capacity);

#endif
