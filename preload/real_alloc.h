/*
 * The calls by which memory is had or limited, and two that tell of the loader: one row each, from
 * which come the functions behind ours (hook_alloc.c) and, where nobody asks for sites, the
 * withdrawal of our hooks (withdraw.c).
 *
 * X(type, name, parameters, arguments)
 */
#ifndef NVE_PRELOAD_REAL_ALLOC_H
#define NVE_PRELOAD_REAL_ALLOC_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

typedef int nve_phdr_fn(struct dl_phdr_info *info, size_t size, void *arg);

/* clang-format off */
#define NVE_REAL_ALLOC(X)                                                                          \
	X(void *, malloc, (size_t size), (size))                                                   \
	X(void *, calloc, (size_t count, size_t size), (count, size))                              \
	X(void *, realloc, (void *p, size_t size), (p, size))                                      \
	X(void *, reallocarray, (void *p, size_t count, size_t size), (p, count, size))            \
	X(void, free, (void *p), (p))                                                              \
	X(void *, memalign, (size_t alignment, size_t size), (alignment, size))                    \
	X(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))               \
	X(int, posix_memalign, (void **p, size_t alignment, size_t size), (p, alignment, size))    \
	X(void *, valloc, (size_t size), (size))                                                   \
	X(void *, pvalloc, (size_t size), (size))                                                  \
	X(size_t, malloc_usable_size, (void *p), (p))                                              \
	X(void *, mmap, (void *addr, size_t size, int prot, int flags, int fd, off_t offset),      \
	  (addr, size, prot, flags, fd, offset))                                                   \
	X(void *, mmap64, (void *addr, size_t size, int prot, int flags, int fd, off_t offset),    \
	  (addr, size, prot, flags, fd, offset))                                                   \
	X(int, munmap, (void *addr, size_t size), (addr, size))                                    \
	X(int, dl_iterate_phdr, (nve_phdr_fn *visit, void *arg), (visit, arg))                     \
	X(int, dlclose, (void *handle), (handle))                                                  \
	X(int, setrlimit, (__rlimit_resource_t what, const struct rlimit *limit), (what, limit))   \
	X(int, setrlimit64, (__rlimit_resource_t what, const struct rlimit64 *limit),              \
	  (what, limit))                                                                           \
	X(int, prlimit, (pid_t pid, enum __rlimit_resource what, const struct rlimit *limit,       \
	  struct rlimit *old), (pid, what, limit, old))                                            \
	X(int, prlimit64, (pid_t pid, enum __rlimit_resource what, const struct rlimit64 *limit,   \
	  struct rlimit64 *old), (pid, what, limit, old))
/* clang-format on */

#define NVE_REAL_ALLOC_MEMBER(type, name, params, args) type(*name) params;
struct nve_real_alloc {
	NVE_REAL_ALLOC(NVE_REAL_ALLOC_MEMBER)
};
#undef NVE_REAL_ALLOC_MEMBER

/* The functions behind our hooks. */
extern struct nve_real_alloc nve_real_alloc;

/* Looks them up; safe in the first allocation of a process. */
void nve_real_alloc_setup(void);

/* mremap() alone has arguments that need not be there. */
void *(*nve_real_alloc_mremap(void))(void *, size_t, size_t, int, ...);

/* Does a call of malloc reach us? Not where the program has one of its own. */
bool nve_real_alloc_is_ours(void *hook);

#endif
