/*
 * libnvmemu: emulate slower memory under unmodified programs.
 *
 * No program needs this header: LD_PRELOAD=libnvmemu.so is enough. A program that links with the
 * library (-lnvmemu) can ask which version it got; it runs natively unless the environment asks for
 * emulation.
 */
#ifndef NVMEMU_H
#define NVMEMU_H

/* Of this header. The library's own may be later; see nvmemu_version. */
#define NVMEMU_VERSION_MAJOR 0
#define NVMEMU_VERSION_MINOR 1
#define NVMEMU_VERSION_PATCH 0
#define NVMEMU_VERSION       "0.1.0"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that the program runs with, as "0.1.0". A constant; never NULL. */
const char *nvmemu_version(void);

/*
 * Memory that is on the emulated NVM whatever the guidance file (NVM_PLACE=FILE) says; with
 * NVM_BIND, on that node. Without such a file, or where the library is inert, the two are malloc()
 * and free(). It is the call that counts: all memory of one call path is on NVM. Either kind of
 * block may be given to realloc() and to free(), too, and what realloc() moves is its caller's.
 * NULL, with errno set to ENOMEM: no memory. Thread-safe; not for signal handlers.
 */
void *nvmemu_malloc(size_t size);
void nvmemu_free(void *p);

#ifdef __cplusplus
}
#endif

#endif
