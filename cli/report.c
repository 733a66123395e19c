/* nvmemu report: reads reports, merges them, and shows them in one of several forms. */
#include "report.h"

#include <getopt.h>
#include <string.h>

#include "base/base.h"
#include "cli.h"
#include "output.h"
#include "report/run.h"

static const struct {
	const char *name;
	int (*write)(FILE *out, const struct nve_view *view);
} formats[] = {
	{"text", report_write_text},
	{"json", report_write_json},
	{"csv", report_write_csv},
	{"html", report_write_html},
};

struct arguments {
	size_t format; /* index */
	const char *output;
	bool force;
	char **files;
	int count;
};

static void print_help(void)
{
	printf("usage: nvmemu report [OPTION]... FILE...\n"
	       "\n"
	       "Shows reports: of single processes as the library writes them (NVM_OUT), and of "
	       "runs\n"
	       "as 'nvmemu run' writes them. Several files are taken for parts of one run "
	       "(children,\n"
	       "MPI ranks) and merged. '-' is the standard input.\n"
	       "\n"
	       "      --format FORM  text (the default), json (all processes in one document,\n"
	       "                     whole), csv (a row for the run, each process, each thread,\n"
	       "                     then for regions, allocation sites, and what is on NVM),\n"
	       "                     html (one page with charts, which needs no network)\n"
	       "  -o, --output FILE  write there instead of to the standard output; the file is\n"
	       "                     there whole or not at all\n"
	       "  -f, --force        replace FILE if it exists\n"
	       "\n"
	       "Exit status: 0 success, 1 a file cannot be read or written, or is no report, 2 "
	       "wrong\n"
	       "arguments.\n");
}

int report_write_json(FILE *out, const struct nve_view *view)
{
	const struct nve_report_sink sink = cli_stream_sink(out);

	return nve_run_write(view, &sink);
}

static int parse_format(const char *text, size_t *format)
{
	for (size_t i = 0; i < NVE_ARRAY_SIZE(formats); i++) {
		if (strcmp(text, formats[i].name))
			continue;
		*format = i;
		return 0;
	}
	return -1;
}

static int parse_arguments(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = {
		{"format", required_argument, NULL, 'F'},
		{"output", required_argument, NULL, 'o'},
		{"force", no_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int letter;

	*a = (struct arguments){0};
	while ((letter = getopt_long(argc, argv, "o:f", options, NULL)) != -1) {
		switch (letter) {
		case 'F':
			if (parse_format(optarg, &a->format))
				return cli_bad_value(argv[0], "format", optarg);
			break;
		case 'o': a->output = optarg; break;
		case 'f': a->force = true; break;
		case 'h': print_help(); return CLI_OK;
		default: return CLI_USAGE;
		}
	}
	a->files = argv + optind;
	a->count = argc - optind;
	if (a->count)
		return -1;
	fprintf(stderr, "%s: which report?\nTry '%s --help'.\n", argv[0], argv[0]);
	return CLI_USAGE;
}

static int read_files(struct nve_view *view, const struct arguments *a)
{
	struct nve_read_message why;
	int err = 0;

	for (int i = 0; i < a->count && !err; i++)
		err = nve_view_add_file(view, a->files[i], &why);
	if (!err)
		err = nve_view_finish(view, &why);
	if (err)
		cli_error("%s", why.text);
	return err;
}

static int write_report(const struct nve_view *view, const struct arguments *a)
{
	struct cli_output output;
	int err = cli_output_open(&output, a->output, a->force), close_err;

	if (err)
		return err;
	err = formats[a->format].write(output.stream, view);
	/* of the standard output main tells, with the reason */
	if (err && output.path)
		cli_error("cannot make the report: %s", strerror(-err));
	close_err = cli_output_close(&output, !err);
	return err ? err : close_err;
}

int cli_report(int argc, char **argv)
{
	struct arguments a;
	struct nve_view view;
	int status = parse_arguments(argc, argv, &a), err;

	if (status >= 0)
		return status;
	nve_view_start(&view);
	err = read_files(&view, &a);
	if (!err)
		err = write_report(&view, &a);
	nve_view_free(&view);
	return err ? CLI_FAILED : CLI_OK;
}
