/* nvmemu validate: settings, rows of the table, and who makes and prints them. */
#ifndef CLI_VALIDATE_H
#define CLI_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "stat.h"

enum { VALIDATE_LATENCIES = 16, VALIDATE_ROWS = 3 * VALIDATE_LATENCIES };

struct validate_settings {
	uint64_t bytes; /* of each chase */
	bool bytes_given, slice_given, huge, json, compare;
	uint64_t latencies_ns[VALIDATE_LATENCIES];
	size_t latency_count;
	uint64_t rounds, slice_ms;
	double target_percent; /* 0: each row's own */
	double dram_lat_ns;    /* that the library goes by */
	const char *csv, *library;
	const char *device; /* to be measured instead; NULL: none */
};

/* What a row varies. */
enum validate_kind {
	VALIDATE_WBBENCH_WRITE, /* wbbench at a write latency: must take it */
	VALIDATE_ROBENCH_READ,  /* robench at a read latency: must take it */
	VALIDATE_ROBENCH_WRITE, /* robench at a write latency: must stay as native */
};

struct validate_row {
	enum validate_kind kind;
	uint64_t latency_ns;
	bool skipped; /* below what this machine can emulate; only native is known */
	struct cli_estimate native, measured;

	/* derived */
	double error_percent;       /* of the latency */
	double added_error_percent; /* of the added time; NaN where none is intended */
	double added_half_width_ns; /* of measured - native */
	double target_percent;
	bool met;
};

struct validate_result {
	struct validate_row rows[VALIDATE_ROWS];
	size_t row_count, targets, met;
	bool small_pages; /* huge ones were asked for and not to be had everywhere */
};

/* Runs one bench's processes in turns and adds its rows. Returns 0 or -errno as worker.h says; rows
 * measured before an interruption are there. */
int validate_run_bench(const struct validate_settings *s, bool write,
		       struct validate_result *result);

/* Measures a device, or all that are built in ("all"), and prints a table of each. Counts its rows
 * with a target. Returns as above; -ENOENT, -EINVAL or -ERANGE where it is not one to emulate. */
int validate_run_device(const struct validate_settings *s, size_t *targets, size_t *met);

/* What the kernel believes can be had without swapping. */
uint64_t validate_available_bytes(void);

/* Fills what is derived, and counts. Pure. */
void validate_judge(struct validate_result *result, double target_percent);

void validate_print_text(FILE *out, const struct validate_settings *s,
			 const struct validate_result *result);
int validate_write_csv(FILE *f, const struct validate_result *result);
int validate_write_json(FILE *out, const struct validate_settings *s,
			const struct validate_result *result);

#endif
