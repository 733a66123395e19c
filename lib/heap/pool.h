/* Memory that is never given back, for tables that grow. Under the caller's lock. */
#ifndef NVE_HEAP_POOL_H
#define NVE_HEAP_POOL_H

#include <stddef.h>

struct nve_pool {
	char *next;
	size_t left;
};

/* Zeroed, for any type; NULL: no memory. */
void *nve_pool_take(struct nve_pool *pool, size_t bytes);

/* A mapping of its own, zeroed; NULL: no memory. Needs no lock. */
void *nve_pool_map(size_t bytes);

#endif
