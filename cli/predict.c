/* nvmemu predict: command line, and the run that is predicted from. */
#include "predict.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cli.h"
#include "output.h"
#include "report/predict_load.h"

enum { REPEAT = 3 };

/* Of the delay owed in the recorded run: so far it may be from what its latencies explain. */
#define OWED_TOLERANCE    0.001
#define OWED_TOLERANCE_NS 100000

struct arguments {
	struct predict_points points;
	enum predict_by by;
	const char *file, *csv, *svg, *library;
	struct cli_measure measure;
	struct predict_check check;
};

static void print_help(void)
{
	printf("usage: nvmemu predict FILE [OPTION]... [-- PROGRAM [ARGUMENT]...]\n"
	       "\n"
	       "From one recorded run (a file of NVM_RECORD; or a report, of NVM_OUT), predicts "
	       "what\n"
	       "the program would take at other latencies: CPU time with its uncertainty, and "
	       "the\n"
	       "wall time within bounds. Nothing is run, unless with --check.\n"
	       "\n"
	       "  --rlat LIST     read latencies in ns: 300, or FROM:TO:STEP, or several with\n"
	       "                  commas; 'dram' is DRAM's own; default: dram\n"
	       "  --wlat LIST     write latencies, the same\n"
	       "  --by WHAT       rows of the table: process (default), thread or region\n"
	       "  --csv FILE      write all of it to FILE as CSV, '-' for standard output\n"
	       "  --svg FILE      draw it: contours where both latencies vary, else a line\n"
	       "  --check N       run the program emulated at N of the points, and as it was\n"
	       "                  recorded, in turns, and print the errors\n"
	       "  --repeat N      runs of each with --check; default: %d\n"
	       "  --target P      error in per cent that is still good with --check; default: 3\n"
	       "  --input FILE, --show-output, --ignore-failure, --lib FILE\n"
	       "                  of the runs with --check, as of nvmemu sweep\n"
	       "\n"
	       "Record near the latencies that you ask for, where delay pays for estimates and "
	       "the\n"
	       "program's share of the caches is what it will be there; NVM_BUDGET=10%% makes "
	       "those\n"
	       "of a short run more certain.\n"
	       "\n"
	       "Limits of bandwidth are not predicted; what is placed on DRAM owes nothing, as in\n"
	       "the recorded run.\n"
	       "\n"
	       "Exit status: 0 success, 1 the file is no such record or report, or a check is\n"
	       "beyond the target, or the program failed, 2 wrong arguments, or a latency below\n"
	       "DRAM's, 125 emulation is impossible, 126 or 127 the program cannot be started, "
	       "130\n"
	       "interrupted.\n",
	       REPEAT);
}

static int parse_by(const char *text, enum predict_by *by)
{
	static const char *const names[] = {
		[PREDICT_BY_PROCESS] = "process",
		[PREDICT_BY_THREAD] = "thread",
		[PREDICT_BY_REGION] = "region",
	};

	for (size_t i = 0; i < NVE_ARRAY_SIZE(names); i++) {
		if (strcmp(text, names[i]))
			continue;
		*by = (enum predict_by)i;
		return 0;
	}
	return -EINVAL;
}

static int parse_value(int letter, const char *text, struct arguments *a)
{
	switch (letter) {
	case 'r': return cli_parse_latencies(text, &a->points.rlat);
	case 'w': return cli_parse_latencies(text, &a->points.wlat);
	case 'b': return parse_by(text, &a->by);
	case 'k': return cli_parse_uint(text, 1, CLI_POINTS_MAX, &a->check.points);
	case 'n': return cli_parse_uint(text, 1, 100000, &a->check.rounds);
	case 't': return cli_parse_positive(text, &a->check.target_percent);
	case 'c': a->csv = text; return 0;
	case 's': a->svg = text; return 0;
	case 'i': a->measure.input = text; return 0;
	case 'o': a->measure.show_output = true; return 0;
	case 'g': a->measure.ignore_failure = true; return 0;
	default: a->library = text; return 0;
	}
}

static int complain(const char *command, const char *what)
{
	fprintf(stderr, "%s: %s\nTry '%s --help'.\n", command, what, command);
	return CLI_USAGE;
}

/* What stands behind "--" is the program. */
static int parse_rest(int argc, char **argv, struct arguments *a)
{
	if (!a->file)
		return complain(argv[0], "which file?");
	if (optind < argc && !a->check.points)
		return complain(argv[0], "a program is for --check alone");
	if (optind == argc && a->check.points)
		return complain(argv[0], "--check: which program? It stands behind '--'");
	a->measure.argv = argv + optind;
	return -1;
}

/* Returns -1 to go on, else the exit status. */
static int parse_arguments(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = {
		{"rlat", required_argument, NULL, 'r'},
		{"wlat", required_argument, NULL, 'w'},
		{"by", required_argument, NULL, 'b'},
		{"check", required_argument, NULL, 'k'},
		{"repeat", required_argument, NULL, 'n'},
		{"target", required_argument, NULL, 't'},
		{"csv", required_argument, NULL, 'c'},
		{"svg", required_argument, NULL, 's'},
		{"input", required_argument, NULL, 'i'},
		{"show-output", no_argument, NULL, 'o'},
		{"ignore-failure", no_argument, NULL, 'g'},
		{"lib", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int letter, index = 0;

	/* '-': words that are no options come in their place, as letter 1. */
	while ((letter = getopt_long(argc, argv, "-", options, &index)) != -1) {
		if (letter == 'h') {
			print_help();
			return CLI_OK;
		}
		if (letter == '?')
			return CLI_USAGE;
		if (letter == 1 && a->file) {
			fprintf(stderr, "%s: unexpected argument '%s'\n", argv[0], optarg);
			return CLI_USAGE;
		}
		if (letter == 1)
			a->file = optarg;
		else if (parse_value(letter, optarg, a))
			return cli_bad_value(argv[0], options[index].name, optarg);
	}
	return parse_rest(argc, argv, a);
}

/* Returns -1 to go on, else the exit status. */
static int make_points(struct predict_points *points, const char *command)
{
	const struct cli_latencies *r = &points->rlat, *w = &points->wlat;
	size_t count = r->count * w->count;

	if (count <= CLI_POINTS_MAX)
		points->points = calloc(count + 1, sizeof(*points->points));
	if (!points->points) {
		fprintf(stderr, "%s: %zu points are too many\n", command, count);
		return CLI_USAGE;
	}
	points->count = 1;
	for (size_t i = 0; i < r->count; i++)
		for (size_t j = 0; j < w->count; j++)
			if (r->ps[i] || w->ps[j])
				points->points[points->count++] =
					(struct cli_point){r->ps[i], w->ps[j]};
	if (points->count > 1)
		return -1;
	return complain(command, "at which latencies? give --rlat or --wlat");
}

static int from_record(struct nve_predict *p, const char *path, const uint8_t *data, size_t size)
{
	struct nve_replay_error error;
	int rc = nve_predict_from_record(p, data, size, &error);

	if (rc)
		cli_error("%s: %s", path, error.text);
	return rc;
}

/* A report of several processes: which of them would be a guess. */
static int from_process(struct nve_predict *p, const char *path, const struct nve_view *view)
{
	int rc;

	if (view->count != 1) {
		cli_error("%s: a report of %zu processes; give that of one, or a record", path,
			  view->count);
		return -EINVAL;
	}
	rc = nve_predict_from_view(p, &view->processes[0]);
	if (rc == -ENODATA)
		cli_error("%s: the process was not emulated, nothing is known of it", path);
	else if (rc)
		cli_error("%s: %s", path, strerror(-rc));
	return rc;
}

static int from_report(struct nve_predict *p, const char *path, const uint8_t *data, size_t size)
{
	struct nve_read_message why;
	struct nve_view view;
	int rc;

	nve_view_start(&view);
	rc = nve_view_add_text(&view, path, (const char *)data, size, &why);
	if (!rc)
		rc = nve_view_finish(&view, &why);
	if (rc)
		cli_error("%s", why.text);
	else
		rc = from_process(p, path, &view);
	nve_view_free(&view);
	return rc;
}

/* Text is a report; what is neither is told to be no record. */
static bool looks_like_text(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!strchr(" \t\r\n", data[i]))
			return data[i] == '{';
	return false;
}

static int load(struct nve_predict *p, const char *path)
{
	struct nve_replay_error error;
	uint8_t *data;
	size_t size;
	int rc = nve_replay_read_file(path, &error, &data, &size);

	if (rc) {
		cli_error("%s: %s", path, error.text);
		return rc;
	}
	if (looks_like_text(data, size))
		rc = from_report(p, path, data, size);
	else
		rc = from_record(p, path, data, size);
	nve_replay_free_file(data, size);
	return rc;
}

/* What the reader must know of the record before believing. */
static void tell(const struct nve_predict *p, const char *path)
{
	struct nve_predict_point point = {p->rlat_ns, p->wlat_ns};
	double owed_ns = nve_predict_cpu(p, point).delay_ns;

	if (!p->complete)
		cli_note("%s ends before its process did: the prediction is of the part that was "
			 "recorded",
			 path);
	if (p->bandwidth)
		cli_note("%s: the run had a limit of bandwidth, which is not predicted: without it "
			 "the program is as predicted, with it no faster",
			 path);
	if (fabs(owed_ns - p->owed_ns) > fmax(OWED_TOLERANCE * p->owed_ns, OWED_TOLERANCE_NS))
		cli_note(
			"%s: the run owed %.3f s of delay, its latencies explain %.3f s: something "
			"else took part (bandwidth, regions), and is not predicted",
			path, p->owed_ns * 1e-9, owed_ns * 1e-9);
}

static int
print_to(const char *path, const struct nve_predict *p, const struct predict_points *points,
	 void (*print)(FILE *out, const struct nve_predict *p, const struct predict_points *points))
{
	struct cli_output output;
	int rc = cli_output_open(&output, path, true);

	if (rc)
		return rc;
	print(output.stream, p, points);
	return cli_output_close(&output, true);
}

static int check(struct arguments *a, const struct nve_predict *p)
{
	char library[PATH_MAX];
	int status;

	if (cli_find_library(a->library, library))
		return CLI_IMPOSSIBLE;
	a->measure.library = library;
	a->check.measure = &a->measure;
	cli_catch_interrupts();
	status = predict_check(&a->check, p, &a->points);
	cli_measure_free(&a->measure);
	return status;
}

static int predict(struct arguments *a, const struct nve_predict *p)
{
	uint64_t dram_ps = (uint64_t)(p->dram_lat_ns * 1e3 + 0.5);
	int rc = 0;

	if (cli_check_latencies("rlat", &a->points.rlat, dram_ps, "the recorded run's") ||
	    cli_check_latencies("wlat", &a->points.wlat, dram_ps, "the recorded run's"))
		return CLI_USAGE;
	tell(p, a->file);
	if (!a->csv || strcmp(a->csv, "-"))
		predict_print_text(stdout, p, &a->points, a->by);
	if (a->csv)
		rc = print_to(a->csv, p, &a->points, predict_print_csv);
	if (!rc && a->svg)
		rc = print_to(a->svg, p, &a->points, predict_print_svg);
	if (rc)
		return CLI_FAILED;
	return a->check.points ? check(a, p) : CLI_OK;
}

int cli_predict(int argc, char **argv)
{
	static struct arguments a = {.points = {.rlat.count = 1, .wlat.count = 1},
				     .check = {.rounds = REPEAT, .target_percent = 3}};
	struct nve_predict p;
	int status = parse_arguments(argc, argv, &a);

	if (status < 0)
		status = make_points(&a.points, argv[0]);
	if (status >= 0)
		return status;
	status = CLI_FAILED;
	if (!load(&p, a.file)) {
		status = predict(&a, &p);
		nve_predict_free(&p);
	}
	free(a.points.points);
	return status;
}
