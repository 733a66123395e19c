/*
 * Runs of a program that are measured, natively or under the library: what predict --check and
 * sweep share. The program reads from /dev/null and its output goes there, unless told otherwise;
 * what it says on stderr is shown where it fails.
 */
#ifndef CLI_MEASURE_H
#define CLI_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "launch.h"
#include "ranges.h"

enum { CLI_MEASURE_SAID = 16 };

struct cli_measure {
	char *const *argv;
	const char *library;
	const char *input; /* NULL: /dev/null */
	bool show_output, ignore_failure;
	/* warnings of the library that were shown: each is shown once */
	char *said[CLI_MEASURE_SAID];
	size_t said_count;
};

/* Of one run. */
struct cli_run {
	bool emulated;
	struct cli_point point;
	const struct cli_setting *settings; /* besides latencies; where it is emulated */
	size_t setting_count;
};

/*
 * 0; -EINTR where cli_interrupted was set: the program has been ended; after a message -ENOTSUP
 * where the library says that emulation is impossible, -ECHILD where the program failed, or
 * another -errno of starting it.
 */
int cli_measure_run(struct cli_measure *m, const struct cli_run *run, struct cli_end *end);

void cli_measure_free(struct cli_measure *m);

/* The exit status for what cli_measure_run() returned. */
int cli_measure_status(int rc);

/* A line on stderr, on a terminal alone: a bar, done of all runs, the time left, what runs now.
 * NULL: takes it away. started_ns: when the first of these runs began. */
void cli_show_progress(const char *what, size_t done, size_t all, uint64_t started_ns);

#endif
