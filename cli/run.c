/* nvmemu run: a program under the library, with checks before and a summary after. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attend.h"
#include "base/base.h"
#include "base/options.h"
#include "cli.h"
#include "enter.h"
#include "facts.h"
#include "gather.h"
#include "output.h"
#include "report.h"
#include "report/outfile.h"
#include "report/run.h"
#include "settings.h"

struct arguments {
	bool quiet;
	const char *library;
	char **program;
};

/* What is known of a run, from its beginning to its end. */
struct run {
	struct arguments arguments;
	struct nve_options options;
	char library[PATH_MAX];
	char *command; /* the program's words, quoted */
	time_t started_at;
	struct cli_attendance attendance;
	struct cli_gather gather;
	struct cli_child child;
	pid_t pid; /* of the program, also when it has ended */
	struct cli_end end;
	struct nve_view view;
};

static void print_help(void)
{
	printf("usage: nvmemu run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	       "\n"
	       "Runs the program as if its memory were slower: --wlat 300 -- ./app. Checks first\n"
	       "whether this machine can do it; passes signals on; ends as the program does; says\n"
	       "afterwards, on stderr, what was emulated. Children are followed, and all reports\n"
	       "merged into one.\n"
	       "\n"
	       "  -o ...              as --out: the file for the report of the whole run; it is "
	       "never\n"
	       "                      replaced, where it exists the report gets a number\n"
	       "  -q, --quiet         no summary\n"
	       "      --lib FILE      another libnvmemu.so than that of this installation\n"
	       "\n"
	       "Each variable of the library is an option, which has precedence (what follows in\n"
	       "brackets is the default; switches take their value after a '=' alone):\n");
	cli_settings_print_help(stdout);
	printf("\n"
	       "Exit status: the program's; if a signal has killed it, nvmemu dies by the same. 2\n"
	       "wrong arguments; 125 a bad value, emulation is impossible here, or the program "
	       "did\n"
	       "well but its report cannot be written; 126 the program cannot be executed, 127 "
	       "there\n"
	       "is no such program.\n");
}

static int take_option(int letter, const char *command, struct arguments *a)
{
	if (letter >= CLI_SETTINGS_LETTER)
		return cli_settings_take(letter, optarg) ? CLI_IMPOSSIBLE : -1;
	switch (letter) {
	case 'o': return setenv("NVM_OUT", optarg, 1) ? CLI_IMPOSSIBLE : -1;
	case 'q': a->quiet = true; return -1;
	case 'l': a->library = optarg; return -1;
	case 'h': print_help(); return CLI_OK;
	default: fprintf(stderr, "Try '%s --help'.\n", command); return CLI_USAGE;
	}
}

static int parse_arguments(int argc, char **argv, struct arguments *a)
{
	static const struct option own[] = {
		{"quiet", no_argument, NULL, 'q'},
		{"lib", required_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},
	};
	struct option *options = cli_settings_options(own, NVE_ARRAY_SIZE(own));
	int letter, status = options ? -1 : CLI_IMPOSSIBLE;

	*a = (struct arguments){0};
	/* "+": what follows the program's name is the program's */
	while (status < 0 && (letter = getopt_long(argc, argv, "+o:q", options, NULL)) != -1)
		status = take_option(letter, argv[0], a);
	free(options);
	if (status >= 0)
		return status;
	a->program = argv + optind;
	if (optind < argc)
		return -1;
	fprintf(stderr, "%s: which program?\nTry '%s --help'.\n", argv[0], argv[0]);
	return CLI_USAGE;
}

/* The file that a program's name stands for, as execvp finds it. */
static bool find_program(const char *name, char path[PATH_MAX])
{
	const char *places = cli_variable("PATH");
	struct stat st;

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	for (places = places ? places : "/bin:/usr/bin"; places; places = strchr(places, ':')) {
		int length;

		places += *places == ':';
		length = (int)strcspn(places, ":");
		if (snprintf(path, PATH_MAX, "%.*s/%s", length ? length : 1, length ? places : ".",
			     name) >= PATH_MAX)
			continue;
		if (!access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode))
			return true;
	}
	return false;
}

/* A preloaded library gets into it; what cannot be found or read, exec tells of. */
static int check_program(const char *name)
{
	char path[PATH_MAX];

	if (!find_program(name, path) || nve_enter_file(path))
		return 0;
	cli_error("emulation is impossible: %s is a static program, or not one of 64 bits, or has "
		  "its owner's rights: no library can be preloaded",
		  path);
	return -ENOTSUP;
}

/* The directory of the report is there, and may be written to: the run may take hours. */
static int check_place(const char *pattern)
{
	char directory[NVE_PATH_BYTES];
	char *slash;
	int err;

	snprintf(directory, sizeof(directory), "%s", pattern);
	slash = strrchr(directory, '/');
	if (slash)
		slash[slash == directory] = '\0';
	if (strchr(directory, '%') || !access(slash ? directory : ".", W_OK | X_OK))
		return 0;
	err = -errno;
	cli_error("NVM_OUT: no report can be written to %s: %s", pattern, strerror(-err));
	return err;
}

static int check_machine(const struct nve_options *options)
{
	static struct cli_facts facts;
	static struct nve_assessment a;

	/* With a record nothing is counted, and the latencies are those of its machine; nor is
	 * anything where memory is only bound. */
	if (options->counters == NVE_COUNTERS_REPLAY || !nve_options_measure(options))
		return 0;
	cli_facts_gather(options, &facts);
	nve_assess(&facts.machine, &a);
	for (size_t i = 0; i < a.count; i++) {
		const struct nve_finding *f = &a.findings[i];

		if (f->severity == NVE_SEVERITY_IMPOSSIBLE)
			cli_error("emulation is impossible: %s: %s%s%s", f->subject, f->text,
				  f->mend[0] ? "; " : "", f->mend);
	}
	return a.severity == NVE_SEVERITY_IMPOSSIBLE ? -ENOTSUP : 0;
}

/* -1: go on; else the exit status. */
static int check(struct run *run, const char *command)
{
	struct nve_options_message error, warning;

	if (nve_options_parse(&run->options, environ, &error, &warning)) {
		cli_error("%s", error.text);
		return CLI_IMPOSSIBLE;
	}
	if (*warning.text)
		cli_note("%s", warning.text);
	if (!nve_options_measure(&run->options) && !nve_options_bind(&run->options)) {
		fprintf(stderr,
			"%s: what is to be emulated? --rlat, --wlat or --device says so; "
			"or --heat=on, what is to be measured; or --bind, where memory goes.\n",
			command);
		return CLI_USAGE;
	}
	if (cli_find_library(run->arguments.library, run->library) ||
	    check_place(run->options.out) || check_program(run->arguments.program[0]) ||
	    check_machine(&run->options))
		return CLI_IMPOSSIBLE;
	return -1;
}

static void put_word(FILE *f, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "%+,-./:=@_^";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, f);
		return;
	}
	putc('\'', f);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\'", f);
		putc(*word, f);
	}
	putc('\'', f);
}

/* As a shell would take them. */
static char *quote_words(char **words)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (char **w = words; *w; w++) {
		if (w > words)
			putc(' ', f);
		put_word(f, *w);
	}
	return fclose(f) ? NULL : text;
}

static int start(struct run *run)
{
	const struct cli_setting settings[] = {{"NVM_OUT", run->gather.pattern}};
	const struct cli_launch launch = {
		.argv = run->arguments.program,
		.library = run->library,
		.settings = settings,
		.setting_count = NVE_ARRAY_SIZE(settings),
		.in = -1,
		.out = -1,
		.err = -1,
		.dies_with_us = true,
		.mask = &run->attendance.mask,
		.on_child = &run->attendance.on_child,
	};
	int err;

	run->started_at = time(NULL);
	err = cli_launch(&launch, &run->child);
	run->pid = run->child.pid;
	if (err)
		cli_error("cannot run %s: %s", run->arguments.program[0], strerror(-err));
	return err;
}

static int produce(void *ctx, const struct nve_report_sink *sink)
{
	return nve_run_write(ctx, sink);
}

/* To a device or pipe of that name. */
static int write_special(const struct run *run, char path[NVE_FILE_PATH_BYTES])
{
	struct cli_output output;
	int err = cli_output_open(&output, run->options.out, false);

	if (err)
		return err;
	err = report_write_json(output.stream, &run->view);
	if (cli_output_close(&output, !err))
		return -EIO;
	if (!err)
		snprintf(path, NVE_FILE_PATH_BYTES, "%s", run->options.out);
	return err;
}

/* The report of the run; path gets its name, or stays empty. 0, or -errno after a message. */
static int write_report(struct run *run, char path[NVE_FILE_PATH_BYTES])
{
	static struct nve_outfile file;
	const char *pattern = run->options.out;
	const struct nve_view_process *first = &run->view.processes[0];
	char *cwd = getcwd(NULL, 0);
	const struct nve_outfile_words words = {
		.pid = first->pid,
		.root = true,
		.program = first->program,
		.host = first->host,
		.started_at_s = (uint64_t)run->started_at,
		.cwd = cwd ? cwd : ".",
	};
	bool moved = false;
	int err = nve_outfile_name(&file, pattern, &words);

	if (!err)
		err = nve_outfile_write(&file, produce, &run->view, path, &moved);
	free(cwd);
	if (err) {
		cli_error("NVM_OUT: no report, %s: %s; those of the single processes are in %s",
			  pattern, strerror(-err), run->gather.directory);
		path[0] = '\0';
	} else if (moved) {
		cli_note("NVM_OUT: %s exists, the report is %s", pattern, path);
	}
	return err;
}

static bool has_process(const struct nve_view *view, pid_t pid)
{
	for (size_t i = 0; i < view->count; i++)
		if (view->processes[i].pid == pid)
			return true;
	return false;
}

static void note_run(struct run *run)
{
	int status = run->end.status;

	run->view.run = (struct nve_view_run){
		.known = true,
		.command = run->command ? run->command : "",
		.started_at_s = (uint64_t)run->started_at,
		.wall_ns = run->end.wall_ns,
		.status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status),
	};
}

/* Reads and writes what the processes have left. 0 or -errno. */
static int tell(struct run *run)
{
	static char path[NVE_FILE_PATH_BYTES];
	struct nve_read_message why;
	int err, write_err = 0;

	nve_view_start(&run->view);
	err = cli_gather_read(&run->gather, &run->view, &why);
	if (!err) {
		note_run(run);
		if (cli_output_is_special(run->options.out))
			write_err = write_special(run, path);
		else if (run->options.out[0])
			write_err = write_report(run, path);
		if (!run->arguments.quiet)
			report_write_summary(stderr, &run->view, *path ? path : NULL);
	} else if (run->options.out[0] || !run->arguments.quiet) {
		cli_error("no report: %s%s", why.text,
			  WIFSIGNALED(run->end.status)
				  ? ": a program that a signal has killed writes none"
				  : "");
	}
	if (!err && !has_process(&run->view, run->pid) && !run->arguments.quiet)
		cli_note("of process %d itself there is no report: these are of its children",
			 (int)run->pid);
	if (run->gather.running && !run->arguments.quiet)
		cli_note("%zu processes still run: their reports will be in %s",
			 run->gather.running, run->gather.directory);
	nve_view_free(&run->view);
	cli_gather_end(&run->gather, write_err || run->gather.running);
	return write_err || (err && run->options.out[0]) ? -EIO : 0;
}

int cli_run(int argc, char **argv)
{
	static struct run run;
	int status = parse_arguments(argc, argv, &run.arguments), err;

	if (status < 0)
		status = check(&run, argv[0]);
	if (status >= 0)
		return status;
	cli_attend_begin(&run.attendance);
	if (cli_gather_begin(&run.gather))
		return CLI_IMPOSSIBLE;
	run.command = quote_words(run.arguments.program);
	err = start(&run);
	if (err) {
		cli_gather_end(&run.gather, false);
		return cli_launch_failure(err);
	}
	err = cli_attend(&run.child, &run.end);
	if (!err)
		err = tell(&run);
	free(run.command);
	status = cli_attend_finish(&run.attendance, run.end.status);
	return status || !err ? status : CLI_IMPOSSIBLE;
}
