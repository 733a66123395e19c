/* Settings against what the machine has. */
#include <errno.h>
#include <stdbool.h>

#include "base/base.h"
#include "base/log.h"
#include "base/options.h"
#include "base/quantity.h"

enum { UNPAID_PARTS = 4 };

static int check_latency(const char *name, uint64_t target_ps, uint64_t dram_lat_ps,
			 const char *whose, struct nve_options_message *error)
{
	char target[32], dram[32];

	if (!target_ps || target_ps >= dram_lat_ps)
		return 0;
	nve_quantity_format(target_ps, nve_units_ps, target, sizeof(target));
	nve_quantity_format(dram_lat_ps, nve_units_ps, dram, sizeof(dram));
	nve_format(error->text, sizeof(error->text),
		   "%s: %s is below %s DRAM latency of %s; memory cannot be made faster", name,
		   target, whose, dram);
	return -ERANGE;
}

int nve_options_check_latency(const struct nve_options *o, uint64_t dram_lat_ps,
			      struct nve_options_message *error)
{
	const char *whose = o->counters == NVE_COUNTERS_REPLAY ? "the record's" : "this machine's";
	int result = check_latency("NVM_RLAT", o->rlat_ps, dram_lat_ps, whose, error);

	if (!result)
		result = check_latency("NVM_WLAT", o->wlat_ps, dram_lat_ps, whose, error);
	return result;
}

static bool is_own(uint64_t target_ps, uint64_t dram_lat_ps)
{
	return !target_ps || target_ps == dram_lat_ps;
}

uint64_t nve_options_budget_ppm(const struct nve_options *o, uint64_t dram_lat_ps)
{
	bool owes = !is_own(o->rlat_ps, dram_lat_ps) || !is_own(o->wlat_ps, dram_lat_ps) ||
		    o->rbw_bytes_per_s || o->wbw_bytes_per_s || o->device[0];
	bool wanted = o->heat || o->placing != NVE_PLACE_ALL || o->record[0] ||
		      o->regions == NVE_REGIONS_ONLY;

	return owes || wanted ? o->budget_ppm : o->budget_ppm / UNPAID_PARTS;
}

static int check_bandwidth(const char *name, uint64_t target, uint64_t most,
			   struct nve_options_message *error)
{
	char wanted[32], had[32];

	if (target <= most)
		return 0;
	nve_quantity_format(target, nve_units_bandwidth, wanted, sizeof(wanted));
	/* to 10 MB/s: it was measured */
	nve_quantity_format(most - most % 10000000, nve_units_bandwidth, had, sizeof(had));
	nve_format(error->text, sizeof(error->text),
		   "%s: %s is above the %s that this machine's memory gives; it cannot be made "
		   "faster",
		   name, wanted, had);
	return -ERANGE;
}

int nve_options_check_bandwidth(const struct nve_options *o, uint64_t read_bytes_per_s,
				uint64_t write_bytes_per_s, struct nve_options_message *error)
{
	int result = check_bandwidth("NVM_RBW", o->rbw_bytes_per_s, read_bytes_per_s, error);

	if (!result)
		result = check_bandwidth("NVM_WBW", o->wbw_bytes_per_s, write_bytes_per_s, error);
	return result;
}
