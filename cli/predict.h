/* nvmemu predict: what its files share. */
#ifndef CLI_PREDICT_H
#define CLI_PREDICT_H

#include <stddef.h>
#include <stdio.h>

#include "measure.h"
#include "ranges.h"
#include "report/predict.h"

/* What the rows of the table are of. */
enum predict_by { PREDICT_BY_PROCESS, PREDICT_BY_THREAD, PREDICT_BY_REGION };

struct predict_points {
	struct cli_latencies rlat, wlat;
	struct cli_point *points; /* the first is native */
	size_t count;
};

struct nve_predict_point predict_point(const struct cli_point *point);

void predict_print_text(FILE *out, const struct nve_predict *p, const struct predict_points *points,
			enum predict_by by);
/* Rows of all three kinds. */
void predict_print_csv(FILE *out, const struct nve_predict *p, const struct predict_points *points);
/* How many times as long as native: a field where both latencies vary, else lines. */
void predict_print_svg(FILE *out, const struct nve_predict *p, const struct predict_points *points);

/* Emulated runs against predictions. */
struct predict_check {
	struct cli_measure *measure;
	uint64_t points, rounds;
	double target_percent;
};

/*
 * Runs the program at some of the points, and as it was recorded, in turns; prints the errors.
 * Returns an exit status.
 */
int predict_check(const struct predict_check *check, const struct nve_predict *p,
		  const struct predict_points *points);

#endif
