/*
 * Runs to predict from: an epoch record, or the totals of a report. Pure: bytes and structs in
 * memory.
 */
#ifndef NVE_REPORT_PREDICT_LOAD_H
#define NVE_REPORT_PREDICT_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "count/replay.h"
#include "report/predict.h"
#include "report/read.h"
#include "report/snapshot.h"

/*
 * data: anything. Returns 0; what nve_replay_parse() returns for a record that is not good;
 * -ENODATA for one without an epoch; then with the reason in *error.
 */
int nve_predict_from_record(struct nve_predict *p, const uint8_t *data, size_t size,
			    struct nve_replay_error *error);

struct nve_predict_totals {
	uint64_t tid;
	const char *name;
	const struct nve_totals *totals;
};

/*
 * From totals of threads: each is taken for one long epoch, from the run's beginning to its end, so
 * that the wall time is bounded less closely than from a record. The caller fills in what struct
 * nve_predict has of the run; its threads and epochs are filled in here. 0 or -ENOMEM.
 */
int nve_predict_from_totals(struct nve_predict *p, const struct nve_predict_totals *threads,
			    size_t count);

/* From a process's report, in the same way. Threads that it does not list are one more thread. 0;
 * -ENODATA where the process was not emulated; -ENOMEM. */
int nve_predict_from_view(struct nve_predict *p, const struct nve_view_process *process);

#endif
