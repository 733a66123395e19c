/*
 * JSON, written piece by piece into a sink: no malloc, no stdio, no floating point; signal-safe if
 * the sink is.
 *
 * Calls mirror the document. Inside an object every value has a key; inside an array and at the top
 * the key is NULL. Errors (of nesting: -EINVAL, -E2BIG; of the sink) stick: what follows does
 * nothing, and nve_json_finish returns the first of them.
 */
#ifndef NVE_REPORT_JSON_H
#define NVE_REPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nve_report_sink {
	/* Takes all of data, or returns -errno. */
	int (*write)(void *ctx, const void *data, size_t size);
	void *ctx;
};

enum { NVE_JSON_DEPTH = 12, NVE_JSON_BUFFER = 512 };

struct nve_json {
	const struct nve_report_sink *sink;
	int error;
	unsigned depth;
	char closers[NVE_JSON_DEPTH];    /* '}' or ']' of each open level */
	bool has_member[NVE_JSON_DEPTH]; /* that level has a value already */
	bool begun;                      /* the one value at the top has begun */
	size_t used;
	char buffer[NVE_JSON_BUFFER];
};

void nve_json_start(struct nve_json *j, const struct nve_report_sink *sink);
int nve_json_finish(struct nve_json *j);

void nve_json_object(struct nve_json *j, const char *key);
void nve_json_array(struct nve_json *j, const char *key);
void nve_json_close(struct nve_json *j); /* the innermost object or array */

void nve_json_null(struct nve_json *j, const char *key);
void nve_json_bool(struct nve_json *j, const char *key, bool value);
void nve_json_uint(struct nve_json *j, const char *key, uint64_t value);

/* value / 10^decimals, exactly: picoseconds as nanoseconds are 3 decimals, ppm as a share 6. */
void nve_json_decimal(struct nve_json *j, const char *key, int64_t value, unsigned decimals);

/* An array of numbers, on one line: the first of them, and every stride-th behind it. */
void nve_json_uints(struct nve_json *j, const char *key, const uint64_t *values, size_t count,
		    size_t stride);

/* Bytes that are no valid UTF-8 become U+FFFD each. NULL is written as null. */
void nve_json_string(struct nve_json *j, const char *key, const char *text);

/* The same for a field of size bytes that may lack the terminating zero. */
void nve_json_field(struct nve_json *j, const char *key, const char *field, size_t size);

#endif
