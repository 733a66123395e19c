/*
 * Call paths by libunwind's unw_backtrace(), which remembers how to step over a frame, per thread.
 * The library is loaded by who preloads us, for us alone: its functions of the exception ABI must
 * never become the program's.
 */
#ifndef NVE_HEAP_UNWIND_H
#define NVE_HEAP_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

typedef int nve_unwind_fn(void **address, int count);

/* NULL: there is none. The first call is made here: it is the dearest. */
void nve_unwind_setup(nve_unwind_fn *backtrace);

/*
 * The return addresses of the calling thread, innermost first, from caller on, which is one of
 * them. Returns how many, at most count; 0: not to be had. May take the loader's locks.
 */
uint32_t nve_unwind(uint64_t caller, uint64_t *address, uint32_t count);

/*
 * Around a fork: libunwind has locks of its own, which a child must not find taken. Waits for other
 * threads to come out of nve_unwind(), and keeps them out. Only for wait_ns: one of them may wait
 * for the loader's locks, and the calling thread may have those; then the child does not unwind.
 */
void nve_unwind_before_fork(uint64_t wait_ns);
void nve_unwind_after_fork(bool child);

/*
 * Is the calling thread in nve_unwind()? libunwind masks signals meanwhile, and puts back what it
 * found: maybe in the middle of a function of the C library that has all of them blocked behind the
 * hooks' back. Signal-safe.
 */
bool nve_unwind_running(void);

#endif
