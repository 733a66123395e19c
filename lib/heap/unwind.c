#include "heap/unwind.h"

#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "heap/heap.h"

enum { OWN_FRAMES = 8 }; /* ours, at most */

static nve_unwind_fn *backtrace;

void nve_unwind_setup(nve_unwind_fn *given)
{
	void *address[OWN_FRAMES];

	backtrace = given;
	if (backtrace)
		backtrace(address, OWN_FRAMES);
}

uint32_t nve_unwind(uint64_t caller, uint64_t *address, uint32_t count)
{
	void *found[NVE_HEAP_DEPTH_MAX + OWN_FRAMES];
	int first = 0, frames = 0;

	if (backtrace)
		frames = backtrace(found, (int)count + OWN_FRAMES);
	while (first < frames && (uint64_t)(uintptr_t)found[first] != caller)
		first++;
	count = NVE_MIN(count, (uint32_t)NVE_MAX(frames - first, 0));
	for (uint32_t i = 0; i < count; i++)
		address[i] = (uint64_t)(uintptr_t)found[(uint32_t)first + i];
	/* What lies below the program's first frame is no return address. */
	while (count && !address[count - 1])
		count--;
	return count;
}
