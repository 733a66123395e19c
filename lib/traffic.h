/* Emulated bandwidth: what the runtime does about it. */
#ifndef NVE_TRAFFIC_H
#define NVE_TRAFFIC_H

#include <stddef.h>

#include "base/options.h"
#include "count/calibration.h"
#include "count/calstore.h"
#include "count/source.h"

/* Where a bandwidth is set, by the options or by their device (which then stands in the options):
 * measures the machine's, unless it is kept already, and begins to count and to delay. 0; -ERANGE
 * where one is set that the machine does not have, with a message that names both; or another
 * -errno with the reason. A device that cannot have its bandwidth goes without. */
int nve_traffic_start(struct nve_options *options, struct nve_calibration *calibration,
		      struct nve_calstore *store, char *why, size_t size);

/* The same for a replay: the machine does not matter. */
void nve_traffic_replay(struct nve_options *options);

/* Where traffic is counted from, in this process; and where it would be with these options.
 * no_ahead: why there is no look-ahead here, or NULL. */
void nve_traffic_tell(struct nve_source *source);
void nve_traffic_foretell(const struct nve_options *options, const char *no_ahead,
			  struct nve_source *source);

#endif
