/*
 * A lock for what is changed seldom and quickly. Not the C library's mutex: hooks stand before
 * that. Whoever holds it takes no other one, calls neither the loader nor the allocator, and is in
 * no signal handler. A child by fork opens it if a thread that it does not have held it.
 */
#ifndef NVE_HEAP_LOCK_H
#define NVE_HEAP_LOCK_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

struct nve_lock {
	_Atomic bool locked;
};

static inline void nve_lock_take(struct nve_lock *lock)
{
	while (atomic_exchange_explicit(&lock->locked, true, memory_order_acquire))
		sched_yield();
}

static inline void nve_lock_release(struct nve_lock *lock)
{
	atomic_store_explicit(&lock->locked, false, memory_order_release);
}

#endif
