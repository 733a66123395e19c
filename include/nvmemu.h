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

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that the program runs with, as "0.1.0". A constant; never NULL. */
const char *nvmemu_version(void);

#ifdef __cplusplus
}
#endif

#endif
