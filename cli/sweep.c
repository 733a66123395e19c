/* nvmemu sweep: command line, and which runs are made in which order. */
#include "sweep.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/file.h"
#include "calibrated.h"
#include "cli.h"
#include "measure.h"
#include "output.h"

enum { REPEAT = 5, HOST_BYTES = 65 };

struct sweep {
	struct cli_latencies rlat, wlat;
	uint64_t repeat, warmup;
	bool by_cpu;
	const char *csv, *svg, *runs_file, *library;
	struct cli_measure measure;
	struct cli_point *points;
	size_t point_count;
	char *row_end; /* of rows in the file of runs */
	struct sweep_runs runs;
	int fd; /* of that file; -1: none */
	uint64_t random;
	size_t done, all; /* runs, for the progress */
	uint64_t started_ns;
};

static void print_help(void)
{
	printf("usage: nvmemu sweep [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	       "\n"
	       "Runs a program natively and at each pair of read and write latencies, in rounds:\n"
	       "each round has one native run and one of each point, in random order, so that "
	       "what\n"
	       "drifts meets all alike. Prints how many times as long as natively each point "
	       "takes.\n"
	       "\n"
	       "  --rlat LIST       read latencies in ns: 300, or FROM:TO:STEP, or several with\n"
	       "                    commas; 'dram' is DRAM's own; default: dram\n"
	       "  --wlat LIST       write latencies, the same\n"
	       "  --repeat N        rounds; default: %d\n"
	       "  --warmup N        native runs before, which do not count; default: 1\n"
	       "  --time wall|cpu   which time is compared; default: wall\n"
	       "  --csv FILE        write the table to FILE as CSV, '-' for standard output\n"
	       "  --svg FILE        draw it\n"
	       "  --runs FILE       keep each run in FILE as it ends (CSV). With a FILE that is\n"
	       "                    there, of the same command on the same host, only runs are "
	       "made\n"
	       "                    that it lacks: after an interruption, or with more points or "
	       "rounds\n"
	       "  --input FILE      the program's standard input; default: /dev/null\n"
	       "  --show-output     let the program write where it would; default: its output "
	       "goes\n"
	       "                    to /dev/null, and its stderr is shown where it fails\n"
	       "  --ignore-failure  go on where the program fails, and count the run\n"
	       "  --lib FILE        the library; default: the one of this installation\n"
	       "\n"
	       "Other NVM_ variables apply as they are set. Interrupted, it prints what it has.\n"
	       "\n"
	       "Exit status: 0 all runs were made, 1 the program failed, 2 wrong arguments,\n"
	       "125 emulation is impossible, 126 or 127 the program cannot be started, 130\n"
	       "interrupted.\n",
	       REPEAT);
}

static int parse_time(const char *text, bool *by_cpu)
{
	*by_cpu = !strcmp(text, "cpu");
	return *by_cpu || !strcmp(text, "wall") ? 0 : -EINVAL;
}

static int parse_value(int letter, const char *text, struct sweep *s)
{
	switch (letter) {
	case 'r': return cli_parse_latencies(text, &s->rlat);
	case 'w': return cli_parse_latencies(text, &s->wlat);
	case 'n': return cli_parse_uint(text, 1, 100000, &s->repeat);
	case 'u': return cli_parse_uint(text, 0, 100000, &s->warmup);
	case 't': return parse_time(text, &s->by_cpu);
	case 'c': s->csv = text; return 0;
	case 's': s->svg = text; return 0;
	case 'f': s->runs_file = text; return 0;
	case 'i': s->measure.input = text; return 0;
	case 'o': s->measure.show_output = true; return 0;
	case 'g': s->measure.ignore_failure = true; return 0;
	default: s->library = text; return 0;
	}
}

/* Returns -1 to go on, else the exit status. */
static int parse_arguments(int argc, char **argv, struct sweep *s)
{
	static const struct option options[] = {
		{"rlat", required_argument, NULL, 'r'},
		{"wlat", required_argument, NULL, 'w'},
		{"repeat", required_argument, NULL, 'n'},
		{"warmup", required_argument, NULL, 'u'},
		{"time", required_argument, NULL, 't'},
		{"csv", required_argument, NULL, 'c'},
		{"svg", required_argument, NULL, 's'},
		{"runs", required_argument, NULL, 'f'},
		{"input", required_argument, NULL, 'i'},
		{"show-output", no_argument, NULL, 'o'},
		{"ignore-failure", no_argument, NULL, 'g'},
		{"lib", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int letter, index = 0;

	/* '+': what follows the program's name is the program's. */
	while ((letter = getopt_long(argc, argv, "+", options, &index)) != -1) {
		if (letter == 'h') {
			print_help();
			return CLI_OK;
		}
		if (letter == '?')
			return CLI_USAGE;
		if (parse_value(letter, optarg, s))
			return cli_bad_value(argv[0], options[index].name, optarg);
	}
	if (optind == argc) {
		fprintf(stderr, "%s: which program?\nTry '%s --help'.\n", argv[0], argv[0]);
		return CLI_USAGE;
	}
	s->measure.argv = argv + optind;
	return -1;
}

/* Returns -1 to go on, else the exit status. */
static int make_points(struct sweep *s, const char *command)
{
	size_t count = s->rlat.count * s->wlat.count;

	if (count <= CLI_POINTS_MAX)
		s->points = calloc(count, sizeof(*s->points));
	if (!s->points) {
		fprintf(stderr, "%s: %zu points are too many\n", command, count);
		return CLI_USAGE;
	}
	for (size_t r = 0; r < s->rlat.count; r++)
		for (size_t w = 0; w < s->wlat.count; w++)
			/* DRAM's own twice is the native run. */
			if (s->rlat.ps[r] || s->wlat.ps[w])
				s->points[s->point_count++] =
					(struct cli_point){s->rlat.ps[r], s->wlat.ps[w]};
	if (s->point_count)
		return -1;
	fprintf(stderr, "%s: no latency to emulate: give --rlat or --wlat\nTry '%s --help'.\n",
		command, command);
	return CLI_USAGE;
}

/* What the library would refuse is refused before the first run. */
static int check_latencies(const struct sweep *s)
{
	struct nve_options_message error, warning;
	struct nve_calibration calibration;
	struct nve_options options;
	int rc = nve_options_parse(&options, environ, &error, &warning);

	if (rc) {
		cli_error("%s", error.text);
		return rc;
	}
	if (!options.dram_lat_ps) {
		rc = nve_calibrated_load(&calibration, environ);
		if (rc) {
			cli_error("this machine cannot be calibrated: %s", strerror(-rc));
			return rc;
		}
		options.dram_lat_ps = calibration.dram_lat_ps;
	}
	rc = cli_check_latencies("rlat", &s->rlat, options.dram_lat_ps, "this machine's");
	return rc ? rc
		  : cli_check_latencies("wlat", &s->wlat, options.dram_lat_ps, "this machine's");
}

static int open_runs(struct sweep *s)
{
	char host[HOST_BYTES] = "";

	s->fd = -1;
	gethostname(host, sizeof(host) - 1);
	s->row_end = sweep_row_end(host, s->measure.argv);
	if (!s->row_end)
		return -ENOMEM;
	return s->runs_file ? sweep_open_runs(s->runs_file, s->row_end, &s->runs, &s->fd) : 0;
}

static size_t lacking(const struct sweep *s, size_t point)
{
	size_t pairs = sweep_count_pairs(&s->runs, s->points[point]);

	return pairs < s->repeat ? s->repeat - pairs : 0;
}

/* Each round has the points that lack runs, and one native run. */
static size_t runs_to_come(const struct sweep *s)
{
	size_t runs = 0, rounds = 0;

	for (size_t i = 0; i < s->point_count; i++) {
		runs += lacking(s, i);
		rounds = NVE_MAX(rounds, lacking(s, i));
	}
	return runs + rounds;
}

static uint64_t last_round(const struct sweep_runs *runs)
{
	uint64_t last = 0;

	for (size_t i = 0; i < runs->count; i++)
		last = NVE_MAX(last, runs->runs[i].round);
	return last;
}

static int keep(struct sweep *s, const struct sweep_run *run)
{
	char *row;
	int rc = sweep_add_run(&s->runs, run);

	if (rc || s->fd < 0)
		return rc;
	row = sweep_format_run(run, s->row_end);
	rc = row ? nve_file_write_all(s->fd, row, strlen(row)) : -ENOMEM;
	free(row);
	if (rc)
		cli_error("cannot write %s: %s", s->runs_file, strerror(-rc));
	return rc;
}

static void show(const struct sweep *s, const struct sweep_run *run)
{
	char read[CLI_LATENCY_BYTES], write[CLI_LATENCY_BYTES], what[80];

	cli_format_latency(run->point.rlat_ps, "DRAM", read);
	cli_format_latency(run->point.wlat_ps, "DRAM", write);
	snprintf(what, sizeof(what), "read %s, write %s", read, write);
	cli_show_progress(run->emulated ? what : "native", s->done, s->all, s->started_ns);
}

static int make_run(struct sweep *s, uint64_t round, const struct cli_point *point)
{
	struct sweep_run run = {.round = round, .emulated = point};
	struct cli_run how = {.emulated = point};
	struct cli_end end;
	int rc;

	if (point)
		how.point = run.point = *point;
	show(s, &run);
	rc = cli_measure_run(&s->measure, &how, &end);
	if (rc)
		return rc;
	s->done++;
	if (!round)
		return 0;
	run.wall_ns = NVE_MAX(end.wall_ns, UINT64_C(1));
	run.cpu_ns = end.cpu_ns;
	run.status = WIFSIGNALED(end.status) ? 128 + WTERMSIG(end.status) : WEXITSTATUS(end.status);
	return keep(s, &run);
}

static int make_round(struct sweep *s, uint64_t round)
{
	const struct cli_point **points = calloc(s->point_count + 1, sizeof(*points));
	size_t *order = calloc(s->point_count + 1, sizeof(*order));
	size_t count = 1; /* the first, NULL, is the native run */
	int rc = points && order ? 0 : -ENOMEM;

	for (size_t i = 0; i < s->point_count && !rc; i++)
		if (lacking(s, i))
			points[count++] = &s->points[i];
	if (!rc)
		cli_shuffle(order, count, &s->random);
	for (size_t i = 0; i < count && !rc; i++)
		rc = make_run(s, round, points[order[i]]);
	free(points);
	free(order);
	return rc;
}

static int make_runs(struct sweep *s)
{
	uint64_t round = last_round(&s->runs);
	size_t to_come = runs_to_come(s);
	int rc = 0;

	if (!to_come)
		return 0;
	s->all = to_come + s->warmup;
	s->random = nve_clock_ns(CLOCK_MONOTONIC) | 1;
	s->started_ns = nve_clock_ns(CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < s->warmup && !rc; i++)
		rc = make_run(s, 0, NULL);
	while (!rc && runs_to_come(s))
		rc = make_round(s, ++round);
	cli_show_progress(NULL, 0, 0, 0);
	return rc;
}

static int print_to(const char *path, const struct sweep_table *table,
		    void (*print)(FILE *out, const struct sweep_table *table))
{
	struct cli_output output;
	int rc = cli_output_open(&output, path, true);

	if (rc)
		return rc;
	print(output.stream, table);
	return cli_output_close(&output, true);
}

/* Only points of which something is known have a row. */
static int fill_table(const struct sweep *s, struct sweep_table *table)
{
	int rc = sweep_native_row(&s->runs, &table->native);

	table->rows = calloc(s->point_count, sizeof(*table->rows));
	if (!table->rows)
		return -ENOMEM;
	for (size_t i = 0; i < s->point_count && !rc; i++) {
		rc = sweep_point_row(&s->runs, s->points[i], &table->rows[table->count]);
		table->count += !rc && table->rows[table->count].rounds;
	}
	return rc;
}

static int print_table(const struct sweep *s)
{
	struct sweep_table table = {.command = s->measure.argv[0], .by_cpu = s->by_cpu};
	bool csv_only = s->csv && !strcmp(s->csv, "-");
	int rc;

	rc = fill_table(s, &table);
	/* Native runs alone say nothing. */
	if (!rc && table.count && !csv_only)
		sweep_print_text(stdout, &table, isatty(STDOUT_FILENO));
	if (!rc && table.count && s->csv)
		rc = print_to(s->csv, &table, sweep_print_csv);
	if (!rc && table.count && s->svg)
		rc = print_to(s->svg, &table, sweep_print_svg);
	free(table.rows);
	return rc;
}

static int sweep(struct sweep *s)
{
	int rc = open_runs(s), print_rc;

	if (rc)
		return CLI_FAILED;
	cli_catch_interrupts();
	rc = make_runs(s);
	print_rc = print_table(s);
	if (rc == -EINTR)
		cli_note("interrupted%s%s",
			 s->runs_file ? "; to go on, give the same command with --runs " : "",
			 s->runs_file ? s->runs_file : "");
	return rc || !print_rc ? cli_measure_status(rc) : CLI_FAILED;
}

int cli_sweep(int argc, char **argv)
{
	static struct sweep s = {
		.rlat.count = 1, .wlat.count = 1, .repeat = REPEAT, .warmup = 1, .fd = -1};
	char library[PATH_MAX];
	int status = parse_arguments(argc, argv, &s);

	if (status < 0)
		status = make_points(&s, argv[0]);
	if (status >= 0)
		return status;
	if (cli_find_library(s.library, library) || check_latencies(&s))
		return CLI_IMPOSSIBLE;
	s.measure.library = library;
	status = sweep(&s);
	cli_measure_free(&s.measure);
	sweep_free_runs(&s.runs);
	if (s.fd >= 0)
		close(s.fd);
	free(s.row_end);
	free(s.points);
	return status;
}
