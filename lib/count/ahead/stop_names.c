#include "count/ahead/stop_names.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "count/ahead/ahead.h"

static struct {
	struct {
		_Atomic uint64_t count;
		char name[NVE_AHEAD_STOP_NAME_BYTES];
	} entry[NVE_AHEAD_STOP_NAMES];
	_Atomic uint32_t count;
} state;

void nve_stop_names_count(const char *name)
{
	uint32_t n = atomic_load(&state.count);

	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(state.entry[i].name, name) == 0) {
			atomic_fetch_add(&state.entry[i].count, 1);
			return;
		}
	}
	/* Two threads may take the same slot; a name is then counted under the other: harmless. */
	if (n == NVE_AHEAD_STOP_NAMES)
		return;
	strncpy(state.entry[n].name, name, NVE_AHEAD_STOP_NAME_BYTES - 1);
	atomic_store(&state.entry[n].count, 1);
	atomic_store(&state.count, n + 1);
}

void nve_stop_names_forget(void)
{
	atomic_store(&state.count, 0);
}

int nve_ahead_stop_names(struct nve_ahead_stop_name *names, int capacity)
{
	int n = 0;

	for (uint32_t i = 0; i < atomic_load(&state.count); i++) {
		struct nve_ahead_stop_name entry = {.count = state.entry[i].count};
		int at = n < capacity ? n : capacity - 1;

		memcpy(entry.name, state.entry[i].name, sizeof(entry.name));
		if (n == capacity && names[at].count >= entry.count)
			continue;
		for (; at > 0 && names[at - 1].count < entry.count; at--)
			names[at] = names[at - 1];
		names[at] = entry;
		n = NVE_MIN(n + 1, capacity);
	}
	return n;
}
