#include "count/record.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"

enum {
	MAGIC_BYTES = 8,
	VERSION_AT = 8,
	LENGTH_AT = 12,
	FIELDS_AT = 16,
	HEADER_MAX_BYTES = 65536,
	CHECKSUM_BYTES = 4,
	NUMBER_MAX_BYTES = 10,
	PAYLOAD_MAX_BYTES = 255,
};

/* The first byte is no text; the last shows whether a transfer has changed line ends. */
static const uint8_t magic[MAGIC_BYTES] = {0x93, 'N', 'V', 'M', 'R', 'E', 'C', '\n'};

#define AT(member)        ((uint16_t)offsetof(struct nve_record_header, member))
#define THREAD_AT(member) ((uint16_t)offsetof(struct nve_record_thread, member))
#define EPOCH_AT(member)  ((uint16_t)offsetof(struct nve_record_epoch, member))
#define REGION_AT(member) ((uint16_t)offsetof(struct nve_record_region, member))
#define END_AT(member)    ((uint16_t)offsetof(struct nve_record_end, member))

/* The numbers of each part, in the order in which they are written. */
static const uint16_t header_numbers[] = {
	AT(pid),         AT(born_ticks), AT(started_at_s), AT(rlat_ps),  AT(wlat_ps),
	AT(symmetric),   AT(injects),    AT(source),       AT(epoch_ns), AT(budget_ppm),
	AT(dram_lat_ps), AT(llc_lat_ps), AT(tsc_khz),
};
static const uint16_t header_texts[] = {AT(program), AT(host), AT(cpu)};
static const uint16_t thread_numbers[] = {THREAD_AT(thread), THREAD_AT(tid), THREAD_AT(when_ns)};
static const uint16_t epoch_numbers[] = {
	EPOCH_AT(thread),         EPOCH_AT(when_ns),        EPOCH_AT(region),
	EPOCH_AT(cpu_ns),         EPOCH_AT(stall_ns),       EPOCH_AT(stall_wb_ns),
	EPOCH_AT(latency_ps),     EPOCH_AT(dram_lat_ps),    EPOCH_AT(stall_se_ns),
	EPOCH_AT(dirty_se_ppm),   EPOCH_AT(latency_se_ps),  EPOCH_AT(delay_owed_ns),
	EPOCH_AT(delay_paid_ns),  EPOCH_AT(dram_ro_ppm),    EPOCH_AT(dram_wb_ppm),
	EPOCH_AT(dram_ro_se_ppm), EPOCH_AT(dram_wb_se_ppm), EPOCH_AT(read_bytes),
	EPOCH_AT(written_bytes),  EPOCH_AT(read_se_bytes),  EPOCH_AT(written_se_bytes),
	EPOCH_AT(bandwidth_ns),
};
static const uint16_t region_numbers[] = {REGION_AT(region), REGION_AT(parent), REGION_AT(owes)};
static const uint16_t end_numbers[] = {
	END_AT(thread),        END_AT(tid),           END_AT(when_ns),
	END_AT(alive),         END_AT(lost),          END_AT(epochs),
	END_AT(cpu_ns),        END_AT(stall_ns),      END_AT(stall_wb_ns),
	END_AT(ma_ro),         END_AT(ma_wb),         END_AT(clamps),
	END_AT(delay_owed_ns), END_AT(delay_paid_ns), END_AT(stall_share_se_ppm),
	END_AT(dirty_se_ppm),  END_AT(latency_ps),    END_AT(latency_se_ps),
	END_AT(dram_lat_ps),   END_AT(handler_ns),    END_AT(saved_ns),
	END_AT(monitor_ns),
};

_Static_assert(NVE_RECORD_HEADER_BYTES ==
		       FIELDS_AT + 8 * NVE_ARRAY_SIZE(header_numbers) +
			       NVE_RECORD_TEXT_BYTES * NVE_ARRAY_SIZE(header_texts) +
			       CHECKSUM_BYTES,
	       "the header's size is part of the format");
_Static_assert(NUMBER_MAX_BYTES *NVE_ARRAY_SIZE(end_numbers) + NVE_RECORD_NAME_BYTES <=
		       PAYLOAD_MAX_BYTES,
	       "the longest record fits");
_Static_assert(NUMBER_MAX_BYTES *NVE_ARRAY_SIZE(epoch_numbers) <= PAYLOAD_MAX_BYTES,
	       "so does an epoch");

/* Of an epoch's numbers, those that every record of it has. */
enum { EPOCH_NEEDED = 13 };

/* What a record of each type consists of: numbers, then perhaps a name. Where the last numbers are
 * zero, those that are not needed are left out. */
static const struct layout {
	const uint16_t *numbers;
	size_t count, needed, name_at, name_bytes; /* 0: no name */
} layouts[] = {
#define ALL(numbers) numbers, NVE_ARRAY_SIZE(numbers), NVE_ARRAY_SIZE(numbers)
	[NVE_RECORD_THREAD] = {ALL(thread_numbers), 0, 0},
	[NVE_RECORD_EPOCH] = {epoch_numbers, NVE_ARRAY_SIZE(epoch_numbers), EPOCH_NEEDED, 0, 0},
	[NVE_RECORD_THREAD_END] = {ALL(end_numbers), END_AT(name), NVE_RECORD_NAME_BYTES},
	[NVE_RECORD_PROCESS_END] = {ALL(end_numbers), END_AT(name), NVE_RECORD_NAME_BYTES},
	[NVE_RECORD_REGION] = {ALL(region_numbers), REGION_AT(name), NVE_RECORD_REGION_BYTES},
#undef ALL
};

/* CRC-32 as of zlib and Ethernet, four bits at a time. */
static uint32_t checksum(const uint8_t *data, size_t size)
{
	static const uint32_t table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < size; i++) {
		crc ^= data[i];
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

static void put_fixed(uint8_t *out, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		out[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get_fixed(const uint8_t *data, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)data[i] << 8 * i;
	return value;
}

/* Seven bits a byte, the lowest first; the top bit says that there are more. */
static uint8_t *put_number(uint8_t *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*out++ = (uint8_t)(value | 0x80);
	*out++ = (uint8_t)value;
	return out;
}

/* NULL: none here. */
static const uint8_t *get_number(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
		uint64_t bits = *at & 0x7f;

		if (bits << shift >> shift != bits)
			return NULL;
		*value |= bits << shift;
		if (!(*at++ & 0x80))
			return at;
	}
	return NULL;
}

static uint64_t *number_of(void *record, uint16_t offset)
{
	return (uint64_t *)((char *)record + offset);
}

void nve_record_put_header(uint8_t *out, const struct nve_record_header *header)
{
	uint8_t *at = out + FIELDS_AT;

	memcpy(out, magic, MAGIC_BYTES);
	put_fixed(out + VERSION_AT, NVE_RECORD_VERSION, 4);
	put_fixed(out + LENGTH_AT, NVE_RECORD_HEADER_BYTES, 4);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(header_numbers); i++, at += 8)
		put_fixed(at, *number_of((void *)header, header_numbers[i]), 8);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(header_texts); i++, at += NVE_RECORD_TEXT_BYTES)
		memcpy(at, (const char *)header + header_texts[i], NVE_RECORD_TEXT_BYTES);
	put_fixed(at, checksum(out, (size_t)(at - out)), CHECKSUM_BYTES);
}

static size_t used_numbers(const struct layout *layout, const struct nve_record *record)
{
	size_t count = layout->count;

	while (count > layout->needed &&
	       !*number_of((void *)&record->thread, layout->numbers[count - 1]))
		count--;
	return count;
}

size_t nve_record_put(uint8_t *out, const struct nve_record *record)
{
	const struct layout *layout = &layouts[record->type];
	size_t count = used_numbers(layout, record);
	uint8_t *at = out + 2;

	for (size_t i = 0; i < count; i++)
		at = put_number(at, *number_of((void *)&record->thread, layout->numbers[i]));
	if (layout->name_at) {
		memcpy(at, (const char *)&record->thread + layout->name_at, layout->name_bytes);
		at += layout->name_bytes;
	}
	out[0] = record->type;
	out[1] = (uint8_t)(at - out - 2);
	put_fixed(at, checksum(out, (size_t)(at - out)), CHECKSUM_BYTES);
	return (size_t)(at - out) + CHECKSUM_BYTES;
}

/* Later versions may have longer headers; their checksum is the last of them. */
static int check_header(const uint8_t *data, size_t size, size_t *length, uint32_t *version)
{
	if (memcmp(data, magic, NVE_MIN(size, (size_t)MAGIC_BYTES)) != 0)
		return -EINVAL;
	if (size < FIELDS_AT)
		return -ENODATA;
	*version = (uint32_t)get_fixed(data + VERSION_AT, 4);
	if (*version != NVE_RECORD_VERSION)
		return -ENOTSUP;
	*length = (size_t)get_fixed(data + LENGTH_AT, 4);
	if (*length < NVE_RECORD_HEADER_BYTES || *length > HEADER_MAX_BYTES)
		return -EBADMSG;
	if (*length > size)
		return -ENODATA;
	if (checksum(data, *length - CHECKSUM_BYTES) !=
	    get_fixed(data + *length - CHECKSUM_BYTES, CHECKSUM_BYTES))
		return -EBADMSG;
	return 0;
}

int nve_record_get_header(const uint8_t *data, size_t size, struct nve_record_header *header,
			  size_t *at, uint32_t *version)
{
	const uint8_t *field = data + FIELDS_AT;
	size_t length;
	int rc = check_header(data, size, &length, version);

	if (rc)
		return rc;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(header_numbers); i++, field += 8)
		*number_of(header, header_numbers[i]) = get_fixed(field, 8);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(header_texts); i++, field += NVE_RECORD_TEXT_BYTES) {
		char *text = (char *)header + header_texts[i];

		memcpy(text, field, NVE_RECORD_TEXT_BYTES);
		text[NVE_RECORD_TEXT_BYTES - 1] = '\0';
	}
	*at = length;
	return 0;
}

/* Where a machine has gone down, a file may end in zeros that were never written. */
static bool only_zeros(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (data[i])
			return false;
	return true;
}

/* Later versions may append to a record: what comes after the known part is passed over. */
static int get_payload(const struct layout *layout, const uint8_t *at, const uint8_t *end,
		       struct nve_record *record)
{
	char *name = (char *)&record->thread + layout->name_at;

	for (size_t i = 0; i < layout->count; i++) {
		uint64_t *number = number_of(&record->thread, layout->numbers[i]);

		*number = 0;
		if (i >= layout->needed && at == end)
			continue;
		at = get_number(at, end, number);
		if (!at)
			return -EBADMSG;
	}
	if (!layout->name_at)
		return 0;
	if (end - at < (ptrdiff_t)layout->name_bytes)
		return -EBADMSG;
	memcpy(name, at, layout->name_bytes);
	name[layout->name_bytes - 1] = '\0';
	return 0;
}

/* Length of the whole record at data; 0: the data end within it. -EBADMSG: damaged. */
static int check_record(const uint8_t *data, size_t size, size_t *length)
{
	size_t payload_end;

	*length = 0;
	if (size < 2)
		return 0;
	payload_end = 2 + (size_t)data[1];
	if (size >= payload_end + CHECKSUM_BYTES &&
	    checksum(data, payload_end) == get_fixed(data + payload_end, CHECKSUM_BYTES)) {
		*length = payload_end + CHECKSUM_BYTES;
		return 0;
	}
	if (size < payload_end + CHECKSUM_BYTES || only_zeros(data, size))
		return 0;
	return -EBADMSG;
}

int nve_record_get(const uint8_t *data, size_t size, size_t *at, struct nve_record *record)
{
	while (*at < size) {
		const uint8_t *start = data + *at;
		size_t length;
		int rc = check_record(start, size - *at, &length);

		if (rc)
			return rc;
		if (!length)
			return -ENODATA;
		record->type = start[0];
		if (record->type < NVE_ARRAY_SIZE(layouts) && layouts[record->type].count) {
			rc = get_payload(&layouts[record->type], start + 2,
					 start + length - CHECKSUM_BYTES, record);
			*at += rc ? 0 : length;
			return rc ? rc : 1;
		}
		*at += length;
	}
	return 0;
}
