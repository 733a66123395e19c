/* A record, as replay and prediction read it. */
#include "count/replay.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nve_replay_error error;
	struct nve_replay replay = {0};

	if (!nve_replay_parse(&replay, data, size, &error))
		for (uint64_t i = 0; i < replay.threads; i++) {
			struct nve_replay_cursor c = nve_replay_begin(&replay, i);

			nve_replay_left_ns(&c);
		}
	nve_replay_free(&replay);
	return 0;
}
