/* What jemalloc calls, by the names that the build gives to it; see system.c. */
#ifndef NVE_HEAP_JEMALLOC_SYSTEM_H
#define NVE_HEAP_JEMALLOC_SYSTEM_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

extern const char *je_malloc_conf; /* jemalloc reads it */

int nve_arena_backtrace(void *step, void *arg);
unsigned long nve_arena_ip(void *context);
void *nve_arena_symbol(void *handle, const char *name);
int nve_arena_thread(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
		     void *arg);
ssize_t nve_arena_link(const char *path, char *buf, size_t size);
void *nve_arena_sbrk(intptr_t increment);
char *nve_arena_variable(const char *name);
void *nve_arena_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset);
int nve_arena_munmap(void *addr, size_t size);
int nve_arena_madvise(void *addr, size_t size, int advice);
int nve_arena_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int nve_arena_mutex_lock(pthread_mutex_t *mutex);
int nve_arena_mutex_trylock(pthread_mutex_t *mutex);
int nve_arena_mutex_unlock(pthread_mutex_t *mutex);

#endif
