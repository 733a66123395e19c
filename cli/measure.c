#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "cli.h"

enum { TAIL_BYTES = 2000, SETTINGS = 24, LINE_BYTES = 512, BAR = 24 };

static const char prefix[] = "nvmemu: ";

static void describe(const struct cli_run *run, char *text, size_t size)
{
	char read[CLI_LATENCY_BYTES], write[CLI_LATENCY_BYTES];

	cli_format_latency(run->point.rlat_ps, "DRAM's", read);
	cli_format_latency(run->point.wlat_ps, "DRAM's", write);
	if (run->emulated)
		snprintf(text, size, "read %s, write %s ns", read, write);
	else
		snprintf(text, size, "native");
}

/* Shows a line of the library's, if it is new. */
static void show_once(struct cli_measure *m, const char *line)
{
	for (size_t i = 0; i < m->said_count; i++)
		if (!strcmp(m->said[i], line))
			return;
	if (m->said_count < CLI_MEASURE_SAID && (m->said[m->said_count] = strdup(line)))
		m->said_count++;
	cli_show_progress(NULL, 0, 0, 0);
	fputs(line, stderr);
}

static void show_library(struct cli_measure *m, FILE *said)
{
	char line[LINE_BYTES];

	rewind(said);
	while (fgets(line, sizeof(line), said))
		if (!strncmp(line, prefix, strlen(prefix)))
			show_once(m, line);
}

static void show_tail(FILE *said)
{
	char text[TAIL_BYTES + 1];
	size_t length;
	long size;

	if (fseek(said, 0, SEEK_END) || (size = ftell(said)) <= 0)
		return;
	if (fseek(said, size > TAIL_BYTES ? size - TAIL_BYTES : 0, SEEK_SET))
		return;
	length = fread(text, 1, TAIL_BYTES, said);
	fwrite(text, 1, length, stderr);
	if (length && text[length - 1] != '\n')
		fputc('\n', stderr);
}

static bool says_error(FILE *said)
{
	static const char error[] = "nvmemu: error: ";
	char line[LINE_BYTES];

	rewind(said);
	while (fgets(line, sizeof(line), said))
		if (!strncmp(line, error, strlen(error)))
			return true;
	return false;
}

/* The library ends a program that it cannot emulate with status 125. */
static int judge(struct cli_measure *m, const struct cli_run *run, int status, FILE *said)
{
	char what[128];

	if (said && run->emulated)
		show_library(m, said);
	if (run->emulated && WIFEXITED(status) && WEXITSTATUS(status) == CLI_IMPOSSIBLE &&
	    (!said || says_error(said)))
		return -ENOTSUP;
	if (!status || m->ignore_failure)
		return 0;
	cli_show_progress(NULL, 0, 0, 0);
	describe(run, what, sizeof(what));
	if (WIFSIGNALED(status))
		cli_error("%s was killed by signal %d (%s), %s", m->argv[0], WTERMSIG(status),
			  strsignal(WTERMSIG(status)), what);
	else
		cli_error("%s ended with status %d, %s; --ignore-failure goes on", m->argv[0],
			  WEXITSTATUS(status), what);
	if (said)
		show_tail(said);
	return -ECHILD;
}

static int open_files(const struct cli_measure *m, struct cli_launch *launch, FILE **said)
{
	const char *input = m->input ? m->input : "/dev/null";

	*said = NULL;
	launch->in = open(input, O_RDONLY | O_CLOEXEC);
	if (launch->in < 0) {
		cli_error("cannot read %s: %m", input);
		return -errno;
	}
	if (m->show_output)
		return 0;
	launch->out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	launch->err = memfd_create("stderr", MFD_CLOEXEC);
	if (launch->err >= 0)
		*said = fdopen(launch->err, "r");
	if (launch->out >= 0 && *said)
		return 0;
	cli_error("no place for the program's output: %m");
	return -EIO;
}

static void close_files(const struct cli_launch *launch, FILE *said)
{
	close(launch->in);
	if (launch->out >= 0)
		close(launch->out);
	if (said)
		fclose(said);
	else if (launch->err >= 0)
		close(launch->err);
}

static int run_to_end(struct cli_measure *m, const struct cli_launch *launch, struct cli_end *end)
{
	struct cli_child child;
	int rc = cli_launch(launch, &child);

	if (rc) {
		cli_show_progress(NULL, 0, 0, 0);
		cli_error("cannot start %s: %s", m->argv[0], strerror(-rc));
		return rc;
	}
	rc = cli_launch_wait(&child, end);
	if (rc == -EINTR)
		cli_launch_stop(&child);
	/* Ctrl-C goes to both, and the program may be the first to end. */
	return cli_interrupted ? -EINTR : rc;
}

static size_t fill_settings(const struct cli_run *run, struct cli_setting settings[SETTINGS],
			    char latencies[2][CLI_LATENCY_BYTES])
{
	const struct cli_point *p = &run->point;
	size_t n = 0;

	if (!run->emulated)
		return 0;
	cli_format_latency(p->rlat_ps, "", latencies[0]);
	cli_format_latency(p->wlat_ps, "", latencies[1]);
	settings[n++] = (struct cli_setting){"NVM_RLAT", p->rlat_ps ? latencies[0] : NULL};
	settings[n++] = (struct cli_setting){"NVM_WLAT", p->wlat_ps ? latencies[1] : NULL};
	settings[n++] = (struct cli_setting){"NVM_DEVICE", NULL};
	settings[n++] = (struct cli_setting){"NVM_STRICT", "on"};
	for (size_t i = 0; i < run->setting_count && n < SETTINGS; i++)
		settings[n++] = run->settings[i];
	return n;
}

int cli_measure_run(struct cli_measure *m, const struct cli_run *run, struct cli_end *end)
{
	struct cli_setting settings[SETTINGS];
	char latencies[2][CLI_LATENCY_BYTES];
	struct cli_launch launch = {
		.argv = m->argv,
		.library = run->emulated ? m->library : NULL,
		.settings = settings,
		.setting_count = fill_settings(run, settings, latencies),
		.in = -1,
		.out = -1,
		.err = -1,
		.dies_with_us = true,
	};
	FILE *said;
	int rc;

	if (cli_interrupted)
		return -EINTR;
	rc = open_files(m, &launch, &said);
	if (!rc)
		rc = run_to_end(m, &launch, end);
	if (!rc)
		rc = judge(m, run, end->status, said);
	close_files(&launch, said);
	return rc;
}

void cli_measure_free(struct cli_measure *m)
{
	for (size_t i = 0; i < m->said_count; i++)
		free(m->said[i]);
	m->said_count = 0;
}

int cli_measure_status(int rc)
{
	switch (rc) {
	case 0: return CLI_OK;
	case -EINTR: return CLI_INTERRUPTED;
	case -ENOTSUP: return CLI_IMPOSSIBLE;
	case -ENOENT:
	case -ENOTDIR:
	case -EACCES:
	case -ENOEXEC: return cli_launch_failure(rc);
	default: return CLI_FAILED;
	}
}

static void print_left(double seconds)
{
	uint64_t s = (uint64_t)(seconds + 0.5);

	if (s >= 3600)
		fprintf(stderr, ", %lluh%02llum left", (unsigned long long)(s / 3600),
			(unsigned long long)(s / 60 % 60));
	else if (s >= 60)
		fprintf(stderr, ", %llum%02llus left", (unsigned long long)(s / 60),
			(unsigned long long)(s % 60));
	else
		fprintf(stderr, ", %llus left", (unsigned long long)s);
}

void cli_show_progress(const char *what, size_t done, size_t all, uint64_t started_ns)
{
	static bool shown;
	double passed_s = (double)(nve_clock_ns(CLOCK_MONOTONIC) - started_ns) * 1e-9;
	size_t full = all ? done * BAR / all : 0;

	if (!isatty(STDERR_FILENO) || (!what && !shown))
		return;
	fputs("\r\033[K", stderr);
	shown = what;
	if (!what)
		return;
	fputc('[', stderr);
	for (size_t i = 0; i < BAR; i++)
		fputc(i < full ? '#' : '.', stderr);
	fprintf(stderr, "] %zu of %zu", done, all);
	if (done)
		print_left(passed_s / (double)done * (double)(all - done));
	fprintf(stderr, ": %s", what);
	fflush(stderr);
}
