/* A plugin that allocates and frees, for itself and for others; also when it is loaded. */
#include <stdlib.h>
#include <string.h>

static char *own;

char *plugin_give(size_t size)
{
	return calloc(1, size);
}

void plugin_take(char *p)
{
	free(p);
}

char *plugin_grow(char *p, size_t size)
{
	return realloc(p, size);
}

__attribute__((constructor)) static void begin(void)
{
	free(strdup("by the C library"));
	own = malloc(5000);
}

__attribute__((destructor)) static void end(void)
{
	free(own);
}
