#include "count/ahead/lines.h"

#include <string.h>

void nve_lines_clear(struct nve_lines *lines)
{
	lines->count = 0;
	if (++lines->generation == 0) { /* wrapped: old entries could look new */
		memset(lines->slot, 0, sizeof(lines->slot));
		lines->generation = 1;
	}
}

struct nve_line *nve_lines_touch(struct nve_lines *lines, uint64_t id, bool *fresh)
{
	uint32_t i = (uint32_t)(id * 0x9e3779b97f4a7c15u >> 51) % NVE_LINES_SLOTS;
	struct nve_line *line;

	for (;; i = (i + 1) % NVE_LINES_SLOTS) {
		line = &lines->slot[i];
		if (line->generation != lines->generation)
			break;
		if (line->id == id) {
			*fresh = false;
			return line;
		}
	}
	if (lines->count == NVE_LINES_MAX)
		return NULL;
	*line = (struct nve_line){.id = id, .generation = lines->generation};
	lines->order[lines->count++] = (uint16_t)i;
	*fresh = true;
	return line;
}
