#include "count/pmu/spe.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"

/* First bytes of headers, and which of their bits tell. */
enum {
	HEADER_PAD = 0x00,
	HEADER_END = 0x01,
	HEADER_TIME = 0x71,
	SIZED_MASK = 0xcf, /* all but the size in bits 5 and 4 */
	HEADER_EVENTS = 0x42,
	HEADER_SOURCE = 0x43,
	CLASS_MASK = 0xfc, /* all but an index of two bits */
	HEADER_CONTEXT = 0x64,
	HEADER_OPERATION = 0x48,
	EXTENDED_MASK = 0xf0,   /* all but an index of two bits, or the alignment of four */
	HEADER_EXTENDED = 0x20, /* a second byte follows; a zero one aligns */
	INDEX_MASK = 0xf8,      /* all but an index of three bits */
	HEADER_ADDRESS = 0xb0,
	HEADER_COUNTER = 0x98,
};

enum { ADDRESS_PC = 0, ADDRESS_DATA = 2 };
enum { COUNTER_TOTAL = 0, COUNTER_ISSUE = 1 };
enum { CLASS_LOAD_OR_STORE = 1, OPERATION_STORE = 1 };
enum { EVENT_RETIRED = 1 << 1, EVENT_LAST_MISS = 1 << 9 };
enum { SOURCE_REMOTE = 0xd, SOURCE_DRAM = 0xe };

/* Of an address the top byte is a tag, or tells of the exception level. */
#define ADDRESS_MASK UINT64_C(0x00ffffffffffffff)

static uint8_t byte_at(const struct nve_spe_area *area, uint64_t at)
{
	return area->data[at & (area->bytes - 1)];
}

/* Little-endian, behind a header of so many bytes; its size is in the last of these. */
static int take_payload(const struct nve_spe_area *area, uint64_t end, uint64_t *at,
			unsigned header_bytes, struct nve_spe_packet *packet)
{
	unsigned bytes = 1u << (byte_at(area, *at + header_bytes - 1) >> 4 & 3);
	uint64_t from = *at + header_bytes;

	if (end - *at < header_bytes + bytes)
		return -EBADMSG;
	packet->payload_bytes = bytes;
	for (unsigned i = 0; i < bytes; i++)
		packet->payload |= (uint64_t)byte_at(area, from + i) << 8 * i;
	*at = from + bytes;
	return 1;
}

/* Up to the next multiple of a power of two, which may be the end of all. */
static int skip_to_alignment(uint64_t end, uint64_t *at, unsigned shift,
			     struct nve_spe_packet *packet)
{
	uint64_t step = UINT64_C(1) << (shift + 1), next = (*at | (step - 1)) + 1;

	packet->kind = NVE_SPE_PAD;
	*at = NVE_MIN(next - *at, end - *at) + *at;
	return 1;
}

static int take_extended(const struct nve_spe_area *area, uint64_t end, uint64_t *at,
			 struct nve_spe_packet *packet)
{
	uint8_t first = byte_at(area, *at), second;

	if (end - *at < 2)
		return -EBADMSG;
	second = byte_at(area, *at + 1);
	if (!second)
		return skip_to_alignment(end, at, first & 0xf, packet);
	packet->index = (first & 3u) << 3 | (second & 7u);
	if ((first & CLASS_MASK) != HEADER_EXTENDED)
		return -EBADMSG;
	if ((second & INDEX_MASK) == HEADER_ADDRESS)
		packet->kind = NVE_SPE_ADDRESS;
	else if ((second & INDEX_MASK) == HEADER_COUNTER)
		packet->kind = NVE_SPE_COUNTER;
	else
		return -EBADMSG;
	return take_payload(area, end, at, 2, packet);
}

static int take_short(const struct nve_spe_area *area, uint64_t end, uint64_t *at,
		      struct nve_spe_packet *packet)
{
	uint8_t header = byte_at(area, *at);

	packet->index = header & 7;
	if (header == HEADER_TIME)
		packet->kind = NVE_SPE_TIME;
	else if ((header & SIZED_MASK) == HEADER_EVENTS)
		packet->kind = NVE_SPE_EVENTS;
	else if ((header & SIZED_MASK) == HEADER_SOURCE)
		packet->kind = NVE_SPE_SOURCE;
	else if ((header & INDEX_MASK) == HEADER_ADDRESS)
		packet->kind = NVE_SPE_ADDRESS;
	else if ((header & INDEX_MASK) == HEADER_COUNTER)
		packet->kind = NVE_SPE_COUNTER;
	else if ((header & CLASS_MASK) == HEADER_CONTEXT)
		packet->kind = NVE_SPE_CONTEXT;
	else if ((header & CLASS_MASK) == HEADER_OPERATION)
		packet->kind = NVE_SPE_OPERATION;
	else
		return -EBADMSG;
	if (packet->kind == NVE_SPE_CONTEXT || packet->kind == NVE_SPE_OPERATION)
		packet->index = header & 3;
	return take_payload(area, end, at, 1, packet);
}

static int take_packet(const struct nve_spe_area *area, uint64_t end, uint64_t *at,
		       struct nve_spe_packet *packet)
{
	uint8_t header = byte_at(area, *at);

	if (header == HEADER_PAD || header == HEADER_END) {
		packet->kind = header == HEADER_PAD ? NVE_SPE_PAD : NVE_SPE_END;
		++*at;
		return 1;
	}
	if ((header & EXTENDED_MASK) == HEADER_EXTENDED)
		return take_extended(area, end, at, packet);
	return take_short(area, end, at, packet);
}

int nve_spe_next_packet(const struct nve_spe_area *area, uint64_t end, uint64_t *at,
			struct nve_spe_packet *packet)
{
	uint64_t left = end - *at;
	int rc = left > area->bytes ? -EBADMSG : 0;

	memset(packet, 0, sizeof(*packet));
	if (!left)
		return 0;
	if (!rc)
		rc = take_packet(area, end, at, packet);
	if (rc < 0)
		*at = end;
	return rc;
}

/* Before a load has been issued it waits for something else than memory. */
static void take_counter(const struct nve_spe_packet *p, uint64_t *total, uint64_t *issue)
{
	if (p->index == COUNTER_TOTAL)
		*total = p->payload;
	else if (p->index == COUNTER_ISSUE)
		*issue = p->payload;
}

static void take_address(const struct nve_spe_packet *p, struct nve_spe_record *r)
{
	if (p->index == ADDRESS_PC) {
		r->pc = p->payload & ADDRESS_MASK;
	} else if (p->index == ADDRESS_DATA) {
		r->addr = p->payload & ADDRESS_MASK;
		r->has_addr = true;
	}
}

static void take(const struct nve_spe_packet *p, struct nve_spe_record *r)
{
	switch (p->kind) {
	case NVE_SPE_EVENTS:
		r->events = p->payload;
		r->has_events = true;
		break;
	case NVE_SPE_SOURCE:
		r->source = p->payload;
		r->has_source = true;
		break;
	case NVE_SPE_OPERATION:
		r->is_load = p->index == CLASS_LOAD_OR_STORE && !(p->payload & OPERATION_STORE);
		r->has_operation = true;
		break;
	case NVE_SPE_ADDRESS: take_address(p, r); break;
	default: break;
	}
}

int nve_spe_next(const struct nve_spe_area *area, uint64_t end, uint64_t *at,
		 struct nve_spe_record *r)
{
	uint64_t total = 0, issue = 0;
	bool begun = false;
	struct nve_spe_packet p;
	int rc;

	memset(r, 0, sizeof(*r));
	while ((rc = nve_spe_next_packet(area, end, at, &p)) > 0) {
		if (p.kind == NVE_SPE_PAD)
			continue;
		begun = true;
		if (p.kind == NVE_SPE_COUNTER)
			take_counter(&p, &total, &issue);
		else
			take(&p, r);
		if (p.kind != NVE_SPE_END && p.kind != NVE_SPE_TIME)
			continue;
		r->cycles = total - NVE_MIN(issue, total);
		return 1;
	}
	return rc || begun ? -EBADMSG : 0;
}

bool nve_spe_is_memory_load(const struct nve_spe_record *r)
{
	if (r->has_operation && !r->is_load)
		return false;
	if (r->has_events && !(r->events & EVENT_RETIRED))
		return false;
	if (r->has_source)
		return r->source == SOURCE_DRAM || r->source == SOURCE_REMOTE;
	return r->events & EVENT_LAST_MISS;
}
