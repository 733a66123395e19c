/*
 * OpenMP as GCC compiles it. libgomp waits on futexes by system calls of its own, so its entry
 * points are hooked: what a thread owes is served before it reaches a barrier or leaves a critical
 * section.
 *
 * A parallel region's function is run through one of ours, which serves the delay before libgomp's
 * own barrier at the end.
 */
#include <stdbool.h>
#include <stdint.h>

#include "emu/handover.h"
#include "preload/real.h"
#include "runtime.h"

typedef void region_function(void *data);

enum { CACHE = 256, PROBES = 8, CLAIMED = 1 };

#define CALLER() __builtin_return_address(0)

/* A process may have several libgomps, in Python's packages for instance: each caller has its own.
 * Entries stay. */
static struct {
	_Atomic uintptr_t key;
	void *real;
} cache[CACHE];

static void *real_for(const char *name, const void *caller)
{
	uintptr_t key = ((uintptr_t)caller << 8 ^ (uintptr_t)name) | 2, empty;
	unsigned first = (unsigned)(key * 0x9e3779b97f4a7c15u >> 56);
	void *real;

	for (unsigned i = 0; i < PROBES; i++)
		if (atomic_load_explicit(&cache[(first + i) % CACHE].key, memory_order_acquire) ==
		    key)
			return cache[(first + i) % CACHE].real;
	real = nve_real_for(name, "libgomp.so.1", caller);
	for (unsigned i = 0; i < PROBES; i++) {
		empty = 0;
		if (!atomic_compare_exchange_strong(&cache[(first + i) % CACHE].key, &empty,
						    CLAIMED))
			continue;
		cache[(first + i) % CACHE].real = real;
		atomic_store_explicit(&cache[(first + i) % CACHE].key, key, memory_order_release);
		break;
	}
	return real;
}

static void before(void)
{
	if (nve_handover_armed & NVE_HANDOVER_SYNC)
		nve_handover_before_wait();
}

static void after(const void *address)
{
	if (nve_handover_armed & NVE_HANDOVER_SYNC)
		nve_handover_after_wait((uint64_t)(uintptr_t)address);
}

struct region {
	region_function *function;
	void *data;
};

static void run_region(void *arg)
{
	struct region region = *(struct region *)arg;

	after((const void *)(uintptr_t)region.function);
	region.function(region.data);
	before();
}

/* clang-format off */
#define REGION(name, params, args)                                                                 \
	void name params;                                                                          \
	NVE_EXPORT void name params                                                                \
	{                                                                                          \
		void (*real) params = (void (*) params)real_for(#name, CALLER());                  \
		struct region region = {function, data};                                           \
                                                                                                   \
		if (nve_runtime_follows_threads()) {                                               \
			function = run_region;                                                     \
			data = &region;                                                            \
		}                                                                                  \
		before();                                                                          \
		real args;                                                                         \
		after(CALLER());                                                                   \
	}

#define LOOP(name)                                                                                 \
	REGION(name,                                                                               \
	       (region_function *function, void *data, unsigned threads, long start, long end,     \
		long step, long chunk, unsigned flags),                                            \
	       (function, data, threads, start, end, step, chunk, flags))

#define LOOP_AT_RUNTIME(name)                                                                      \
	REGION(name,                                                                               \
	       (region_function *function, void *data, unsigned threads, long start, long end,     \
		long step, unsigned flags),                                                        \
	       (function, data, threads, start, end, step, flags))

#define CALL(type, name, params, args)                                                             \
	type name params;                                                                          \
	NVE_EXPORT type name params                                                                \
	{                                                                                          \
		type (*real) params = (type (*) params)real_for(#name, CALLER());                  \
                                                                                                   \
		before();                                                                          \
		RUN_##type(real args)                                                              \
	}

#define RUN_void(call)                                                                             \
	call;                                                                                      \
	after(CALLER());
#define RUN_bool(call)                                                                             \
	bool result = call;                                                                        \
                                                                                                   \
	after(CALLER());                                                                           \
	return result;

REGION(GOMP_parallel,
       (region_function *function, void *data, unsigned threads, unsigned flags),
       (function, data, threads, flags))
REGION(GOMP_parallel_sections,
       (region_function *function, void *data, unsigned threads, unsigned count, unsigned flags),
       (function, data, threads, count, flags))
LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)
LOOP_AT_RUNTIME(GOMP_parallel_loop_runtime)
LOOP_AT_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
LOOP_AT_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
CALL(void, GOMP_barrier, (void), ())
CALL(bool, GOMP_barrier_cancel, (void), ())
CALL(void, GOMP_loop_end, (void), ())
CALL(bool, GOMP_loop_end_cancel, (void), ())
CALL(void, GOMP_sections_end, (void), ())
CALL(bool, GOMP_sections_end_cancel, (void), ())
CALL(void, GOMP_critical_start, (void), ())
CALL(void, GOMP_critical_end, (void), ())
CALL(void, GOMP_critical_name_start, (void **which), (which))
CALL(void, GOMP_critical_name_end, (void **which), (which))
CALL(void, GOMP_atomic_start, (void), ())
CALL(void, GOMP_atomic_end, (void), ())
CALL(void, GOMP_ordered_start, (void), ())
CALL(void, GOMP_ordered_end, (void), ())
CALL(void, GOMP_taskwait, (void), ())
CALL(void, GOMP_taskgroup_end, (void), ())
/* clang-format on */
