/*
 * fresh SECONDS: page faults of known sites. Two blocks, three quarters and one quarter of all
 * pages, are touched page by page and given back, in turns, until so much CPU time has passed.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "work.h"

enum { MANY_BYTES = 3 << 20, FEW_BYTES = 1 << 20 };

static size_t page_bytes;

static char *begin(char *block, size_t bytes)
{
	size_t off = (size_t)block % page_bytes;
	char *first = block + (off ? page_bytes - off : 0);

	CHECK(block);
	/* each page its own fault */
	madvise(first, bytes - page_bytes, MADV_NOHUGEPAGE);
	return first;
}

static void touch(char *first, size_t bytes)
{
	for (size_t i = 0; i + page_bytes < bytes; i += page_bytes)
		((volatile char *)first)[i] = 1;
	CHECK(!madvise(first, bytes - page_bytes, MADV_DONTNEED));
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.3;
	char *many, *few, *first_many, *first_few;

	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	many = malloc(MANY_BYTES + page_bytes); /* site: many */
	few = malloc(FEW_BYTES + page_bytes);   /* site: few */
	first_many = begin(many, MANY_BYTES + page_bytes);
	first_few = begin(few, FEW_BYTES + page_bytes);
	while ((double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) < seconds * 1e9) {
		touch(first_many, MANY_BYTES + page_bytes);
		touch(first_few, FEW_BYTES + page_bytes);
	}
	free(many);
	free(few);
	return 0;
}
