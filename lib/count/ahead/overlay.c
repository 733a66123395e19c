#include "count/ahead/overlay.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"

static uint32_t hash_line(uint64_t line)
{
	return (uint32_t)((line >> 6) * 0x9e3779b97f4a7c15ull >> 40) & (NVE_OVERLAY_SLOTS - 1);
}

static uint64_t byte_mask(uint32_t first, uint32_t count)
{
	uint64_t ones = count >= 64 ? ~0ull : (1ull << count) - 1;

	return ones << first;
}

static const struct nve_overlay_line *find(const struct nve_overlay *overlay, uint64_t line)
{
	uint32_t slot = hash_line(line);

	while (overlay->index[slot]) {
		const struct nve_overlay_line *at = &overlay->lines[overlay->index[slot] - 1];

		if (at->addr == line)
			return at;
		slot = (slot + 1) & (NVE_OVERLAY_SLOTS - 1);
	}
	return NULL;
}

static struct nve_overlay_line *find_or_add(struct nve_overlay *overlay, uint64_t line)
{
	struct nve_overlay_line *at = (struct nve_overlay_line *)find(overlay, line);
	uint32_t slot = hash_line(line);

	if (at || overlay->used == NVE_OVERLAY_LINES)
		return at;
	while (overlay->index[slot])
		slot = (slot + 1) & (NVE_OVERLAY_SLOTS - 1);
	at = &overlay->lines[overlay->used++];
	at->addr = line;
	at->written = 0;
	at->unknown = 0;
	at->slot = slot;
	overlay->index[slot] = (uint16_t)overlay->used;
	return at;
}

static void store_piece(struct nve_overlay_line *line, uint32_t first, const uint8_t *src,
			uint32_t count, bool unknown)
{
	uint64_t mask = byte_mask(first, count);

	memcpy(line->data + first, src, count);
	line->written |= mask;
	line->unknown = unknown ? line->unknown | mask : line->unknown & ~mask;
}

void nve_overlay_clear(struct nve_overlay *overlay)
{
	for (uint32_t i = 0; i < overlay->used; i++)
		overlay->index[overlay->lines[i].slot] = 0;
	overlay->used = 0;
}

int nve_overlay_store(struct nve_overlay *overlay, uint64_t addr, const void *src, size_t size,
		      bool unknown)
{
	uint32_t first = addr & 63;
	uint32_t head = (uint32_t)NVE_MIN(size, 64u - first);
	struct nve_overlay_line *line = find_or_add(overlay, addr & ~63ull);
	struct nve_overlay_line *second = line;

	if (head < size)
		second = find_or_add(overlay, (addr & ~63ull) + 64);
	if (!line || !second)
		return -ENOSPC;
	store_piece(line, first, src, head, unknown);
	if (head < size)
		store_piece(second, 0, (const uint8_t *)src + head, (uint32_t)size - head, unknown);
	return 0;
}

bool nve_overlay_covers(const struct nve_overlay *overlay, uint64_t addr, size_t size)
{
	while (size) {
		uint32_t first = addr & 63;
		uint32_t count = (uint32_t)NVE_MIN(size, 64u - first);
		const struct nve_overlay_line *line = find(overlay, addr & ~63ull);

		if (!line || (byte_mask(first, count) & ~line->written))
			return false;
		addr += count;
		size -= count;
	}
	return true;
}

static bool patch_piece(const struct nve_overlay_line *line, uint32_t first, uint8_t *dst,
			uint32_t count)
{
	uint64_t mask = byte_mask(first, count);

	if ((line->written & mask) == mask) {
		memcpy(dst, line->data + first, count);
	} else {
		for (uint32_t i = 0; i < count; i++)
			if (line->written >> (first + i) & 1)
				dst[i] = line->data[first + i];
	}
	return line->unknown & mask;
}

bool nve_overlay_patch(const struct nve_overlay *overlay, uint64_t addr, void *dst, size_t size)
{
	uint8_t *to = dst;
	bool unknown = false;

	while (size) {
		uint32_t first = addr & 63;
		uint32_t count = (uint32_t)NVE_MIN(size, 64u - first);
		const struct nve_overlay_line *line = find(overlay, addr & ~63ull);

		if (line)
			unknown |= patch_piece(line, first, to, count);
		addr += count;
		to += count;
		size -= count;
	}
	return unknown;
}
