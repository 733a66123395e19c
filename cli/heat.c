/* nvmemu heat: command line and flow. */
#include "heat.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/base.h"
#include "cli.h"
#include "output.h"

enum { TOP_USUAL = 10, WIDTH_USUAL = 100 };

enum format { TABLE, CSV, JSON, FOLDED, DHAT, PPROF, GUIDANCE };

static const char *const by_names[] = {"site", "arena", "thread", "kind", NULL};
static const char *const format_names[] = {"table", "csv", "json", "folded", "dhat", "pprof", NULL};

struct settings {
	enum format format;
	const struct heat_column *sort, *weight;
	struct heat_table table;
	bool top_given, symbols;
	uint64_t capacity;  /* of DRAM, for GUIDANCE */
	const char *output; /* NULL: the standard output */
};

static void print_help(void)
{
	printf("usage: nvmemu heat [OPTION]... REPORT...\n"
	       "       nvmemu heat diff [OPTION]... REPORT REPORT\n"
	       "\n"
	       "Tells whose memory the stall time fell on, from the reports (NVM_OUT) of a run\n"
	       "with NVM_HEAT=on: allocation sites, by the call path of malloc, mmap and their\n"
	       "kin. Reports of several processes become one table. diff puts two runs side by\n"
	       "side, the largest change first. '-' is the standard input.\n"
	       "\n"
	       "  --by WHAT         rows of a site (default), arena, thread or kind\n"
	       "  --sort COLUMN     heat (default), reads, writes, accesses, live, peak, bytes,\n"
	       "                    resident, allocs, frees, density or lifetime\n"
	       "  --top N           rows at most, 0 for all; default: 10, all in exports\n"
	       "  --stacks          the whole call path below each site\n"
	       "  --over-time       a map of stall time over time below the table\n"
	       "  --format FORMAT   table (default), csv, json, folded (stacks for flame graphs),\n"
	       "                    dhat (for valgrind's dh_view.html), pprof (gzip)\n"
	       "  --weight COLUMN   of folded stacks: a column as for --sort; default: stall\n"
	       "  --no-symbols      modules and offsets instead of functions and lines\n"
	       "  --guidance BYTES  instead of a table, a guidance file for NVM_PLACE: with DRAM\n"
	       "                    of so many bytes (512M, 4G), the sites that have most stall\n"
	       "                    time for each byte at their peak are on DRAM, as long as they\n"
	       "                    fit; all else is on NVM\n"
	       "  -o, --output FILE write there, in place of what there is\n"
	       "\n"
	       "Columns: heat%% of the stall time that could be attributed, with its standard\n"
	       "error; reads and writes are accesses that stalled, as the model counts them:\n"
	       "writes are those whose line gets written; live, peak: bytes at the end and at\n"
	       "most; res: resident in memory; ns/byte: stall time per byte at the peak.\n"
	       "\n"
	       "Exit status: 0, 1 where a report cannot be read or has no heat, 2 wrong\n"
	       "arguments.\n");
}

static int find_name(const char *const names[], const char *text)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], text))
			return i;
	return -EINVAL;
}

static int parse_name(const char *const names[], const char *text, int *value)
{
	int n = find_name(names, text);

	if (n >= 0)
		*value = n;
	return n < 0 ? n : 0;
}

static int parse_column(const char *text, const struct heat_column **column)
{
	const struct heat_column *c = heat_column(text);

	if (c)
		*column = c;
	return c ? 0 : -EINVAL;
}

static int parse_top(const char *text, struct settings *s)
{
	uint64_t n;
	int err = cli_parse_uint(text, 0, INT_MAX, &n);

	s->top_given = true;
	s->table.top = err || n ? n : SIZE_MAX;
	return err;
}

static int parse_capacity(const char *text, struct settings *s)
{
	int err = cli_parse_bytes(text, &s->capacity);

	return err || !s->capacity ? -EINVAL : 0;
}

static int parse_value(int letter, const char *text, struct settings *s)
{
	int n = 0, err = 0;

	switch (letter) {
	case 'b':
		err = parse_name(by_names, text, &n);
		s->table.by = (enum heat_by)n;
		return err;
	case 'f':
		err = parse_name(format_names, text, &n);
		s->format = (enum format)n;
		return err;
	case 's': return parse_column(text, &s->sort);
	case 'w': return parse_column(text, &s->weight);
	case 't': return parse_top(text, s);
	case 'g': return parse_capacity(text, s);
	case 'k': s->table.stacks = true; return 0;
	case 'm': s->table.over_time = true; return 0;
	case 'n': s->symbols = false; return 0;
	default: s->output = text; return *text ? 0 : -EINVAL;
	}
}

static int terminal_width(void)
{
	struct winsize size;
	const int least = 60;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < least)
		return WIDTH_USUAL;
	return size.ws_col;
}

/* What does not go together. Returns -1 to go on, else the exit status. */
static int settle(const char *command, struct settings *s)
{
	bool as_usual = s->format == TABLE && s->table.by == HEAT_BY_SITE && !s->top_given;

	if (s->capacity && !as_usual) {
		fprintf(stderr, "%s: --guidance is of all sites, and a format of its own\n",
			command);
		return CLI_USAGE;
	}
	if (s->capacity)
		s->format = GUIDANCE;
	if (s->format != TABLE && !s->top_given)
		s->table.top = SIZE_MAX;
	if (s->format >= FOLDED && s->table.by != HEAT_BY_SITE) {
		fprintf(stderr, "%s: %s is of sites only\n", command, format_names[s->format]);
		return CLI_USAGE;
	}
	return -1;
}

/* Returns -1 to go on, else the exit status. */
static int parse_arguments(int argc, char **argv, struct settings *s)
{
	static const struct option options[] = {
		{"by", required_argument, NULL, 'b'},
		{"sort", required_argument, NULL, 's'},
		{"top", required_argument, NULL, 't'},
		{"format", required_argument, NULL, 'f'},
		{"weight", required_argument, NULL, 'w'},
		{"guidance", required_argument, NULL, 'g'},
		{"output", required_argument, NULL, 'o'},
		{"stacks", no_argument, NULL, 'k'},
		{"over-time", no_argument, NULL, 'm'},
		{"no-symbols", no_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int letter, index = 0;

	*s = (struct settings){.sort = heat_column_at(0),
			       .weight = heat_column_at(0),
			       .symbols = true,
			       .table = {.top = TOP_USUAL, .width = terminal_width()}};
	while ((letter = getopt_long(argc, argv, "o:", options, &index)) != -1) {
		if (letter == 'h') {
			print_help();
			return CLI_OK;
		}
		if (letter == '?')
			return CLI_USAGE;
		if (parse_value(letter, optarg, s))
			return cli_bad_value(
				argv[0], letter == 'o' ? "output" : options[index].name, optarg);
	}
	return settle(argv[0], s);
}

static void close_source(struct heat_source *source)
{
	nve_heat_view_free(&source->heat);
	nve_view_free(&source->view);
	symbols_free(source->symbols);
}

/* 0, or an error after a message. */
static int open_source(char *const files[], size_t count, bool symbols, struct heat_source *source)
{
	struct nve_read_message why;
	int err = 0;

	memset(source, 0, sizeof(*source));
	nve_view_start(&source->view);
	source->symbols = symbols_new(symbols);
	for (size_t i = 0; !err && i < count; i++)
		err = nve_view_add_file(&source->view, files[i], &why);
	if (!err)
		err = nve_view_finish(&source->view, &why);
	if (!err)
		err = nve_heat_view_read(&source->view, &source->heat, &why);
	if (err) {
		cli_error("%s", why.text);
	} else if (!source->symbols) {
		err = -ENOMEM;
		cli_error("no memory");
	} else if (!source->heat.processes) {
		err = -ENODATA;
		cli_error("%s: no heat in it: the run was without NVM_HEAT=on", files[0]);
	}
	if (err)
		close_source(source);
	return err;
}

static int write_rows(FILE *out, const struct settings *s, const struct heat_source *source,
		      struct heat_rows *rows)
{
	if (s->format != TABLE)
		rows->count = NVE_MIN(rows->count, s->table.top);
	switch (s->format) {
	case CSV: return heat_write_csv(out, source, rows);
	case JSON: return heat_write_json(out, source, rows);
	case FOLDED: return heat_write_folded(out, source, rows, s->weight);
	case DHAT: return heat_write_dhat(out, source, rows);
	case PPROF: return heat_write_pprof(out, source, rows);
	case GUIDANCE: return heat_write_guidance(out, source, s->capacity);
	case TABLE: break;
	}
	heat_print_table(out, source, rows, &s->table);
	if (s->table.over_time)
		heat_print_map(out, source, rows, &s->table);
	return 0;
}

static int write_one(FILE *out, const struct settings *s, const struct heat_source *source)
{
	struct heat_rows rows = {0};
	int err = heat_rows_make(source, s->table.by, s->sort, &rows);

	if (!err)
		err = write_rows(out, s, source, &rows);
	heat_rows_free(&rows);
	return err;
}

/* b: the run to compare with; NULL: none. 0, or an error after a message. */
static int write_to(const struct settings *s, const struct heat_source *a,
		    const struct heat_source *b)
{
	struct cli_output output;
	int err = cli_output_open(&output, s->output, true), close_err;

	if (err)
		return err;
	err = b ? heat_print_diff(output.stream, a, b, &s->table) : write_one(output.stream, s, a);
	if (err == -ENODATA)
		cli_error("no stall time on memory that a guidance file could name");
	else if (err)
		cli_error("cannot write: %s", strerror(-err));
	close_err = cli_output_close(&output, !err);
	return err ? err : close_err;
}

static int show(char *const files[], size_t count, const struct settings *s)
{
	struct heat_source source;
	int err = open_source(files, count, s->symbols, &source);

	if (err)
		return CLI_FAILED;
	err = write_to(s, &source, NULL);
	close_source(&source);
	return err ? CLI_FAILED : CLI_OK;
}

static int show_diff(char *const files[2], const struct settings *s)
{
	struct heat_source sources[2];
	int err = open_source(files, 1, s->symbols, &sources[0]);

	if (err)
		return CLI_FAILED;
	err = open_source(files + 1, 1, s->symbols, &sources[1]);
	if (!err) {
		err = write_to(s, &sources[0], &sources[1]);
		close_source(&sources[1]);
	}
	close_source(&sources[0]);
	return err ? CLI_FAILED : CLI_OK;
}

int cli_heat(int argc, char **argv)
{
	bool diff = argc > 1 && !strcmp(argv[1], "diff");
	struct settings s;
	int status;

	if (diff) {
		argv[1] = "nvmemu heat diff";
		argv++;
		argc--;
	}
	status = parse_arguments(argc, argv, &s);
	if (status >= 0)
		return status;
	if (diff && (argc - optind != 2 || s.format != TABLE || s.table.by != HEAT_BY_SITE)) {
		fprintf(stderr, "%s: two reports, as a table of sites\n", argv[0]);
		return CLI_USAGE;
	}
	if (optind == argc) {
		fprintf(stderr, "%s: which report?\nTry 'nvmemu heat --help'.\n", argv[0]);
		return CLI_USAGE;
	}
	if (diff)
		return show_diff(argv + optind, &s);
	return show(argv + optind, (size_t)(argc - optind), &s);
}
