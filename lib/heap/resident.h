/*
 * How much of each site's memory is resident: of blocks, the bytes of those that live and begin on
 * pages that the kernel has mapped in (a block of whole pages counts page by page, one of several
 * small pages by the page that it begins on); of mappings, data and the break, such pages.
 *
 * /proc/self/pagemap tells of pages. Where there are many, every n-th is looked at, n odd, and
 * counts n times: a site of m pages then comes out with a relative error of about sqrt(n / m).
 */
#ifndef NVE_HEAP_RESIDENT_H
#define NVE_HEAP_RESIDENT_H

#include <stdint.h>

struct nve_resident {
	uint32_t sites; /* bytes[] has so many, by site number */
	uint32_t every; /* n, the largest that was used */
	uint64_t *bytes;
};

/* 0 or -errno: then nothing is known. Takes a file descriptor for its duration, and memory until
 * nve_resident_forget(). By one thread at a time; others may allocate meanwhile, and what they do
 * may count or not. */
int nve_resident_measure(struct nve_resident *r);
void nve_resident_forget(struct nve_resident *r);

#endif
