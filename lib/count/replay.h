/*
 * The replay provider: a run that was recorded (record.h) takes the place of counters. The thread
 * that is the k-th of its process takes the epochs of the k-th thread of the record, in order: each
 * one when the thread has used as much CPU time as the epoch had, so that a delay comes where it
 * came. Nothing is measured here, and nothing of this machine's calibration enters.
 *
 * Loading is for the start of a process; cursors are signal-safe.
 */
#ifndef NVE_COUNT_REPLAY_H
#define NVE_COUNT_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "count/record.h"
#include "count/source.h"

enum { NVE_REPLAY_THREADS_MAX = 1 << 24 };

struct nve_replay {
	struct nve_record_header header;
	bool complete;            /* with the end of the process */
	uint64_t threads, epochs; /* threads: the highest number of one with an epoch, plus one */
	uint64_t cpu_ns;          /* sum of all epochs */
	struct nve_epoch *epoch;  /* by thread, each thread's in order */
	uint64_t *first;          /* of each thread; threads + 1 of them */
};

struct nve_replay_error {
	char text[160];
};

/*
 * Takes a record out of memory, which is not needed afterwards. A record that ends within an epoch,
 * as after a crash, is good up to there. Returns 0; or what nve_record_get_header() and
 * nve_record_get() return for a header or a record that is not good, -ERANGE for values that no
 * record of ours has, -ENOMEM; then with the reason in *error. data: anything.
 */
int nve_replay_parse(struct nve_replay *r, const uint8_t *data, size_t size,
		     struct nve_replay_error *error);

/* The same for a file; also -errno. */
int nve_replay_load(struct nve_replay *r, const char *path, struct nve_replay_error *error);

/* The bytes of a regular file, a copy. 0, or -errno with the reason in *error. */
int nve_replay_read_file(const char *path, struct nve_replay_error *error, uint8_t **data,
			 size_t *size);
void nve_replay_free_file(uint8_t *data, size_t size);

void nve_replay_free(struct nve_replay *r);

/* Where a thread stands. All zeros: nothing to replay. */
struct nve_replay_cursor {
	const struct nve_epoch *next, *end;
	uint64_t ran_ns; /* CPU time since the last epoch taken */
};

/* thread: its number in the order of birth, from 0. */
struct nve_replay_cursor nve_replay_begin(const struct nve_replay *r, uint64_t thread);

/* Is the next epoch over? The caller adds to ran_ns. */
bool nve_replay_due(const struct nve_replay_cursor *c);

/* Takes the next epoch, which is due, and its time out of ran_ns. */
void nve_replay_take(struct nve_replay_cursor *c, struct nve_epoch *epoch);

/* CPU time of the epochs that are left. */
uint64_t nve_replay_left_ns(const struct nve_replay_cursor *c);

#endif
