/*
 * Names for places in modules, long after they ran: functions, files and lines, by libdw; with
 * inlined functions, and with the debug information that is installed beside (by build id). All of
 * them keep errno, which may hold why a stream takes no more.
 */
#ifndef CLI_SYMBOLS_H
#define CLI_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One function at a place. */
struct symbol {
	const char *function; /* NULL: not known */
	const char *file;     /* NULL: not known */
	int line;             /* 0: not known */
};

struct symbols;

/* wanted: false gives symbols that know nothing. NULL: no memory. */
struct symbols *symbols_new(bool wanted);
void symbols_free(struct symbols *s);

/*
 * What stands at a return address of a module, by its path and its build id (hexadecimal digits;
 * "": any): functions inlined there first, the one that they are in last. At least one, maybe of
 * nothing but NULLs. *count: how many. Good until symbols_free().
 */
const struct symbol *symbols_find(struct symbols *s, const char *path, const char *build_id,
				  uint64_t offset, size_t *count);

#endif
