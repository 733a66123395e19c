/*
 * Reports read back: one view of all processes of a run, for whatever shows or computes from them.
 * Takes documents of one process ("nvmemu-report", which the library writes) and of a run
 * ("nvmemu-run", which the command writes: report/run.h), any number of either.
 *
 * For the command alone: uses malloc, and libjansson, which the library must not bring into
 * programs. Texts and arrays live until nve_view_free. Times are nanoseconds, latencies
 * picoseconds, shares parts per million, as in report/snapshot.h; what a document of an earlier
 * build of the same version lacks is 0, false or "".
 */
#ifndef NVE_REPORT_READ_H
#define NVE_REPORT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/snapshot.h"

struct json_t;

struct nve_view_setting {
	const char *name, *value;
};

struct nve_view_thread {
	int tid;
	bool alive;
	const char *name;
	struct nve_totals totals;
};

struct nve_view_machine {
	const char *cpu;
	uint64_t tsc_khz, dram_lat_ps, llc_lat_ps, w_milli, llc_bytes;
	const char *dram_lat_origin, *llc_lat_origin;
	bool huge_pages;
	uint64_t calibrated_at_s; /* 0: never */
};

/* how it is read; why not a better one, and what mends that: "" where there is nothing to be told
 */
struct nve_view_source {
	const char *name, *how, *why, *mend;
};

struct nve_view_sources {
	struct nve_view_source of[NVE_QUANTITIES];
	const char *timer, *counter_events;
	uint64_t uncore_reads, uncore_clamps, uncore_failures;
};

/* One document: a process, or a stage of one that executed another program. */
struct nve_view_process {
	const char *file; /* that it was read from */
	const char *program, *host, *ended_by;
	int pid, ppid;
	uint64_t started_at_s, wall_ns;
	bool emulated;
	const char *why_not;
	struct nve_view_machine machine;
	struct nve_view_sources sources;
	struct nve_view_setting *settings;
	size_t setting_count;
	uint64_t rlat_ps, wlat_ps; /* of the settings; 0: DRAM's own */
	bool symmetric;
	const char *replay; /* the record that was replayed; "": none */
	struct nve_totals totals;
	struct nve_view_thread *threads;
	size_t thread_count;
	uint64_t threads_total, threads_not_listed, threads_not_emulated;
	/* the document itself, for the readers of sections in lib/report/ */
	struct json_t *document;
};

/* What `nvmemu run` knows of a run. */
struct nve_view_run {
	bool known;
	const char *command; /* the words as a shell would take them */
	uint64_t started_at_s, wall_ns;
	int status; /* exit status, or -signal */
};

struct nve_view {
	/* by host and start; the first of all comes first, and stages in their order */
	struct nve_view_process *processes;
	size_t count;
	struct nve_totals totals;
	struct nve_view_run run;
	struct json_t **documents; /* as files had them */
	size_t document_count;
};

/* One message, ready to print, without a newline; it begins with the file's name. */
struct nve_read_message {
	char text[512];
};

void nve_view_start(struct nve_view *view);

/*
 * Adds what the file holds; "-" is the standard input. 0; or, with the reason in *why, -errno of
 * opening and reading, -ENODATA (empty), -EPIPE (ends early), -EINVAL (no JSON, no report, or not
 * as reports are), -EPROTONOSUPPORT (of a newer version), -ENOMEM.
 */
int nve_view_add_file(struct nve_view *view, const char *path, struct nve_read_message *why);

/* The same for a stream that is open; name is for messages and stays the caller's. */
int nve_view_add_stream(struct nve_view *view, const char *name, FILE *stream,
			struct nve_read_message *why);

/* The same for a text that somebody has read. */
int nve_view_add_text(struct nve_view *view, const char *name, const char *text, size_t size,
		      struct nve_read_message *why);

/*
 * Puts processes in order and sums them up; nothing may be added afterwards. 0; or, with the reason
 * in *why, -EEXIST where a process stands there twice, -ENODATA without a process.
 */
int nve_view_finish(struct nve_view *view, struct nve_read_message *why);

void nve_view_free(struct nve_view *view);

/* Is that value what is shown of a variable which is not set? */
bool nve_view_is_default(const struct nve_view_setting *setting);

/* The value that a variable had; NULL: the process knew no such variable. */
const char *nve_view_setting(const struct nve_view_process *process, const char *name);

/*
 * The first variable that two processes of the view have different values of, among those that
 * decide on what was emulated: sums are then of unlike things. NULL: there is none. *a and *b: two
 * of these processes.
 */
const char *nve_view_difference(const struct nve_view *view, const struct nve_view_process **a,
				const struct nve_view_process **b);

#endif
