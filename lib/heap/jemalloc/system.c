/*
 * What jemalloc, built into ours, gets instead of functions of the C library (names).
 * Those that we have hooks for would come back to us; settings of a jemalloc that the program may
 * have of its own are none of ours; and what only its profiler and background threads need is not
 * there.
 */
#include "heap/jemalloc/system.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One arena for threads that have none of ours: late in their deaths. */
const char *je_malloc_conf = "narenas:1,background_thread:false,percpu_arena:disabled,prof:false,"
			     "stats_print:false,thp:default,metadata_thp:disabled,retain:true,"
			     "muzzy_decay_ms:0";

int nve_arena_backtrace(void *step, void *arg)
{
	(void)step;
	(void)arg;
	return 0;
}

unsigned long nve_arena_ip(void *context)
{
	(void)context;
	return 0;
}

void *nve_arena_symbol(void *handle, const char *name)
{
	(void)handle;
	(void)name;
	return NULL;
}

int nve_arena_thread(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
		     void *arg)
{
	(void)thread;
	(void)attr;
	(void)start;
	(void)arg;
	return EAGAIN;
}

ssize_t nve_arena_link(const char *path, char *buf, size_t size)
{
	(void)path;
	(void)buf;
	(void)size;
	errno = ENOENT;
	return -1;
}

void *nve_arena_sbrk(intptr_t increment)
{
	(void)increment;
	errno = ENOMEM;
	return (void *)-1;
}

char *nve_arena_variable(const char *name)
{
	(void)name;
	return NULL;
}

void *nve_arena_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	int error = errno;
	void *p = (void *)syscall(SYS_mmap, addr, size, prot, flags, fd, offset);

	errno = error;
	return p;
}

int nve_arena_munmap(void *addr, size_t size)
{
	int error = errno, rc = (int)syscall(SYS_munmap, addr, size);

	errno = error;
	return rc;
}

int nve_arena_madvise(void *addr, size_t size, int advice)
{
	int error = errno, rc = (int)syscall(SYS_madvise, addr, size, advice);

	errno = error;
	return rc;
}

/* The lock's word is the mutex's first, which its initializers leave 0: free. 1: taken; 2: and
 * somebody may wait. */
static _Atomic int *word_of(pthread_mutex_t *mutex)
{
	return (_Atomic int *)mutex;
}

int nve_arena_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
	(void)attr;
	memset(mutex, 0, sizeof(*mutex));
	return 0;
}

int nve_arena_mutex_trylock(pthread_mutex_t *mutex)
{
	int expected = 0;

	return atomic_compare_exchange_strong_explicit(word_of(mutex), &expected, 1,
						       memory_order_acquire, memory_order_relaxed)
		       ? 0
		       : EBUSY;
}

int nve_arena_mutex_lock(pthread_mutex_t *mutex)
{
	int error;

	if (!nve_arena_mutex_trylock(mutex))
		return 0;
	error = errno;
	while (atomic_exchange_explicit(word_of(mutex), 2, memory_order_acquire))
		syscall(SYS_futex, mutex, FUTEX_WAIT_PRIVATE, 2, NULL);
	errno = error;
	return 0;
}

int nve_arena_mutex_unlock(pthread_mutex_t *mutex)
{
	int error = errno;

	if (atomic_exchange_explicit(word_of(mutex), 0, memory_order_release) == 2)
		syscall(SYS_futex, mutex, FUTEX_WAKE_PRIVATE, 1);
	errno = error;
	return 0;
}
