/*
 * Log lines to stderr or a file: own formatter, one write(2) a line, no malloc, no stdio, no lock:
 * safe in a signal handler and before main. Lines look like "nvmemu: warning: text\n"; what is not
 * printable shows as '?'.
 *
 * Where the descriptor is no longer the file that it was at setup (the program closed its stderr
 * and opened something else), nothing is written. errno stays as it was.
 */
#ifndef NVE_BASE_LOG_H
#define NVE_BASE_LOG_H

#include <stdarg.h>
#include <stddef.h>

enum nve_log_level { NVE_LOG_ERROR, NVE_LOG_WARN, NVE_LOG_INFO, NVE_LOG_DEBUG };

/* file: NULL or "" for stderr; opened for appending, close-on-exec, moved to a high descriptor.
 * Returns 0 or -errno (then stderr is used). */
int nve_log_setup(enum nve_log_level level, const char *file);

/* %s %d %u %ld %lu %lld %llu %zu %x %lx %p %c %% and %m; width, '-', zero fill of integers, and
 * the precision of %s. Text ends at any other conversion. */
void nve_log(enum nve_log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The formatter itself: as snprintf, for the conversions above. */
int nve_format(char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int nve_vformat(char *buf, size_t size, const char *format, va_list args);

#endif
