/*
 * The stores of an interpreted run: bytes laid over memory, by 64-byte lines.
 *
 * Plain data inside the interpreter's block; clearing costs what was used. Each byte is written or
 * not, and a written one is known or unknown.
 */
#ifndef NVE_AHEAD_OVERLAY_H
#define NVE_AHEAD_OVERLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NVE_OVERLAY_LINES 2048u
#define NVE_OVERLAY_SLOTS 4096u /* a power of two, twice the lines */

struct nve_overlay_line {
	uint64_t addr;    /* of the line */
	uint64_t written; /* bit i: byte i was stored */
	uint64_t unknown; /* bit i: byte i was stored with a value that is not known */
	uint32_t slot;    /* of the index, for clearing */
	uint8_t data[64];
};

struct nve_overlay {
	uint32_t used;
	uint16_t index[NVE_OVERLAY_SLOTS]; /* line number + 1, or 0 */
	struct nve_overlay_line lines[NVE_OVERLAY_LINES];
};

void nve_overlay_clear(struct nve_overlay *overlay);

/* Stores up to 64 bytes; -ENOSPC when no line is left (then nothing is stored). */
int nve_overlay_store(struct nve_overlay *overlay, uint64_t addr, const void *src, size_t size,
		      bool unknown);

/* True if every byte of the range was stored. */
bool nve_overlay_covers(const struct nve_overlay *overlay, uint64_t addr, size_t size);

/* Replaces the stored bytes of a range read from memory; true if an unknown byte is among them. */
bool nve_overlay_patch(const struct nve_overlay *overlay, uint64_t addr, void *dst, size_t size);

#endif
