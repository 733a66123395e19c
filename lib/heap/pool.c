#include "heap/pool.h"

#include <sys/mman.h>

#include "base/base.h"

enum { PIECE_BYTES = 256 << 10, ALIGNMENT = 16 };

void *nve_pool_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void *nve_pool_take(struct nve_pool *pool, size_t bytes)
{
	void *taken;

	bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (bytes > PIECE_BYTES)
		return nve_pool_map(bytes);
	if (bytes > pool->left) {
		pool->next = nve_pool_map(PIECE_BYTES);
		pool->left = pool->next ? PIECE_BYTES : 0;
		if (!pool->next)
			return NULL;
	}
	taken = pool->next;
	pool->next += bytes;
	pool->left -= bytes;
	return taken;
}
