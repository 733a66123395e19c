/* What a report tells of placement (NVM_PLACE). */
#ifndef NVE_REPORT_PLACEMENT_H
#define NVE_REPORT_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/json.h"

/* Reads and writes, apart. */
enum { NVE_PLACED_READ, NVE_PLACED_WRITE, NVE_PLACED_KINDS };
enum { NVE_PLACED_NVM, NVE_PLACED_DRAM, NVE_PLACED_TIERS };
/* Whose windows told the parts of an epoch. */
enum {
	NVE_PLACED_EPOCH,
	NVE_PLACED_THREAD,
	NVE_PLACED_PROCESS,
	NVE_PLACED_DEFAULT,
	NVE_PLACED_ORIGINS
};

/* Of a thread or of the process. */
struct nve_placed_totals {
	uint64_t nvm_ma[NVE_PLACED_KINDS]; /* missing accesses on NVM, which earn delay */
	uint32_t se_ppm[NVE_PLACED_KINDS]; /* standard error of their part in all of the kind */
	uint64_t misses[NVE_PLACED_KINDS][NVE_PLACED_TIERS]; /* that windows waited for */
	uint64_t epochs[NVE_PLACED_KINDS][NVE_PLACED_ORIGINS];
};

/* A line of the guidance file that names a call path. */
struct nve_placed_line {
	uint32_t number;
	const char *text;
	uint32_t text_length;
	bool dram;
	uint64_t sites;     /* that it decided on */
	uint64_t ambiguous; /* of them, those that another line fits as well, and says otherwise */
	uint32_t other;     /* number of such a line; 0: none */
	uint32_t ranges;    /* pieces of code that its source lines stand for */
	bool has_source;
};

enum { NVE_PLACED_MEMORY = 6 };

struct nve_placement_snapshot {
	bool on;
	const char *file;
	int bind; /* node; -1: emulated */
	struct {
		const char *name;
		bool dram;
		uint32_t line; /* 0: by default */
	} memory[NVE_PLACED_MEMORY];
	uint64_t marked;                     /* call paths of nvmemu_malloc() */
	uint64_t bound_bytes, bind_failures; /* failures: pieces of arenas */
	uint64_t sites;                      /* that no line names, and that had misses */
	uint64_t unmatched, ambiguous; /* lines that fit no site; sites that lines disagree on */
	bool source_lines;             /* the file names some */
	uint32_t modules,
		modules_with_lines; /* where they were looked for; that have such a file */
	const struct nve_placed_line *line;
	size_t line_count;
};

void nve_report_placed(struct nve_json *j, const struct nve_placed_totals *t, uint64_t ma_ro,
		       uint64_t ma_wb);
void nve_report_placement(struct nve_json *j, const struct nve_placement_snapshot *s);

#endif
