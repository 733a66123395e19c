/*
 * The files that are loaded into the process, by addresses in them. Neither locks of the loader nor
 * memory of malloc are used: the loader's own index answers (_dl_find_object).
 */
#ifndef NVE_HEAP_MODULES_H
#define NVE_HEAP_MODULES_H

#include <stdint.h>

#include "heap/heap.h"

enum { NVE_MODULES_NONE = 0, NVE_MODULES_MAX = 4096 };

/* 0 or -ENOMEM. program: full name of the program's own file. */
int nve_modules_setup(const char *program);

/* What lies at an address: number of the module, and *offset in it. NVE_MODULES_NONE, offset 0:
 * code that is in no file, or no room. Takes the table's lock, for a module not seen before. */
uint32_t nve_modules_at(uint64_t address, uint64_t *offset);

/* The module of that name, whether its code has been met or not. */
uint32_t nve_modules_named(const char *path);

/* What lay at an address may not any more. */
void nve_modules_changed(void);
void nve_modules_before_fork(void);
void nve_modules_after_fork(void);

/* Finds the GNU build id in the notes of a module: returns its length, at most
 * NVE_HEAP_BUILD_ID_BYTES, with it in id; 0: there is none. Pure. */
uint8_t nve_modules_build_id(const void *notes, uint64_t size, uint8_t *id);

#endif
