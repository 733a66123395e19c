/* Rows that say where in a document the figures of a struct stand. For readers of reports. */
#ifndef NVE_REPORT_FIELDS_H
#define NVE_REPORT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/read.h"

enum nve_field_kind {
	NVE_FIELD_UINT,  /* uint64_t; sums of totals are made of these */
	NVE_FIELD_ERROR, /* uint64_t; of sums, in quadrature */
	NVE_FIELD_INT,   /* int */
	NVE_FIELD_BOOL,  /* bool */
	NVE_FIELD_TEXT,  /* const char *; null is "" */
	NVE_FIELD_TIME,  /* uint64_t, seconds since 1970 of a date; null is 0 */
	NVE_FIELD_PPM,   /* uint32_t, millionths of a share */
	NVE_FIELD_MILLI, /* uint64_t, thousandths: picoseconds of nanoseconds */
};

struct nve_field {
	const char *path; /* keys with '.' between them; NULL ends the rows */
	size_t offset;    /* in the struct */
	enum nve_field_kind kind;
	bool optional; /* there are documents of this version without it */
};

extern const struct nve_field nve_fields_totals[];  /* of struct nve_totals */
extern const struct nve_field nve_fields_replay[];  /* of struct nve_totals, in "replay" */
extern const struct nve_field nve_fields_process[]; /* of struct nve_view_process */
extern const struct nve_field nve_fields_thread[];  /* of struct nve_view_thread */
extern const struct nve_field nve_fields_run[];     /* of struct nve_view_run */

/* Where an object stands, for messages: "report.json: threads[3]." */
struct nve_field_place {
	const char *file, *path;
	struct nve_read_message *why;
};

/*
 * Fills the struct at to by its rows. 0; -ENOENT or -EINVAL with a message where a value is missing
 * or not of its kind.
 */
int nve_fields_read(const struct json_t *object, const struct nve_field *rows, void *to,
		    const struct nve_field_place *place);

/* The value at the end of a path; NULL: none. */
struct json_t *nve_fields_find(const struct json_t *object, const char *path);

#endif
