/* The device of NVM_DEVICE, from its name to latencies. One a process. */
#ifndef NVE_PRESETS_H
#define NVE_PRESETS_H

#include "base/options.h"
#include "base/preset.h"

/* Finds the device, also in the user's file; without NVM_DEVICE does nothing. 0, or -errno with a
 * message. A child, which is no root, may have lost the way to its user's file: it goes without,
 * and warns. */
int nve_presets_load(struct nve_options *options, char *const envp[],
		     struct nve_options_message *error);

/*
 * Sets what the options leave to the device, by the DRAM latency in force. Afterwards they hold
 * latencies as if these had been given. 0; -ERANGE with a message where the device is faster than
 * this machine's DRAM.
 */
int nve_presets_apply(struct nve_options *options, uint64_t dram_lat_ps,
		      struct nve_options_message *error);

/* Does the device limit what the options do not? */
bool nve_presets_have_bandwidth(const struct nve_options *options);

/* The same for bandwidths, by those of the machine (bytes per second; 0: not known). What the
 * machine does not reach is no limit, and is said. */
void nve_presets_apply_bandwidth(struct nve_options *options, uint64_t machine_read,
				 uint64_t machine_write);

#endif
