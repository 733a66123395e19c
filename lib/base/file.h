/*
 * Small files: read whole, written so that nobody ever sees one half written. No malloc, no stdio.
 * All return 0 or -errno.
 */
#ifndef NVE_BASE_FILE_H
#define NVE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { NVE_FILE_PATH_BYTES = 4096 };

/* Reads the whole file at path and ends it with a NUL. -EFBIG if it has size bytes or more:
 * then buf holds the first of them, without a NUL. */
int nve_file_read(const char *path, char *buf, size_t size, size_t *length);

/*
 * Writes all of data to fd. The signals that a failing write brings (SIGPIPE, SIGXFSZ) never reach
 * the program.
 */
int nve_file_write_all(int fd, const void *data, size_t size);

/*
 * A file in the making: it lies under a name of its own beside path until it is committed. After
 * nve_file_create succeeded one of commit and discard must follow; after a failed append, discard.
 */
struct nve_file {
	int fd;
	char path[NVE_FILE_PATH_BYTES], temp[NVE_FILE_PATH_BYTES];
};

int nve_file_create(struct nve_file *file, const char *path, mode_t mode);
int nve_file_append(struct nve_file *file, const void *data, size_t size);
/* replace: whether a file of that name may be replaced; else -EEXIST. Discards on failure. */
int nve_file_commit(struct nve_file *file, bool replace);
void nve_file_discard(struct nve_file *file);

/* The three in one, the first replacing, the second never. */
int nve_file_write(const char *path, const void *data, size_t size, mode_t mode);
int nve_file_write_new(const char *path, const void *data, size_t size, mode_t mode);

/* Makes the directory and those above it, as mkdir -p. */
int nve_file_make_dirs(const char *path, mode_t mode);

/* Moves fd out of the way of the program, whose descriptors count up from the lowest number.
 * Returns the new descriptor, close-on-exec; or fd itself where no high one is to be had. */
int nve_file_move_high(int fd);

#endif
