/* The reports of a run's processes: a directory for them while it runs, one view of them after. */
#ifndef CLI_GATHER_H
#define CLI_GATHER_H

#include <limits.h>
#include <stdbool.h>

#include "report/read.h"

struct cli_gather {
	char directory[PATH_MAX];
	char pattern[PATH_MAX + 8]; /* for NVM_OUT */
	char **names;               /* of the files that were read, for the view's messages */
	size_t count;
	size_t running; /* processes that will still report there */
};

/* Makes the directory. 0, or -errno after a message. */
int cli_gather_begin(struct cli_gather *gather);

/*
 * Adds what is there to the view; files that are no reports are told of and left out. Returns 0, or
 * as nve_view_finish, with the reason in *why.
 */
int cli_gather_read(struct cli_gather *gather, struct nve_view *view, struct nve_read_message *why);

/* After the view has been freed. keep: the directory stays. */
void cli_gather_end(struct cli_gather *gather, bool keep);

#endif
