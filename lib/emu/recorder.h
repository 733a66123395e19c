/*
 * Writes the process's epoch record (NVM_RECORD; the format: count/record.h): one write() for a few
 * records, appended at once, so that what has been written survives the process however it ends.
 *
 * A thread's records gather in its buffer, which belongs to whoever settles its epochs. They are
 * written by its monitor, whose descriptor is in a file table of its own; where there is none, by
 * the thread itself, by a descriptor that is kept in the program's table with a high number. That
 * one is used only while it is still the record; else the file is opened anew. Where nothing can be
 * written any more the record ends.
 *
 * Signal-safe but for nve_recorder_create().
 */
#ifndef NVE_EMU_RECORDER_H
#define NVE_EMU_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "count/record.h"

enum { NVE_RECORDER_BUFFER_BYTES = 8192 };

struct nve_recorder_buffer {
	uint32_t used;
	uint64_t lost; /* epochs that found no room */
	uint8_t bytes[NVE_RECORDER_BUFFER_BYTES];
};

/*
 * Makes the file, which must not exist, and writes the header. One that holds nothing but the
 * header of an earlier program of this very process, which executed this one, is taken over.
 * started_ns: CLOCK_MONOTONIC, from which records count. 0, -EEXIST or another -errno.
 */
int nve_recorder_create(const char *path, const struct nve_record_header *header,
			uint64_t started_ns);

/* Is there a record? */
bool nve_recorder_on(void);

/* Of CLOCK_MONOTONIC, since the start. */
uint64_t nve_recorder_when_ns(uint64_t now_ns);

/* Nothing is written any more. */
void nve_recorder_end(void);

/* One line, if the record ended early and nobody has told yet. By a thread of the program. */
void nve_recorder_tell(void);

/* In a forked child: the record is its parent's. */
void nve_recorder_after_fork(void);

/* For a thread with a file table of its own: its descriptor for the record, or -1. */
int nve_recorder_descriptor(void);

/* False: there was no room, and an epoch is counted as lost. */
bool nve_recorder_add(struct nve_recorder_buffer *b, const struct nve_record *record);

/*
 * Writes what is in the buffer. descriptor: of the caller's own file table, or -1. may_open: the
 * file may be opened for it, which takes a descriptor number of the program's for a moment.
 */
void nve_recorder_flush(struct nve_recorder_buffer *b, int descriptor, bool may_open);

#endif
