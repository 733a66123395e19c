/* The command's libpfm4. */
#include "count/pmu/encode.h"
#include "cli.h"

/* after linux/perf_event.h, of which it brings a copy where there is none */
#include <perfmon/pfmlib_perf_event.h>

const struct nve_pfm *cli_load_pfm(void)
{
	static const struct nve_pfm pfm = {
		.initialize = pfm_initialize,
		.get_os_event_encoding = pfm_get_os_event_encoding,
	};

	return &pfm;
}
