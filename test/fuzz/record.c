/* A record, as replay and prediction read it. */
#include "count/replay.h"
#include "fuzz.h"
#include "report/predict_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nve_replay_error error;
	struct nve_replay replay = {0};
	struct nve_predict run = {0};

	if (!nve_replay_parse(&replay, data, size, &error))
		for (uint64_t i = 0; i < replay.threads; i++) {
			struct nve_replay_cursor c = nve_replay_begin(&replay, i);

			nve_replay_left_ns(&c);
		}
	nve_replay_free(&replay);
	if (!nve_predict_from_record(&run, data, size, &error))
		nve_predict_process(&run, (struct nve_predict_point){300, 1000});
	nve_predict_free(&run);
	return 0;
}
