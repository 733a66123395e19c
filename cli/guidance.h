/* nvmemu heat --guidance: from the heat of sites to a guidance file (NVM_PLACE). */
#ifndef CLI_GUIDANCE_H
#define CLI_GUIDANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define GUIDANCE_UNKNOWN UINT64_MAX

/* What the library reads at most: lines with a path, frames of all of them, and of each. */
enum { GUIDANCE_LINES = 4096, GUIDANCE_FRAMES = 16384, GUIDANCE_DEPTH = 64 };

struct guidance_entry {
	const char *path; /* "app!0x12 > app!0x40", or a kind of memory; "": no line can name it */
	const char *comment; /* for people; NULL: none */
	double stall_ns;     /* stall time on its memory */
	uint64_t bytes;      /* that it needs, at its peak; or GUIDANCE_UNKNOWN */
	bool dram;           /* chosen */
};

/*
 * Which entries go to DRAM of so many bytes: those with the most stall time for each byte first, as
 * long as they fit; one that does not is passed over, and smaller ones after it are taken. Entries
 * without stall time, of unknown size, or that no line can name, stay on NVM. Sorts the entries by
 * that density, the highest first. Returns the bytes taken. Pure.
 */
uint64_t guidance_pack(struct guidance_entry *entries, size_t count, uint64_t capacity);

/* Writes the file: a line for each entry with stall time, and NVM by default. 0 or -EIO. */
int guidance_write(FILE *out, const struct guidance_entry *entries, size_t count,
		   uint64_t capacity);

#endif
