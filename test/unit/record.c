/* The format of epoch records: byte for byte, there and back, and what is not one. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "count/record.h"

static struct nve_record_header header(void)
{
	return (struct nve_record_header){
		.pid = 0x1122334455667788,
		.born_ticks = 2,
		.started_at_s = 3,
		.rlat_ps = 4,
		.wlat_ps = 5,
		.symmetric = 1,
		.injects = 1,
		.source = NVE_RECORD_AHEAD,
		.epoch_ns = 6,
		.budget_ppm = 7,
		.dram_lat_ps = 8,
		.llc_lat_ps = 9,
		.tsc_khz = UINT64_MAX,
		.program = "app",
		.host = "box",
		.cpu = "a CPU",
	};
}

static void header_bytes(void **state)
{
	static const uint8_t start[] = {0x93, 'N',  'V',  'M',  'R',  'E',  'C', '\n', 1,
					0,    0,    0,    0x3c, 1,    0,    0,   0x88, 0x77,
					0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 2,   0};
	struct nve_record_header in = header(), out;
	uint8_t bytes[NVE_RECORD_HEADER_BYTES];
	uint32_t version;
	size_t at;

	(void)state;
	nve_record_put_header(bytes, &in);
	assert_memory_equal(bytes, start, sizeof(start));
	assert_memory_equal(bytes + 16 + 12 * 8,
			    "\xff\xff\xff\xff\xff\xff\xff\xff"
			    "app\0",
			    12);
	assert_int_equal(nve_record_get_header(bytes, sizeof(bytes), &out, &at, &version), 0);
	assert_int_equal(at, sizeof(bytes));
	assert_int_equal(version, 1);
	assert_memory_equal(&in, &out, sizeof(in));
}

static int read_header(const uint8_t *bytes, size_t size)
{
	struct nve_record_header out;
	uint32_t version;
	size_t at;

	return nve_record_get_header(bytes, size, &out, &at, &version);
}

static void header_damage(void **state)
{
	struct nve_record_header in = header();
	uint8_t good[NVE_RECORD_HEADER_BYTES], bad[NVE_RECORD_HEADER_BYTES];

	(void)state;
	nve_record_put_header(good, &in);
	for (size_t size = 0; size < sizeof(good); size++)
		assert_int_equal(read_header(good, size), -ENODATA);
	for (size_t bit = 0; bit < 8 * sizeof(good); bit++) {
		int rc;

		memcpy(bad, good, sizeof(bad));
		bad[bit / 8] ^= (uint8_t)(1 << bit % 8);
		rc = read_header(bad, sizeof(bad));
		if (bit / 8 < 8)
			assert_int_equal(rc, -EINVAL);
		else if (bit / 8 < 12)
			assert_int_equal(rc, -ENOTSUP);
		else if (bit / 8 < 16)
			assert_true(rc == -EBADMSG || rc == -ENODATA);
		else
			assert_int_equal(rc, -EBADMSG);
	}
	assert_int_equal(read_header((const uint8_t *)"{\"schema\"", 9), -EINVAL);
	assert_int_equal(read_header((const uint8_t *)"", 0), -ENODATA);
}

static struct nve_record thread(void)
{
	return (struct nve_record){
		.type = NVE_RECORD_THREAD,
		.thread = {.thread = 1, .tid = 300, .when_ns = UINT64_MAX},
	};
}

static struct nve_record epoch(uint64_t number)
{
	return (struct nve_record){
		.type = NVE_RECORD_EPOCH,
		.epoch = {.thread = number,
			  .when_ns = 1000000 + number,
			  .region = 1,
			  .cpu_ns = 20000000,
			  .stall_ns = 10000000,
			  .stall_wb_ns = 5000000,
			  .latency_ps = 123456,
			  .dram_lat_ps = 100000,
			  .stall_se_ns = 11,
			  .dirty_se_ppm = 12,
			  .latency_se_ps = 13,
			  .delay_owed_ns = 14,
			  .delay_paid_ns = 15,
			  .dram_ro_ppm = 16,
			  .dram_wb_ppm = 1000000,
			  .dram_ro_se_ppm = 18,
			  .dram_wb_se_ppm = 19,
			  .read_bytes = 20,
			  .written_bytes = 21,
			  .read_se_bytes = 22,
			  .written_se_bytes = 23,
			  .bandwidth_ns = number % 2},
	};
}

static struct nve_record end(uint8_t type)
{
	struct nve_record r = {
		.type = type,
		.end = {.thread = 1,
			.tid = 2,
			.when_ns = 3,
			.alive = 1,
			.lost = 4,
			.epochs = 5,
			.cpu_ns = 6,
			.stall_ns = 7,
			.stall_wb_ns = 8,
			.ma_ro = 9,
			.ma_wb = 10,
			.clamps = 11,
			.delay_owed_ns = 12,
			.delay_paid_ns = 13,
			.stall_share_se_ppm = 14,
			.dirty_se_ppm = 15,
			.latency_ps = 16,
			.latency_se_ps = 17,
			.dram_lat_ps = 18,
			.handler_ns = 19,
			.saved_ns = 20,
			.monitor_ns = UINT64_MAX,
			.name = "fifteen letters"},
	};

	return r;
}

static struct nve_record region(void)
{
	struct nve_record r = {
		.type = NVE_RECORD_REGION,
		.region = {.region = 300, .parent = 2, .owes = NVE_RECORD_PAUSED},
	};

	memset(r.region.name, 'n', sizeof(r.region.name) - 1);
	return r;
}

/* 300 is 0xac 0x02, 2^64 - 1 nine times 0xff and a 1; the checksum is zlib's, computed elsewhere.
 */
static void record_bytes(void **state)
{
	static const uint8_t wanted[] = {1,    13,   1,    0xac, 0x02, 0xff, 0xff, 0xff, 0xff, 0xff,
					 0xff, 0xff, 0xff, 0xff, 0x01, 0xb8, 0x35, 0xbf, 0x97};
	struct nve_record r = thread();
	uint8_t bytes[NVE_RECORD_MAX_BYTES];

	(void)state;
	assert_int_equal(nve_record_put(bytes, &r), sizeof(wanted));
	assert_memory_equal(bytes, wanted, sizeof(wanted));
}

static void there_and_back(void **state)
{
	const struct nve_record all[] = {thread(),
					 epoch(0),
					 epoch(127),
					 epoch(128),
					 epoch(UINT64_MAX),
					 region(),
					 end(NVE_RECORD_THREAD_END),
					 end(NVE_RECORD_PROCESS_END)};
	uint8_t bytes[NVE_ARRAY_SIZE(all) * NVE_RECORD_MAX_BYTES], again[NVE_RECORD_MAX_BYTES];
	size_t size = 0, at = 0, start;
	struct nve_record out;

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(all); i++)
		size += nve_record_put(bytes + size, &all[i]);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(all); i++) {
		memset(&out, 0, sizeof(out));
		start = at;
		assert_int_equal(nve_record_get(bytes, size, &at, &out), 1);
		assert_int_equal(out.type, all[i].type);
		assert_int_equal(nve_record_put(again, &out), at - start);
		assert_memory_equal(again, bytes + start, at - start);
	}
	assert_int_equal(at, size);
	assert_int_equal(nve_record_get(bytes, size, &at, &out), 0);
}

/* An epoch of a usual run takes few bytes, and the longest record fits. */
static void sizes(void **state)
{
	struct nve_record r = epoch(3);
	uint8_t bytes[NVE_RECORD_MAX_BYTES];

	(void)state;
	r.epoch.when_ns = 3600000000000;
	r.epoch.delay_owed_ns = 1800000000000;
	r.epoch.delay_paid_ns = 1790000000000;
	assert_true(nve_record_put(bytes, &r) <= 65);
	r.epoch.read_bytes = r.epoch.written_bytes = r.epoch.read_se_bytes = 0;
	r.epoch.written_se_bytes = r.epoch.bandwidth_ns = 0;
	assert_true(nve_record_put(bytes, &r) <= 60);
	r.epoch.dram_ro_ppm = r.epoch.dram_wb_ppm = r.epoch.dram_ro_se_ppm = 0;
	r.epoch.dram_wb_se_ppm = 0;
	assert_true(nve_record_put(bytes, &r) <= 50);
	r = end(NVE_RECORD_THREAD_END);
	memset(&r.end, 0xff, sizeof(r.end));
	assert_true(nve_record_put(bytes, &r) <= sizeof(bytes));
}

/* Cut anywhere: what is whole is read, then the end is told for what it is. */
static void cut_short(void **state)
{
	struct nve_record first = epoch(1), second = end(NVE_RECORD_THREAD_END), out;
	uint8_t bytes[2 * NVE_RECORD_MAX_BYTES];
	size_t whole = nve_record_put(bytes, &first);
	size_t size = whole + nve_record_put(bytes + whole, &second);

	(void)state;
	for (size_t cut = 0; cut < size; cut++) {
		size_t at = 0;

		if (cut >= whole)
			assert_int_equal(nve_record_get(bytes, cut, &at, &out), 1);
		assert_int_equal(nve_record_get(bytes, cut, &at, &out),
				 cut == 0 || cut == whole ? 0 : -ENODATA);
		assert_int_equal(at, cut >= whole ? whole : 0);
	}
	/* pages that were never written */
	memset(bytes + whole, 0, size - whole);
	for (size_t zeros = 1; zeros < size - whole; zeros++) {
		size_t at = whole;

		assert_int_equal(nve_record_get(bytes, whole + zeros, &at, &out), -ENODATA);
	}
}

/* A single wrong bit is always found: no record comes out that did not go in. */
static void wrong_bits(void **state)
{
	struct nve_record first = epoch(1), second = epoch(2), out = {0};
	uint8_t bytes[2 * NVE_RECORD_MAX_BYTES];
	size_t whole = nve_record_put(bytes, &first);
	size_t size = whole + nve_record_put(bytes + whole, &second);

	(void)state;
	for (size_t bit = 0; bit < 8 * whole; bit++) {
		size_t at = 0;
		int rc;

		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		rc = nve_record_get(bytes, size, &at, &out);
		/* The length alone may reach beyond the end. */
		assert_true(rc == -EBADMSG || (rc == -ENODATA && bit / 8 == 1));
		assert_int_equal(at, 0);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

static uint32_t zlib_checksum(const uint8_t *data, size_t size)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < 8 * size; i++) {
		crc ^= data[i / 8] >> i % 8 & 1;
		crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

/* A record of any type and payload with a right checksum. Returns its size. */
static size_t craft(uint8_t *out, uint8_t type, const void *payload, uint8_t length)
{
	uint32_t crc;

	out[0] = type;
	out[1] = length;
	memcpy(out + 2, payload, length);
	crc = zlib_checksum(out, 2u + length);
	for (int i = 0; i < 4; i++)
		out[2 + length + i] = (uint8_t)(crc >> 8 * i);
	return 6u + length;
}

static int read_one(const uint8_t *bytes, size_t size, struct nve_record *out)
{
	size_t at = 0;

	return nve_record_get(bytes, size, &at, out);
}

/* Zeros at the end are not written where they need not be, and are zeros when read. */
static void left_out(void **state)
{
	struct nve_record in = epoch(2), out;
	uint8_t bytes[NVE_RECORD_MAX_BYTES], payload[13] = {0};
	size_t size, longest = 0;

	(void)state;
	in.epoch.bandwidth_ns = 1;
	longest = nve_record_put(bytes, &in);
	in.epoch.bandwidth_ns = in.epoch.written_se_bytes = 0;
	size = nve_record_put(bytes, &in);
	assert_int_equal(size, longest - 2);
	memset(&out, 0xff, sizeof(out));
	assert_int_equal(read_one(bytes, size, &out), 1);
	assert_int_equal(out.epoch.dram_wb_ppm, 1000000);
	assert_int_equal(out.epoch.read_se_bytes, 22);
	assert_int_equal(out.epoch.written_se_bytes, 0);
	assert_int_equal(out.epoch.bandwidth_ns, 0);
	/* all that was there before placement; and one number less */
	memset(&out, 0xff, sizeof(out));
	assert_int_equal(read_one(bytes, craft(bytes, NVE_RECORD_EPOCH, payload, 13), &out), 1);
	assert_int_equal(out.epoch.dram_ro_ppm, 0);
	assert_int_equal(read_one(bytes, craft(bytes, NVE_RECORD_EPOCH, payload, 12), &out),
			 -EBADMSG);
	/* a number that is begun is ended */
	payload[0] = 0x80;
	assert_int_equal(read_one(bytes, craft(bytes, NVE_RECORD_EPOCH, payload, 13), &out),
			 -EBADMSG);
}

static void of_other_versions(void **state)
{
	uint8_t bytes[2 * NVE_RECORD_MAX_BYTES];
	struct nve_record r = thread(), out = {0};
	size_t size = craft(bytes, 200, "new", 3);

	(void)state;
	/* A type that is not known is passed over, type 0 as well. */
	size += craft(bytes + size, 0, "", 0);
	size += nve_record_put(bytes + size, &r);
	assert_int_equal(read_one(bytes, size, &out), 1);
	assert_int_equal(out.type, NVE_RECORD_THREAD);
	assert_int_equal(out.thread.tid, 300);
	/* What a later version has appended, too. */
	size = craft(bytes, NVE_RECORD_THREAD, "\x05\x06\x07more", 7);
	assert_int_equal(read_one(bytes, size, &out), 1);
	assert_int_equal(out.thread.when_ns, 7);
	/* What an earlier version has not written is 0. */
	size = craft(bytes, NVE_RECORD_EPOCH,
		     "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d", 13);
	out.epoch.dram_ro_ppm = out.epoch.read_bytes = out.epoch.bandwidth_ns = 1;
	assert_int_equal(read_one(bytes, size, &out), 1);
	assert_int_equal(out.epoch.delay_paid_ns, 13);
	assert_int_equal(out.epoch.dram_ro_ppm, 0);
	assert_int_equal(out.epoch.read_bytes + out.epoch.bandwidth_ns, 0);
	/* Too short, an endless number, one of more than 64 bits, no room for the name. */
	size = craft(bytes, NVE_RECORD_THREAD, "\x05\x06", 2);
	assert_int_equal(read_one(bytes, size, &out), -EBADMSG);
	size = craft(bytes, NVE_RECORD_THREAD, "\x05\x06\x80", 3);
	assert_int_equal(read_one(bytes, size, &out), -EBADMSG);
	size = craft(bytes, NVE_RECORD_THREAD, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x01\x01",
		     12);
	assert_int_equal(read_one(bytes, size, &out), -EBADMSG);
	size = craft(bytes, NVE_RECORD_THREAD, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x01\x01",
		     12);
	assert_int_equal(read_one(bytes, size, &out), -EBADMSG);
	memset(bytes, 0, sizeof(bytes));
	size = craft(bytes, NVE_RECORD_THREAD_END, bytes + NVE_RECORD_MAX_BYTES, 22 + 15);
	assert_int_equal(read_one(bytes, size, &out), -EBADMSG);
	size = craft(bytes, NVE_RECORD_THREAD_END, bytes + NVE_RECORD_MAX_BYTES, 22 + 16);
	assert_int_equal(read_one(bytes, size, &out), 1);
}

/* Any payload under a right checksum: it is refused, or means what it says. */
static void any_payload(void **state)
{
	uint8_t bytes[NVE_RECORD_MAX_BYTES], payload[255], again[NVE_RECORD_MAX_BYTES];
	uint64_t x = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		struct nve_record r, same;
		uint8_t length;
		size_t size;
		int rc;

		for (size_t k = 0; k < sizeof(payload); k++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			payload[k] = (uint8_t)(x >> 56) >> (x >> 48 & 7);
		}
		length = payload[254] ^ payload[253] << 1;
		memset(&r, 0, sizeof(r));
		memset(&same, 0, sizeof(same));
		size = craft(bytes, (uint8_t)(i % 6), payload, length);
		rc = read_one(bytes, size, &r);
		assert_true(rc == 0 || rc == 1 || rc == -EBADMSG);
		if (rc != 1)
			continue;
		assert_int_equal(r.type, i % 6);
		size = nve_record_put(again, &r);
		assert_int_equal(read_one(again, size, &same), 1);
		assert_memory_equal(&same, &r, sizeof(r));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_bytes), cmocka_unit_test(header_damage),
		cmocka_unit_test(record_bytes), cmocka_unit_test(there_and_back),
		cmocka_unit_test(sizes),        cmocka_unit_test(left_out),
		cmocka_unit_test(cut_short),    cmocka_unit_test(wrong_bits),
		cmocka_unit_test(any_payload),  cmocka_unit_test(of_other_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
