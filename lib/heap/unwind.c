#include "heap/unwind.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "base/clock.h"
#include "heap/heap.h"

enum { OWN_FRAMES = 8 }; /* ours, at most */

static nve_unwind_fn *backtrace;

static struct {
	_Atomic uint32_t threads; /* that unwind */
	_Atomic bool forking;
	bool left_behind; /* one of them did not come out in time */
} state;

static __thread volatile bool running;
static __thread bool forks;

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

void nve_unwind_before_fork(uint64_t wait_ns)
{
	uint32_t own = running;
	uint64_t end_ns = nve_clock_ns(CLOCK_MONOTONIC) + wait_ns;

	forks = true;
	atomic_store(&state.forking, true);
	while (atomic_load(&state.threads) > own && nve_clock_ns(CLOCK_MONOTONIC) < end_ns)
		sched_yield();
	state.left_behind = atomic_load(&state.threads) > own;
}

void nve_unwind_after_fork(bool child)
{
	if (child && state.left_behind)
		backtrace = NULL;
	if (child)
		atomic_store(&state.threads, running);
	atomic_store(&state.forking, false);
	forks = false;
}

static void enter(void)
{
	running = true;
	atomic_fetch_add(&state.threads, 1);
	while (atomic_load(&state.forking)) {
		atomic_fetch_sub(&state.threads, 1);
		while (atomic_load(&state.forking))
			sched_yield();
		atomic_fetch_add(&state.threads, 1);
	}
}

static void leave(void)
{
	atomic_fetch_sub(&state.threads, 1);
	running = false;
}

/* It reads and writes pipes of its own, but malloc() is no cancellation point. */
static int unwind(void **found, int count)
{
	bool nested = running;
	int frames, cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (!nested)
		enter();
	frames = backtrace(found, count);
	if (!nested)
		leave();
	pthread_setcancelstate(cancel, NULL);
	return frames;
}

uint32_t nve_unwind(uint64_t caller, uint64_t *address, uint32_t count)
{
	void *found[NVE_HEAP_DEPTH_MAX + OWN_FRAMES];
	int first = 0, frames = 0;

	if (backtrace && !forks)
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
