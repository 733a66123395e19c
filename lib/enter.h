/* Which programs a preloaded library gets into. */
#ifndef NVE_ENTER_H
#define NVE_ENTER_H

#include <stdbool.h>
#include <stddef.h>

/* The first bytes of a program's file: a script, or of this word size and with a loader? Pure. */
bool nve_enter_may(const void *head, size_t size);

/*
 * The same of a file, which must not give its user other rights either. True where it cannot be
 * read, or is to be searched for (a name without a slash). Takes a descriptor for its duration;
 * signal-safe, and fit for a child by vfork.
 */
bool nve_enter_file(const char *path);

#endif
