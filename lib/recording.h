/*
 * The process's epoch record from its first byte to its last: its name and header, the totals of
 * threads that end, and those of the process. What lies between is the recorder's (emu/recorder.h).
 */
#ifndef NVE_RECORDING_H
#define NVE_RECORDING_H

#include "count/record.h"
#include "count/replay.h"
#include "emu/thread.h"
#include "report/outfile.h"
#include "report/snapshot.h"

/*
 * Makes the record under the first name that is not taken, and says so in one line where there can
 * be none or, for the first process of a tree (tell_moved), where it has another name. Completes
 * *header by the settings. started_ns: CLOCK_MONOTONIC.
 */
void nve_recording_start(const struct nve_outfile *out, struct nve_record_header *header,
			 const struct nve_options *options, uint64_t started_ns, bool tell_moved);

/* The last words of a thread that has served what it owes. By the thread itself. */
void nve_recording_thread_end(struct nve_thread *t);

/* Those of the process and of the threads that are still there; nothing is recorded afterwards. */
void nve_recording_end(const struct nve_snapshot *s);

/* Loads the record of NVM_COUNTERS=replay:FILE. Returns 0, or -errno with the message. cwd: where a
 * relative name begins. */
int nve_recording_load(struct nve_replay *r, const char *file, const char *cwd,
		       struct nve_options_message *error);

/* What a report says of a replay: after the totals are there. file: as it was named. */
void nve_recording_fill_replay(const struct nve_replay *r, const char *file,
			       struct nve_snapshot *s);

/* A record is of one program. */
bool nve_recording_is_of(const struct nve_replay *r, const char *program);

#endif
