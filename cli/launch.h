/*
 * Programs that the command starts, natively or under the library, and what became of them.
 */
#ifndef CLI_LAUNCH_H
#define CLI_LAUNCH_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A variable of the program's environment. */
struct cli_setting {
	const char *name, *value; /* value NULL: unset */
};

struct cli_launch {
	char *const *argv;   /* found along PATH, as a shell would */
	const char *library; /* absolute path; NULL: natively */
	const struct cli_setting *settings;
	size_t setting_count;
	int in, out, err;  /* the program's 0, 1 and 2; -1: the command's own */
	bool dies_with_us; /* killed where the command is killed */
	/* what the command has changed of its own; NULL: nothing */
	const sigset_t *mask;             /* signal mask */
	const struct sigaction *on_child; /* action for SIGCHLD */
};

/* How a program ended. */
struct cli_end {
	int status; /* as of waitpid() */
	uint64_t wall_ns;
	uint64_t cpu_ns; /* user and system; with the children that it has waited for */
};

struct cli_child {
	pid_t pid;
	int pidfd; /* -1: the kernel has none to give */
	uint64_t started_ns;
};

/*
 * Starts the program with signal mask and dispositions as the command itself was started with, as
 * far as the command catches but does not ignore them. LD_PRELOAD keeps what stands there, less
 * any libnvmemu.so. 0, or -errno, without a message: of starting a process, or why the program
 * could not be executed (-ENOENT, -EACCES, ...).
 */
int cli_launch(const struct cli_launch *launch, struct cli_child *child);

/* Waits for its end. 0; -EINTR where cli_interrupted was set first: the program still runs. */
int cli_launch_wait(struct cli_child *child, struct cli_end *end);

/* Ends a program that still runs, by SIGTERM, or SIGKILL some seconds later. */
void cli_launch_stop(struct cli_child *child);

/* The exit status for a program that could not be executed: 127 not found, 126 otherwise. */
int cli_launch_failure(int error);

/*
 * The library: given, or where it is NULL, of this build or installation. path gets an absolute
 * path that LD_PRELOAD can hold. 0, or -errno after a message.
 */
int cli_find_library(const char *given, char path[PATH_MAX]);

/* The value of a variable of the command's own environment; NULL: none. */
const char *cli_variable(const char *name);

#endif
