#include "presets.h"

#include <errno.h>

#include "base/file.h"
#include "base/log.h"
#include "lineage.h"

static struct {
	bool found;
	struct nve_preset device;
	char path[NVE_FILE_PATH_BYTES];
	char file[NVE_PRESET_FILE_BYTES];
} state;

int nve_presets_load(struct nve_options *options, char *const envp[],
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
	if (!err || nve_lineage_is_root())
		return err;
	nve_log(NVE_LOG_WARN, "%s: a child runs without it", error->text);
	options->device[0] = '\0';
	return 0;
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

static bool limits(enum nve_preset_key key)
{
	return state.device.figure[key].kind != NVE_PRESET_NONE;
}

bool nve_presets_have_bandwidth(const struct nve_options *options)
{
	return state.found && ((!options->rbw_bytes_per_s && limits(NVE_PRESET_RBW)) ||
			       (!options->wbw_bytes_per_s && limits(NVE_PRESET_WBW)));
}

static void apply_bandwidth(enum nve_preset_key key, uint64_t device, uint64_t machine,
			    uint64_t *bytes_per_s)
{
	char figure[NVE_PRESET_ABOUT_BYTES];

	if (*bytes_per_s || !limits(key))
		return;
	if (device && (!machine || device <= machine)) {
		*bytes_per_s = device;
		return;
	}
	nve_preset_format(&state.device.figure[key], figure, sizeof(figure));
	nve_log(NVE_LOG_INFO, "NVM_DEVICE: %s: %s=%s is no limit here: %s", state.device.name,
		nve_preset_key_name(key), figure,
		device ? "this machine's memory does not reach it"
		       : "it is a share of a machine's, which a record does not tell");
}

void nve_presets_apply_bandwidth(struct nve_options *options, uint64_t machine_read,
				 uint64_t machine_write)
{
	uint64_t rbw, wbw;

	if (!state.found)
		return;
	nve_preset_bandwidths(&state.device, machine_read, machine_write, &rbw, &wbw);
	apply_bandwidth(NVE_PRESET_RBW, rbw, machine_read, &options->rbw_bytes_per_s);
	apply_bandwidth(NVE_PRESET_WBW, wbw, machine_write, &options->wbw_bytes_per_s);
}
