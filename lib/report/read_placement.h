/*
 * Placement read back: the section "placement" of all processes of a view as one. For the command
 * alone, like report/read.h; texts are the view's, which must live as long.
 */
#ifndef NVE_REPORT_READ_PLACEMENT_H
#define NVE_REPORT_READ_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "report/read.h"

struct nve_view_placement {
	size_t processes;               /* with placement; 0: nobody asked for it */
	const char *file;               /* the guidance file, of the first of them */
	size_t lines, unmatched;        /* of the file; those that fit no site in any process */
	uint64_t ambiguous_sites;       /* that two lines disagree on, in all processes */
	uint64_t reads, writes;         /* missing accesses of these processes */
	uint64_t nvm_reads, nvm_writes; /* those on NVM */
	int node;                       /* that memory is bound to; -1: it is emulated */
	uint64_t bound_bytes, bind_failures;
};

/* The view must be finished. 0; or, with the reason in *why, -EINVAL or -ENOENT (a report that is
 * not whole), -ENOMEM. */
int nve_view_read_placement(const struct nve_view *view, struct nve_view_placement *placement,
			    struct nve_read_message *why);

#endif
