/*
 * What the program maps itself (mmap, mremap), by the call path that did, and what else there is in
 * the process.
 */
#ifndef NVE_HEAP_MAPPED_H
#define NVE_HEAP_MAPPED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "heap/ranges.h"

/* The functions behind ours. */
struct nve_mapped_next {
	void *(*mmap)(void *addr, size_t size, int prot, int flags, int fd, off_t offset);
	int (*munmap)(void *addr, size_t size);
	void *(*mremap)(void *addr, size_t old_size, size_t size, int flags, ...);
};

/* 0 or -errno. library_start, library_end: our own code, whose mappings are not the program's. */
int nve_mapped_setup(const struct nve_mapped_next *next, uint64_t library_start,
		     uint64_t library_end);

void *nve_mapped_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset);
int nve_mapped_munmap(void *addr, size_t size);
void *nve_mapped_mremap(void *addr, size_t old_size, size_t size, int flags, void *wanted);

/* Whose it is. 0 or -ENOENT. Signal-safe. */
int nve_mapped_find(uint64_t addr, struct nve_range *found);

/* What the program has mapped, data of modules, and the break. Others may change the list
 * meanwhile: a range that moves in it may be left out, or come twice. */
void nve_mapped_each(void (*visit)(const struct nve_range *range, void *arg), void *arg);

/* Around a fork. */
void nve_mapped_before_fork(void);
void nve_mapped_after_fork(void);

#endif
