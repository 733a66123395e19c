#include "count/ahead/lines.h"

#include <string.h>

#include "base/base.h"

enum { INDEX_MIN = 1024 };

void nve_lines_clear(struct nve_lines *lines, uint32_t expect)
{
	uint32_t size = INDEX_MIN;

	while (size < NVE_LINES_INDEX && size < 2 * expect)
		size *= 2;
	lines->mask = size - 1;
	lines->max = NVE_MIN((uint32_t)NVE_LINES_MAX, size / 4 * 3);
	lines->count = 0;
	if (++lines->generation == 0) { /* wrapped: old entries could look new */
		memset(lines->index, 0, sizeof(lines->index));
		lines->generation = 1;
	}
}

/* The slot of the line, or that which it would get. */
static uint32_t slot(const struct nve_lines *lines, uint64_t id)
{
	uint32_t i = (uint32_t)(id * 0x9e3779b97f4a7c15u >> 40) & lines->mask;

	while (lines->index[i].generation == lines->generation &&
	       lines->line[lines->index[i].at].id != id)
		i = (i + 1) & lines->mask;
	return i;
}

const struct nve_line *nve_lines_find(const struct nve_lines *lines, uint64_t id)
{
	uint32_t i = slot(lines, id);

	if (lines->index[i].generation != lines->generation)
		return NULL;
	return &lines->line[lines->index[i].at];
}

struct nve_line *nve_lines_touch(struct nve_lines *lines, uint64_t id, bool *fresh)
{
	uint32_t i = slot(lines, id);
	struct nve_line *line;

	*fresh = lines->index[i].generation != lines->generation;
	if (!*fresh)
		return &lines->line[lines->index[i].at];
	if (lines->count == lines->max)
		return NULL;
	lines->index[i] = (struct nve_lines_index){lines->generation, (uint16_t)lines->count};
	line = &lines->line[lines->count++];
	*line = (struct nve_line){.id = id};
	return line;
}
