/* nvmemu validate --compare: look-ahead beside hardware counters, on the same runs. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include <stddef.h>
#include <stdint.h>

/* What a report says of one run, both providers having watched the same epochs. */
struct compare_figures {
	uint64_t cpu_ns, stall_ns, stall_wb_ns; /* by counters */
	uint64_t ahead_stall_ns, ahead_stall_wb_ns;
	uint64_t counted_epochs;
	int dirty_counted; /* the dirty fraction is the counters', too */
};

/* Reads them out of a report's text. 0, or -EBADMSG where one is missing. Pure. */
int compare_parse(const char *report, struct compare_figures *figures);

/*
 * Runs each workload that bench/run truth has an answer for under the library, with nothing
 * injected, and prints how far look-ahead is off. library: its path; directory: where
 * nvmemu-workload is. Returns an exit status; CLI_IMPOSSIBLE without counters.
 */
int compare_run(const char *library, const char *directory, uint64_t slice_ms);

#endif
