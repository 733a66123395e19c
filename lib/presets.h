/* The device of NVM_DEVICE, from its name to latencies. One a process. */
#ifndef NVE_PRESETS_H
#define NVE_PRESETS_H

#include "base/options.h"
#include "base/preset.h"

/* Finds the device, also in the user's file; without NVM_DEVICE does nothing. 0, or -errno with a
 * message. */
int nve_presets_load(const struct nve_options *options, char *const envp[],
		     struct nve_options_message *error);

/*
 * Sets what the options leave to the device, by the DRAM latency in force. Afterwards they hold
 * latencies as if these had been given. 0; -ERANGE with a message where the device is faster than
 * this machine's DRAM.
 */
int nve_presets_apply(struct nve_options *options, uint64_t dram_lat_ps,
		      struct nve_options_message *error);

/* The device that was found; NULL: none. */
const struct nve_preset *nve_presets_device(void);

#endif
