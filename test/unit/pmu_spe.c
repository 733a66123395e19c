/* Packets of Arm's Statistical Profiling Extension, byte by byte, and the records that they make.
 */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "count/pmu/spe.h"

enum { AREA = 4096 };

static uint8_t data[AREA];
static const struct nve_spe_area area = {data, AREA};
static uint64_t filled;

static void put_at(const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		data[filled++ % AREA] = ((const uint8_t *)bytes)[i];
}

#define PUT(...) put_at((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static int begin(void **state)
{
	(void)state;
	memset(data, 0xee, sizeof(data));
	filled = 0;
	return 0;
}

static void expect_packet(uint64_t *at, enum nve_spe_kind kind, unsigned index, uint64_t payload)
{
	struct nve_spe_packet p;

	assert_int_equal(nve_spe_next_packet(&area, filled, at, &p), 1);
	assert_int_equal(p.kind, kind);
	assert_int_equal(p.index, index);
	assert_true(p.payload == payload);
}

/* Each kind, with each size that it has. */
static void packets(void **state)
{
	uint64_t at = 0;
	struct nve_spe_packet p;

	(void)state;
	PUT(0x00);
	PUT(0x01);
	PUT(0x71, 1, 2, 3, 4, 5, 6, 7, 8);
	PUT(0x42, 0x16);
	PUT(0x52, 0x16, 0x02);
	PUT(0x62, 0x16, 0x02, 0x01, 0x00);
	PUT(0x72, 1, 0, 0, 0, 0, 0, 0, 0x80);
	PUT(0x43, 0x0e);
	PUT(0x53, 0x0e, 0x01);
	PUT(0x65, 0x78, 0x56, 0x34, 0x12);
	PUT(0x49, 0x01);
	PUT(0xb0, 0x10, 0x32, 0x54, 0x76, 0, 0, 0, 0x80);
	PUT(0xb2, 8, 7, 6, 5, 4, 3, 2, 1);
	PUT(0x99, 0x34, 0x12);
	PUT(0x21, 0xb2, 1, 0, 0, 0, 0, 0, 0, 0);
	PUT(0x23, 0x98, 2, 0);
	expect_packet(&at, NVE_SPE_PAD, 0, 0);
	expect_packet(&at, NVE_SPE_END, 0, 0);
	expect_packet(&at, NVE_SPE_TIME, 1, 0x0807060504030201);
	expect_packet(&at, NVE_SPE_EVENTS, 2, 0x16);
	expect_packet(&at, NVE_SPE_EVENTS, 2, 0x216);
	expect_packet(&at, NVE_SPE_EVENTS, 2, 0x10216);
	expect_packet(&at, NVE_SPE_EVENTS, 2, 0x8000000000000001);
	expect_packet(&at, NVE_SPE_SOURCE, 3, 0x0e);
	expect_packet(&at, NVE_SPE_SOURCE, 3, 0x10e);
	expect_packet(&at, NVE_SPE_CONTEXT, 1, 0x12345678);
	expect_packet(&at, NVE_SPE_OPERATION, 1, 1);
	expect_packet(&at, NVE_SPE_ADDRESS, 0, 0x8000000076543210);
	expect_packet(&at, NVE_SPE_ADDRESS, 2, 0x0102030405060708);
	expect_packet(&at, NVE_SPE_COUNTER, 1, 0x1234);
	expect_packet(&at, NVE_SPE_ADDRESS, 8 + 2, 1);
	expect_packet(&at, NVE_SPE_COUNTER, 24, 2);
	assert_int_equal(nve_spe_next_packet(&area, filled, &at, &p), 0);
	assert_int_equal(at, filled);
}

/* A header aligns to the next multiple, its own first byte counted in; never beyond the end. */
static void alignment(void **state)
{
	static const struct {
		uint64_t at;
		uint8_t header;
		uint64_t next;
	} rows[] = {
		{0, 0x20, 2},      {2, 0x20, 4},           {3, 0x21, 4},   {4, 0x21, 8},
		{5, 0x23, 16},     {16, 0x25, 64},         {63, 0x25, 64}, {64, 0x25, 128},
		{100, 0x2a, 2048}, {AREA - 2, 0x2a, AREA},
	};
	struct nve_spe_packet p;

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(rows); i++) {
		uint64_t at = rows[i].at;

		data[at] = rows[i].header;
		data[(at + 1) % AREA] = 0;
		assert_int_equal(nve_spe_next_packet(&area, AREA, &at, &p), 1);
		assert_int_equal(p.kind, NVE_SPE_PAD);
		assert_int_equal(at, rows[i].next);
	}
	/* the block ends before the boundary */
	data[8] = 0x2a;
	data[9] = 0;
	for (uint64_t at = 8; at != 20;)
		assert_int_equal(nve_spe_next_packet(&area, 20, &at, &p), 1);
}

/* Every header is either known, or the end of what can be read; nothing is read beyond the end. */
static void all_headers(void **state)
{
	unsigned known = 0;

	(void)state;
	for (unsigned header = 0; header < 256; header++) {
		for (uint64_t length = 1; length <= 12; length++) {
			uint64_t at = 64;
			struct nve_spe_packet p;
			int rc;

			data[64] = (uint8_t)header;
			data[65] = 0xb2;
			rc = nve_spe_next_packet(&area, 64 + length, &at, &p);
			assert_true(rc == 1 || rc == -EBADMSG);
			assert_in_range(at, 65, 64 + length);
			assert_true(rc == 1 || at == 64 + length);
			known += rc == 1 && length == 12;
		}
	}
	/* pad, end, time; 4 events, 4 sources; 4 contexts, 4 operations; 8 addresses, 8 counters;
	 * 4 extended */
	assert_int_equal(known, 3 + 4 + 4 + 4 + 4 + 8 + 8 + 4);
}

/* A whole load, as a Neoverse writes it; pc, address and events with a tag, a level, and padding.
 */
static void put_load(uint64_t addr, uint8_t source, uint16_t events, uint8_t operation)
{
	PUT(0xb0, 0x00, 0x10, 0x40, 0, 0, 0, 0, 0x80);
	PUT(0x99, 20, 0);
	PUT(0x98, 0x40, 0x01);
	put_at((const uint8_t[]){0xb2}, 1);
	addr |= UINT64_C(0xab) << 56;
	put_at(&addr, sizeof(addr));
	PUT(0x9a, 7, 0);
	PUT(0x49, operation);
	put_at((const uint8_t[]){0x52}, 1);
	put_at(&events, sizeof(events));
	PUT(0x43, source);
	PUT(0x01);
	while (filled % 64)
		PUT(0x00);
}

static void whole_record(void **state)
{
	struct nve_spe_record r;
	uint64_t at = 0;

	(void)state;
	put_load(0x0000ffff12345678, 0x0e, 0x16, 0x00);
	assert_int_equal(nve_spe_next(&area, filled, &at, &r), 1);
	assert_true(r.pc == 0x401000);
	assert_true(r.has_addr && r.addr == 0x0000ffff12345678);
	assert_int_equal(r.cycles, 0x140 - 20);
	assert_true(r.has_source && r.source == 0xe && r.has_events && r.events == 0x16);
	assert_true(r.has_operation && r.is_load);
	assert_true(nve_spe_is_memory_load(&r));
	/* what comes behind it is padding */
	assert_int_equal(nve_spe_next(&area, filled, &at, &r), 0);
	assert_int_equal(at, filled);
}

/* A record may end with a time; and without anything else it tells nothing. */
static void ends(void **state)
{
	struct nve_spe_record r;
	uint64_t at = 0;

	(void)state;
	PUT(0xb2, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x71, 1, 2, 3, 4, 5, 6, 7, 8);
	PUT(0x01);
	PUT(0x98, 5, 0, 0x99, 9, 0, 0x01);
	assert_int_equal(nve_spe_next(&area, filled, &at, &r), 1);
	assert_true(r.addr == 0x1000 && !r.has_source && r.cycles == 0);
	assert_int_equal(nve_spe_next(&area, filled, &at, &r), 1);
	assert_false(r.has_addr || nve_spe_is_memory_load(&r));
	/* issued later than it was complete: no time at all, not a huge one */
	assert_int_equal(nve_spe_next(&area, filled, &at, &r), 1);
	assert_int_equal(r.cycles, 0);
	assert_int_equal(nve_spe_next(&area, filled, &at, &r), 0);
}

/* Cut anywhere, a record is none; only pads before a cut are no damage. */
static void cut(void **state)
{
	struct nve_spe_record r;
	uint64_t whole;

	(void)state;
	PUT(0x00, 0x00);
	put_load(0x1000, 0x0e, 0x02, 0x00);
	for (whole = filled; data[whole - 1] == 0x00; whole--)
		;
	for (uint64_t end = 0; end < whole; end++) {
		uint64_t at = 0;

		assert_int_equal(nve_spe_next(&area, end, &at, &r), end <= 2 ? 0 : -EBADMSG);
		assert_int_equal(at, end);
	}
	/* an area cannot hold more than it has */
	for (uint64_t at = 0; at != AREA + 1;)
		assert_int_equal(nve_spe_next(&area, AREA + 1, &at, &r), -EBADMSG);
}

/* Around the end of the area, at every place that there is. */
static void around_the_end(void **state)
{
	struct nve_spe_record r;

	(void)state;
	for (uint64_t start = AREA - 80; start <= AREA; start++) {
		uint64_t at = start;

		filled = start;
		put_load(start << 6, 0x0d, 0x02, 0x00);
		assert_int_equal(nve_spe_next(&area, filled, &at, &r), 1);
		assert_true(r.addr == start << 6 && r.pc == 0x401000 && r.source == 0xd);
	}
}

/* What memory has served: by source, else by event; retired; a load. */
static void memory_loads(void **state)
{
	static const struct {
		struct nve_spe_record r;
		bool memory;
	} rows[] = {
		{{.has_source = true, .source = 0xe}, true},
		{{.has_source = true, .source = 0xd}, true},
		{{.has_source = true, .source = 0x0}, false},
		{{.has_source = true, .source = 0x8}, false},
		{{.has_source = true, .source = 0x9}, false},
		{{.has_source = true, .source = 0xb}, false},
		{{.has_source = true, .source = 0x10e}, false},
		{{.has_source = true, .source = 0xb, .has_events = true, .events = 0x202}, false},
		{{.has_events = true, .events = 0x202}, true},
		{{.has_events = true, .events = 0x002}, false},
		{{.has_events = true, .events = 0x200}, false},
		{{.has_source = true, .source = 0xe, .has_events = true, .events = 0x2}, true},
		{{.has_source = true, .source = 0xe, .has_events = true, .events = 0x1}, false},
		{{.has_source = true, .source = 0xe, .has_operation = true}, false},
		{{.has_source = true, .source = 0xe, .has_operation = true, .is_load = true}, true},
		{{.has_addr = true}, false},
	};
	struct nve_spe_record r;
	uint64_t at = 0;

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(rows); i++)
		assert_int_equal(nve_spe_is_memory_load(&rows[i].r), rows[i].memory);
	/* a store; a branch */
	put_load(0x1000, 0x0e, 0x02, 0x01);
	PUT(0x4a, 0x00, 0x01);
	assert_int_equal(nve_spe_next(&area, filled, &at, &r), 1);
	assert_false(r.is_load || nve_spe_is_memory_load(&r));
	assert_int_equal(nve_spe_next(&area, filled, &at, &r), 1);
	assert_true(r.has_operation && !r.is_load);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(packets, begin),
		cmocka_unit_test_setup(alignment, begin),
		cmocka_unit_test_setup(all_headers, begin),
		cmocka_unit_test_setup(whole_record, begin),
		cmocka_unit_test_setup(ends, begin),
		cmocka_unit_test_setup(cut, begin),
		cmocka_unit_test_setup(around_the_end, begin),
		cmocka_unit_test_setup(memory_loads, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
