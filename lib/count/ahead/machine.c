/* From what calibration measured to what a window goes by. */
#include "base/base.h"
#include "count/ahead/window.h"

/* Misses outstanding at a time: so many as make one latency into the gap between independent ones.
 */
static uint32_t slots(const struct nve_calibration *cal, uint32_t gap_milli)
{
	uint32_t n = (cal->timed_dram_cycles_milli - cal->timed_l1_cycles_milli) / gap_milli;

	return n < 1 ? 1 : NVE_MIN(n, (uint32_t)NVE_CORE_SLOTS);
}

/* Half of what the last-level cache takes: second-level caches take a third of it and less. */
static uint32_t far_ticks(const struct nve_calibration *cal)
{
	uint32_t llc_ticks = cal->timed_llc_cycles_milli / 1000;

	return llc_ticks > cal->fence_cycles ? (llc_ticks - cal->fence_cycles) / 2 : 0;
}

struct nve_window_machine nve_window_machine(const struct nve_calibration *cal)
{
	return (struct nve_window_machine){
		.fence_ticks = cal->fence_cycles,
		.threshold_ticks = cal->threshold_cycles,
		.far_ticks = far_ticks(cal),
		.translates = cal->timed_translated_cycles_milli != 0,
		.outlier_ticks = (uint32_t)((uint64_t)NVE_OUTLIER_LATENCIES *
					    cal->timed_dram_cycles_milli / 1000),
		.run_ahead = cal->run_ahead_instructions,
		.core = {.cycle_ticks = cal->cycle_ticks_milli / 1e3f,
			 .read_slots = slots(cal, cal->read_gap_ticks_milli),
			 .write_slots = slots(cal, cal->write_gap_ticks_milli),
			 .window = cal->run_ahead_instructions,
			 .writers = cal->run_ahead_writers},
	};
}
