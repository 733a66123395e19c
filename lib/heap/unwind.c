#include "heap/unwind.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "heap/heap.h"

enum { OWN_FRAMES = 8 }; /* ours, at most */

static nve_unwind_fn *backtrace;

static __thread volatile bool running;

void nve_unwind_setup(nve_unwind_fn *given)
{
	void *address[OWN_FRAMES];

	backtrace = given;
	if (backtrace)
		backtrace(address, OWN_FRAMES);
}

bool nve_unwind_running(void)
{
	return running;
}

/* It reads and writes pipes of its own, but malloc() is no cancellation point. */
static int unwind(void **found, int count)
{
	bool before = running;
	int frames, cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	running = true;
	frames = backtrace(found, count);
	running = before;
	pthread_setcancelstate(cancel, NULL);
	return frames;
}

uint32_t nve_unwind(uint64_t caller, uint64_t *address, uint32_t count)
{
	void *found[NVE_HEAP_DEPTH_MAX + OWN_FRAMES];
	int first = 0, frames = 0;

	if (backtrace)
		frames = unwind(found, (int)count + OWN_FRAMES);
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
