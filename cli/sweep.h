/* nvmemu sweep: what its files share. */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ranges.h"
#include "stat.h"

/* A run that was made. Each round has one native run, with which its others are paired. */
struct sweep_run {
	uint64_t round; /* from 1 */
	bool emulated;
	struct cli_point point;
	uint64_t wall_ns, cpu_ns;
	int status; /* exit status, or 128 and the signal's number */
};

struct sweep_runs {
	struct sweep_run *runs;
	size_t count, room;
};

int sweep_add_run(struct sweep_runs *runs, const struct sweep_run *run);
void sweep_free_runs(struct sweep_runs *runs);

/*
 * The file of runs: CSV, one row appended for each run as it ends. Its rows name the host and the
 * command, those of others are refused. Pure: rows of text.
 */
#define SWEEP_RUNS_HEAD "round,run,rlat_ns,wlat_ns,wall_ns,cpu_ns,status,host,command\n"

/* The end of each row, from a host's name and a command's words. NULL: no memory; to be freed. */
char *sweep_row_end(const char *host, char *const *argv);
/* A row with its newline. NULL: no memory; to be freed. */
char *sweep_format_run(const struct sweep_run *run, const char *row_end);
/* 0; -EINVAL: no row; -EXDEV: of another host or command. row: with its newline. */
int sweep_parse_run(const char *row, const char *row_end, struct sweep_run *run);

/*
 * Opens the file, makes it where there is none, and reads what it holds; rows are appended to *fd,
 * which is locked against another sweep. A last row that was not written to its end is cut off. 0,
 * or -errno after a message.
 */
int sweep_open_runs(const char *path, const char *row_end, struct sweep_runs *runs, int *fd);

/* What is known of a point, or of the native runs. */
struct sweep_row {
	struct cli_point point;
	size_t rounds;              /* pairs, or native runs */
	double wall_ns, cpu_ns;     /* medians over the rounds */
	struct cli_ratio wall, cpu; /* over the native run of the same round */
};

/* Pure. -ENOMEM. */
int sweep_native_row(const struct sweep_runs *runs, struct sweep_row *row);
int sweep_point_row(const struct sweep_runs *runs, struct cli_point point, struct sweep_row *row);
/* How many rounds have the point and a native run. */
size_t sweep_count_pairs(const struct sweep_runs *runs, struct cli_point point);

struct sweep_table {
	const char *command;
	bool by_cpu; /* which time is the one that counts */
	struct sweep_row native, *rows;
	size_t count;
};

void sweep_print_text(FILE *out, const struct sweep_table *table, bool bars);
void sweep_print_csv(FILE *out, const struct sweep_table *table);
void sweep_print_svg(FILE *out, const struct sweep_table *table);

#endif
