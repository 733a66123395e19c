/*
 * A kernel's performance events by script: which opens fail, and what reads give. The provider
 * talks to it through the contract in count/pmu/perf.h.
 */
#ifndef TEST_SCRIPTED_PERF_H
#define TEST_SCRIPTED_PERF_H

#include <stdbool.h>
#include <stdint.h>

#include "count/pmu/perf.h"

enum { SCRIPT_OPENS = 64, SCRIPT_READS = 32, SCRIPT_WORDS = 11 };

struct script_open {
	struct perf_event_attr attr;
	int tid, cpu, leader, fd;
};

struct script {
	int open_error[SCRIPT_OPENS]; /* of the n-th open; 0: succeeds */
	int always;                   /* of all opens from now on */
	int enable_error, map_error, area_error;
	void *ring, *area; /* mapped last */
	bool map_nothing;  /* rings hold no data */
	unsigned opens, closes, enables, maps, unmaps;
	struct script_open open[SCRIPT_OPENS];

	/* the n-th read: words of the image; or error; words 0: end of file */
	unsigned reads_planned, reads;
	struct {
		int error;
		unsigned words;
		uint64_t word[SCRIPT_WORDS];
	} read[SCRIPT_READS];
	int read_fd; /* of the last one */
};

/* Descriptors count from 100 on. Rings are as the kernel makes them, and empty. */
struct nve_perf script_perf(struct script *s);

/* Plans the next read: a group of count events with its times. */
void script_read(struct script *s, uint64_t enabled, uint64_t running, unsigned count,
		 const uint64_t *value);
void script_read_error(struct script *s, int error);
void script_read_nothing(struct script *s);

#endif
