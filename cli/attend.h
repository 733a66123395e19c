/*
 * Stands in for a program that was started: signals sent to the command are the program's, a stop
 * of the program is the command's, and the command ends as the program did.
 *
 * Both are in one process group, as the shell has made it: what the terminal sends (Ctrl-C, Ctrl-Z,
 * a hang-up) reaches the program by itself, and is not passed on a second time.
 */
#ifndef CLI_ATTEND_H
#define CLI_ATTEND_H

#include "launch.h"

/* What was changed of the command's own, to be undone for the program and at the end. */
struct cli_attendance {
	sigset_t mask;
	struct sigaction on_child;
};

/* Before the launch: blocks all signals, so that none is lost. */
void cli_attend_begin(struct cli_attendance *attendance);

/* Waits for the program's end and passes signals on until then. 0 or -errno. */
int cli_attend(struct cli_child *child, struct cli_end *end);

/* The exit status for the program's; of one that a signal has killed does not return, but dies by
 * it, without a core of its own. */
int cli_attend_finish(const struct cli_attendance *attendance, int status);

#endif
