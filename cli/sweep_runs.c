/* The runs of a sweep, and the file that keeps them. */
#include "sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/quantity.h"
#include "cli.h"

int sweep_add_run(struct sweep_runs *runs, const struct sweep_run *run)
{
	if (runs->count == runs->room) {
		size_t room = runs->room ? 2 * runs->room : 64;
		struct sweep_run *more = realloc(runs->runs, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		runs->runs = more;
		runs->room = room;
	}
	runs->runs[runs->count++] = *run;
	return 0;
}

void sweep_free_runs(struct sweep_runs *runs)
{
	free(runs->runs);
	*runs = (struct sweep_runs){0};
}

/* Within the quotes of CSV: a row stays one line. */
static void put_quoted(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc((unsigned char)*text < ' ' ? '?' : *text, out);
	}
}

/* As a shell would take it. */
static void put_word(FILE *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++) {
		char one[2] = {*word, '\0'};

		if (*word == '\'')
			fputs("'\\''", out);
		else
			put_quoted(out, one);
	}
	fputc('\'', out);
}

char *sweep_row_end(const char *host, char *const *argv)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputc('"', out);
	put_quoted(out, host);
	fputs("\",\"", out);
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			fputc(' ', out);
		put_word(out, argv[i]);
	}
	fputs("\"\n", out);
	return fclose(out) ? NULL : text;
}

char *sweep_format_run(const struct sweep_run *run, const char *row_end)
{
	char read[CLI_LATENCY_BYTES], write[CLI_LATENCY_BYTES], *row;

	cli_format_latency(run->point.rlat_ps, "", read);
	cli_format_latency(run->point.wlat_ps, "", write);
	if (asprintf(&row, "%" PRIu64 ",%s,%s,%s,%" PRIu64 ",%" PRIu64 ",%d,%s", run->round,
		     run->emulated ? "emulated" : "native", read, write, run->wall_ns, run->cpu_ns,
		     run->status, row_end) < 0)
		return NULL;
	return row;
}

/* Copies a cell and goes beyond its comma. */
static int next_cell(const char **row, char *cell, size_t size)
{
	size_t length = strcspn(*row, ",\n");

	if ((*row)[length] != ',' || length >= size)
		return -EINVAL;
	memcpy(cell, *row, length);
	cell[length] = '\0';
	*row += length + 1;
	return 0;
}

static int parse_number(const char **row, uint64_t *value)
{
	char cell[32];

	return next_cell(row, cell, sizeof(cell)) || cli_parse_uint(cell, 0, INT64_MAX, value)
		       ? -EINVAL
		       : 0;
}

/* Empty: DRAM's own. */
static int parse_latency(const char **row, uint64_t *ps)
{
	struct cli_latencies latencies;
	char cell[CLI_LATENCY_BYTES];

	if (next_cell(row, cell, sizeof(cell)))
		return -EINVAL;
	*ps = 0;
	if (!*cell)
		return 0;
	if (cli_parse_latencies(cell, &latencies) || latencies.count != 1)
		return -EINVAL;
	*ps = latencies.ps[0];
	return 0;
}

int sweep_parse_run(const char *row, const char *row_end, struct sweep_run *run)
{
	char kind[16];
	uint64_t status;

	*run = (struct sweep_run){0};
	if (parse_number(&row, &run->round) || !run->round || next_cell(&row, kind, sizeof(kind)) ||
	    parse_latency(&row, &run->point.rlat_ps) || parse_latency(&row, &run->point.wlat_ps) ||
	    parse_number(&row, &run->wall_ns) || parse_number(&row, &run->cpu_ns) ||
	    parse_number(&row, &status) || status > 255 || !run->wall_ns)
		return -EINVAL;
	run->emulated = !strcmp(kind, "emulated");
	run->status = (int)status;
	if (!run->emulated && strcmp(kind, "native"))
		return -EINVAL;
	return strcmp(row, row_end) ? -EXDEV : 0;
}

/* Reads the rows; *whole is where the last complete one ends. */
static int read_rows(FILE *file, const char *path, const char *row_end, struct sweep_runs *runs,
		     off_t *whole)
{
	char *line = NULL;
	size_t room = 0, number = 0;
	ssize_t length;
	int rc = 0;

	*whole = 0;
	while (!rc && (length = getline(&line, &room, file)) > 0 && line[length - 1] == '\n') {
		struct sweep_run run;

		number++;
		if (number == 1)
			rc = strcmp(line, SWEEP_RUNS_HEAD) ? -EINVAL : 0;
		else if (!(rc = sweep_parse_run(line, row_end, &run)))
			rc = sweep_add_run(runs, &run);
		*whole += length;
	}
	if (!rc && number == 0 && length > 0)
		rc = -EINVAL;
	free(line);
	if (rc == -EINVAL && number < 2)
		cli_error("%s: not a file of runs of nvmemu sweep", path);
	else if (rc == -EXDEV)
		cli_error("%s: line %zu is of another command or host: not %.*s", path, number,
			  (int)strlen(row_end) - 1, row_end);
	else if (rc)
		cli_error("%s: line %zu: %s", path, number,
			  rc == -EINVAL ? "no row of runs" : strerror(-rc));
	return rc;
}

static int lock(int fd, const char *path)
{
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return 0;
	if (errno == EWOULDBLOCK)
		cli_error("%s: another sweep writes to it", path);
	else
		cli_error("%s: cannot be locked: %m", path);
	return -EBUSY;
}

/* Devices never end. */
static int check_regular(int fd, const char *path)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return 0;
	cli_error("%s: not a regular file", path);
	return -EINVAL;
}

static int open_locked(int fd, const char *path, const char *row_end, struct sweep_runs *runs)
{
	FILE *file = fopen(path, "re");
	off_t whole = 0;
	struct stat st;
	int rc;

	if (!file) {
		cli_error("cannot read %s: %m", path);
		return -errno;
	}
	rc = read_rows(file, path, row_end, runs, &whole);
	if (!rc && (fstat(fd, &st) || (st.st_size > whole && ftruncate(fd, whole))))
		rc = -errno;
	if (!rc && !whole)
		rc = nve_file_write_all(fd, SWEEP_RUNS_HEAD, strlen(SWEEP_RUNS_HEAD));
	if (rc && rc != -EINVAL && rc != -EXDEV)
		cli_error("cannot write %s: %s", path, strerror(-rc));
	fclose(file);
	return rc;
}

int sweep_open_runs(const char *path, const char *row_end, struct sweep_runs *runs, int *fd)
{
	int rc;

	*fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
	if (*fd < 0) {
		rc = -errno;
		cli_error("cannot write %s: %m", path);
		return rc;
	}
	rc = check_regular(*fd, path);
	if (!rc)
		rc = lock(*fd, path);
	if (!rc)
		rc = open_locked(*fd, path, row_end, runs);
	if (rc) {
		close(*fd);
		*fd = -1;
	}
	return rc;
}
