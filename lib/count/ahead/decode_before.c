#include <string.h>

#include "count/ahead/decode.h"

enum { BEHIND_BYTES = 32, STARTS = 6 };

static bool touches_memory(const ZydisDecodedInstruction *raw)
{
	switch (raw->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH: return false;
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_POP:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_STRINGOP: return true;
	default: break;
	}
	return raw->mnemonic != ZYDIS_MNEMONIC_LEA && (raw->attributes & ZYDIS_ATTRIB_HAS_MODRM) &&
	       raw->raw.modrm.mod != 3;
}

/* Length and kind of the instruction at each place of the code, decoded once. */
struct place {
	uint8_t length; /* 0: not yet; UINT8_MAX: none */
	bool accesses, is_branch;
};

static void look_at(const struct nve_decoder *decoder, const uint8_t *code, struct place *place)
{
	ZydisDecodedInstruction raw;
	ZyanStatus status = ZydisDecoderDecodeInstruction(&decoder->zydis, NULL, code, 15, &raw);

	place->length = ZYAN_SUCCESS(status) ? raw.length : UINT8_MAX;
	if (!ZYAN_SUCCESS(status))
		return;
	place->accesses = touches_memory(&raw);
	place->is_branch = raw.meta.category == ZYDIS_CATEGORY_COND_BR;
}

/* Follows the code from start to its end; true if an instruction ends just there. */
static bool walk(const struct nve_decoder *decoder, const uint8_t *code, struct place *place,
		 int start, bool *accesses)
{
	bool before = false;

	for (int at = start; at < BEHIND_BYTES; at += place[at].length) {
		if (!place[at].length)
			look_at(decoder, code + at, &place[at]);
		if (place[at].length == UINT8_MAX)
			return false;
		/* A comparison retires with the branch on it. */
		*accesses = place[at].accesses || (place[at].is_branch && before);
		before = place[at].accesses;
		if (at + place[at].length == BEHIND_BYTES)
			return true;
	}
	return false;
}

enum nve_before nve_decode_before(const struct nve_decoder *decoder, const uint8_t *code)
{
	struct place place[BEHIND_BYTES] = {0};
	int with = 0, without = 0;

	for (int start = 0; start < STARTS; start++) {
		bool accesses = false;

		if (!walk(decoder, code, place, start, &accesses))
			continue;
		with += accesses;
		without += !accesses;
	}
	if (with + without < STARTS / 2 || (with && without))
		return NVE_BEFORE_UNKNOWN;
	return with ? NVE_BEFORE_ACCESS : NVE_BEFORE_NO_ACCESS;
}
