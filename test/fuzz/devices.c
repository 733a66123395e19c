/* A user's file of devices: each line read, and each device's latencies and figures shown. */
#include <stdlib.h>
#include <string.h>

#include "base/preset.h"
#include "fuzz.h"

static void use(const struct nve_preset *preset)
{
	uint64_t rlat_ps, wlat_ps;
	char text[64];

	nve_preset_latencies(preset, 100000, &rlat_ps, &wlat_ps);
	if (wlat_ps < rlat_ps)
		abort();
	for (size_t i = 0; i < NVE_PRESET_KEYS; i++)
		if (nve_preset_format(&preset->figure[i], text, sizeof(text)) >= (int)sizeof(text))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *content = malloc(size + 1);
	struct nve_preset_text text = {.path = "file", .at = content};
	struct nve_options_message error;
	struct nve_preset preset;

	if (!content)
		return 0;
	memcpy(content, data, size);
	content[size] = '\0';
	while (nve_preset_next(&text, &preset, &error) > 0)
		use(&preset);
	text = (struct nve_preset_text){.path = "file", .at = content};
	nve_preset_find("pcm", &text, &preset, &error);
	free(content);
	return 0;
}
