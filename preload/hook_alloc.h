/* The allocation hooks: in force, or as good as not there. */
#ifndef NVE_PRELOAD_HOOK_ALLOC_H
#define NVE_PRELOAD_HOOK_ALLOC_H

#include <stdint.h>

#include "heap/alloc.h"
#include "heap/mapped.h"

/* What the program's blocks are had from without us. */
struct nve_alloc_next nve_hook_alloc_next(void);
struct nve_mapped_next nve_hook_alloc_next_mapped(void);

/* The hooks lead to lib/heap from now on. -ENOTSUP: the program's calls of malloc do not reach us.
 */
int nve_hook_alloc_begin(void);

/* Nobody asks for sites: as far as it can be done, calls go past us. start, end: our library in
 * memory. */
void nve_hook_alloc_withdraw(uint64_t start, uint64_t end);

#endif
