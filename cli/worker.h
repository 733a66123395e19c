/*
 * The processes that validate measures: each holds one chase and walks it when it is its turn.
 * Turns are asked for on the worker's standard input and answered on its standard output.
 */
#ifndef CLI_WORKER_H
#define CLI_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of each array, that a step of a stream goes on. */
enum { CLI_WORKER_WORDS = 8192 };

struct cli_job {
	const char *library;       /* NULL: native */
	uint64_t rlat_ns, wlat_ns; /* 0: DRAM's own */
	const char *device;        /* NULL: none */
	const char *work;          /* "read": robench; "write": wbbench; else of bench/stream.h */
	uint64_t bytes;            /* of the list, or of each array */
	bool huge;
};

struct cli_worker {
	pid_t pid; /* 0: not running */
	int to, from;
	char name[64]; /* for messages */
};

struct cli_turn {
	uint64_t cpu_ns, wall_ns;
};

/*
 * All return 0, -EINTR when interrupted, or another -errno after a message: -ENOTSUP when the
 * library says that emulation is impossible here, -ECHILD when the worker died.
 */
int cli_worker_start(struct cli_worker *worker, const struct cli_job *job);
/* Waits for the chase to be made. */
int cli_worker_ready(struct cli_worker *worker, const struct cli_job *job, bool *huge);
int cli_worker_turn(struct cli_worker *worker, uint64_t steps, struct cli_turn *turn);

void cli_worker_stop(struct cli_worker *worker);

#endif
