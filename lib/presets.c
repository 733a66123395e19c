#include "presets.h"

#include <errno.h>

#include "base/file.h"
#include "base/log.h"

static struct {
	bool found;
	struct nve_preset device;
	char path[NVE_FILE_PATH_BYTES];
	char file[NVE_PRESET_FILE_BYTES];
} state;

int nve_presets_load(const struct nve_options *options, char *const envp[],
		     struct nve_options_message *error)
{
	struct nve_preset_text text;
	bool has_file;
	int err;

	state.found = false;
	if (!options->device[0])
		return 0;
	has_file = !nve_preset_path(envp, state.path, sizeof(state.path));
	err = has_file ? nve_preset_read(state.path, state.file, &text, error) : 0;
	if (!err)
		err = nve_preset_find(options->device, has_file ? &text : NULL, &state.device,
				      error);
	state.found = !err;
	return err;
}

const struct nve_preset *nve_presets_device(void)
{
	return state.found ? &state.device : NULL;
}

static int check(const char *which, uint64_t ps, uint64_t dram_lat_ps,
		 struct nve_options_message *error)
{
	if (!ps || ps >= dram_lat_ps)
		return 0;
	nve_format(error->text, sizeof(error->text),
		   "NVM_DEVICE: %s: its %s latency of %llu.%03lluns is below the DRAM latency of "
		   "%llu.%03lluns; memory cannot be made faster",
		   state.device.name, which, (unsigned long long)ps / 1000,
		   (unsigned long long)ps % 1000, (unsigned long long)dram_lat_ps / 1000,
		   (unsigned long long)dram_lat_ps % 1000);
	return -ERANGE;
}

int nve_presets_apply(struct nve_options *options, uint64_t dram_lat_ps,
		      struct nve_options_message *error)
{
	uint64_t rlat_ps, wlat_ps;
	int err = 0;

	if (!state.found)
		return 0;
	nve_preset_latencies(&state.device, dram_lat_ps, &rlat_ps, &wlat_ps);
	if (!options->rlat_ps)
		err = check("read", rlat_ps, dram_lat_ps, error);
	if (!options->wlat_ps && !err)
		err = check("write", wlat_ps, dram_lat_ps, error);
	if (err)
		return err;
	if (!options->rlat_ps)
		options->rlat_ps = rlat_ps;
	if (!options->wlat_ps)
		options->wlat_ps = wlat_ps;
	return 0;
}
