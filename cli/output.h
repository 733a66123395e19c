/* Where a subcommand's result goes: the standard output, or a file that is there whole or not at
 * all. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cli_output {
	const char *path; /* NULL: the standard output */
	bool replace;
	FILE *stream;
	char *bytes; /* what the stream has taken, where it is not the standard output */
	size_t size;
};

/*
 * path: NULL or "-" for the standard output. replace: a file of that name may be replaced. Returns
 * 0, or -errno after a message: -EEXIST where the name is taken. Devices and pipes are written to,
 * and never replaced.
 */
int cli_output_open(struct cli_output *output, const char *path, bool replace);

/*
 * Ends it: with keep, what the stream took is written, else nothing is. 0, or -errno after a
 * message. What does not reach the standard output, main tells of.
 */
int cli_output_close(struct cli_output *output, bool keep);

/* Is it a device, a pipe or the like, which output goes through instead of into its place? */
bool cli_output_is_special(const char *path);

#endif
