/* Where the command is built without libdw: places have no names. */
#include "symbols.h"

#include <stdlib.h>

struct symbols {
	struct symbol nothing;
};

struct symbols *symbols_new(bool wanted)
{
	(void)wanted;
	return calloc(1, sizeof(struct symbols));
}

void symbols_free(struct symbols *s)
{
	free(s);
}

const struct symbol *symbols_find(struct symbols *s, const char *path, const char *build_id,
				  uint64_t offset, size_t *count)
{
	(void)path;
	(void)build_id;
	(void)offset;
	*count = 1;
	return &s->nothing;
}
