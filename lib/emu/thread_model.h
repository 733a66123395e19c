/* What the model has said of a thread. */
#ifndef NVE_EMU_THREAD_MODEL_H
#define NVE_EMU_THREAD_MODEL_H

#include <stdint.h>

/* Sums over the life of a thread. Times ns. */
struct nve_thread_model {
	uint64_t epochs, cpu_ns, stall_ns, stall_wb_ns, ma_ro, ma_wb, clamps, delay_owed_ns;
	uint64_t nvm_ma_ro, nvm_ma_wb;
	uint64_t delay_bandwidth_ns; /* of the epochs in which bandwidth asked for more */
	uint64_t read_bytes, written_bytes;
	double read_variance, written_variance;
	double dram_lat_ps_by_stall; /* sum of dram_lat_ps * stall_ns, for the mean */
};

#endif
