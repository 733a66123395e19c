/*
 * Where a calibration is kept between processes: a small text file in the user's cache directory,
 * one per CPU model and boot. What is damaged, or from another machine, boot or version, is
 * ignored.
 *
 * No malloc, no stdio, no environment but the one passed in. Not for set-user-ID processes: they
 * must not trust an environment.
 */
#ifndef NVE_COUNT_CALSTORE_H
#define NVE_COUNT_CALSTORE_H

#include <stddef.h>

#include "count/calibration.h"

enum { NVE_CALSTORE_PATH_BYTES = 1024 };

struct nve_calstore {
	char cpu[64];                       /* model name, as the processor tells it */
	char boot_id[40];                   /* of the running kernel */
	char path[NVE_CALSTORE_PATH_BYTES]; /* empty: there is no place to keep it */
	int lock_fd;                        /* -1: not locked */
};

/*
 * Finds, and makes, the place: $XDG_CACHE_HOME/nvmemu, else $HOME/.cache/nvmemu, else
 * /run/user/UID/nvmemu, else /tmp/nvmemu-UID; it must belong to the effective user, and so must the
 * directory that the variable names. Returns 0, or -ENOENT where there is none: then load, save and
 * lock fail, cpu and boot_id are set all the same.
 */
int nve_calstore_setup(struct nve_calstore *store, char *const envp[]);

/*
 * Returns 0; -ENOENT where nothing is kept; -EINVAL where it is damaged or impossible, -ESTALE
 * where it is of another version, boot or CPU; or what reading gave. *reason says which, in words;
 * it is a constant. *calibration is set only on success.
 */
int nve_calstore_load(const struct nve_calstore *store, struct nve_calibration *calibration,
		      const char **reason);

/* Returns 0 or -errno; -ERANGE where the calibration is impossible. The last writer wins. */
int nve_calstore_save(const struct nve_calstore *store, const struct nve_calibration *calibration);

/*
 * Lets one process of many measure while the others wait; load again after it. Returns 0; or
 * -ETIMEDOUT after at most 300 ms, or another -errno at once: then measure without it.
 */
int nve_calstore_lock(struct nve_calstore *store);
void nve_calstore_unlock(struct nve_calstore *store);

/* The processor's model name, at most size - 1 bytes of it. */
void nve_calstore_cpu_name(char *buf, size_t size);

#endif
