/* Loads that come as packets, in areas by script: what the kernel's records tell of them, gaps,
 * areas that were full, and descriptors that start them again. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "count/pmu/pmu.h"
#include "scripted_perf.h"

enum { MS = 1000000, EPOCH_NS = 20 * MS, TAKEN = 1024, THREAD = 4711, RECORD = 64 };

static struct {
	struct script script;
	struct nve_perf perf;
	struct nve_pmu_loads loads;
	struct nve_pmu_load_sums sums;
	struct nve_miss miss[TAKEN];
	size_t misses;
} f;

static void take(const struct nve_miss *misses, size_t count)
{
	assert_true(f.misses + count <= TAKEN);
	memcpy(&f.miss[f.misses], misses, count * sizeof(*misses));
	f.misses += count;
}

static const struct nve_miss_sink misses = {.take = take};
static const struct nve_pmu_sampled event = {
	.code = {.type = 9, .config = {0x200010000, 0, 64}},
	.period = 400128,
	.all_sources = true,
	.packets = true,
};

static int open_event(bool keep)
{
	return nve_pmu_loads_open(&f.loads, &f.perf, &event, 1, THREAD, keep);
}

static int begin(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	f.perf = script_perf(&f.script);
	nve_pmu_loads_set_sink(&misses);
	nve_pmu_loads_set_waits_sink(NULL);
	assert_int_equal(open_event(true), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	nve_pmu_loads_close(&f.loads, &f.perf);
	assert_int_equal(f.script.maps, f.script.unmaps);
	assert_int_equal(f.script.opens, f.script.closes);
	return 0;
}

static struct perf_event_mmap_page *page(void)
{
	return f.loads.ring[0].ring.page;
}

/* A record of the ring, as the kernel writes it: around the end, if need be. */
static void put_record(uint32_t type, const uint64_t *body, uint16_t bytes)
{
	const struct nve_pmu_ring *r = &f.loads.ring[0].ring;
	const struct perf_event_header header = {.type = type,
						 .size = (uint16_t)(sizeof(header) + bytes)};
	uint8_t record[64], *data = (uint8_t *)(uintptr_t)r->data;

	memcpy(record, &header, sizeof(header));
	memcpy(record + sizeof(header), body, bytes);
	for (unsigned i = 0; i < header.size; i++)
		data[(r->page->data_head + i) % r->bytes] = record[i];
	r->page->data_head += header.size;
}

/* The kernel says where packets are, and then moves the area's head. */
static void tell(uint64_t from, uint64_t size, uint64_t flags)
{
	const uint64_t body[] = {from, size, flags};

	put_record(PERF_RECORD_AUX, body, sizeof(body));
	page()->aux_head = from + size;
}

/* Packets of a load, at the end of the area; the kernel does not know yet. Returns their place. */
static uint64_t put_load(uint64_t at, uint64_t pc, uint64_t addr, uint8_t source, uint16_t cycles)
{
	uint8_t packets[RECORD] = {0}, *p = packets, *data = f.script.area;
	uint64_t bytes = f.loads.ring[0].area.bytes;

	*p++ = 0xb0;
	memcpy(p, &pc, 8);
	p += 8;
	*p++ = 0xb2;
	memcpy(p, &addr, 8);
	p += 8;
	*p++ = 0x98;
	memcpy(p, &cycles, 2);
	p += 2;
	*p++ = 0x43;
	*p++ = source;
	*p++ = 0x01;
	for (unsigned i = 0; i < RECORD; i++)
		data[(at + i) % bytes] = packets[i];
	return at + RECORD;
}

static void take_loads(void)
{
	nve_pmu_loads_take(&f.loads, &f.perf, EPOCH_NS, false, &f.sums);
}

static void count(uint64_t stall_ns)
{
	atomic_fetch_add(&f.loads.counted_ns, stall_ns);
}

/* What the driver of the hardware wants to be asked: packets have no sample type. */
static void asked(void **state)
{
	const struct perf_event_attr *attr = &f.script.open[0].attr;

	(void)state;
	assert_int_equal(attr->type, 9);
	assert_true(attr->config == 0x200010000);
	assert_int_equal(attr->config2, 64);
	assert_int_equal(attr->sample_type, 0);
	assert_int_equal(attr->sample_period, 400128);
	assert_true(attr->aux_watermark > 0);
	assert_true(attr->disabled && attr->exclude_kernel && !attr->exclude_idle && !attr->freq);
	assert_int_equal(f.script.enables, 1);
	/* it may have to be started again */
	assert_int_equal(f.script.closes, 0);
	nve_pmu_loads_release(&f.loads, &f.perf);
	nve_pmu_loads_release(&f.loads, &f.perf);
	assert_int_equal(f.script.closes, 1);
	assert_int_equal(f.script.maps, 2);
}

static void refused(void **state)
{
	end(state);
	for (int way = 0; way < 4; way++) {
		memset(&f, 0, sizeof(f));
		f.perf = script_perf(&f.script);
		f.script.area_error = way == 0 ? -EPERM : way == 1 ? -EOPNOTSUPP : 0;
		f.script.enable_error = way == 2 ? -EBUSY : 0;
		f.script.map_error = way == 3 ? -ENOMEM : 0;
		assert_int_equal(open_event(true), way == 0   ? -ENOLCK
						   : way == 1 ? -EOPNOTSUPP
						   : way == 2 ? -EBUSY
							      : -ENOMEM);
		assert_false(atomic_load(&f.loads.open));
		assert_int_equal(f.script.maps, f.script.unmaps);
		assert_int_equal(f.script.closes, 1);
	}
}

/* Memory's loads, with their time; those of caches are counted. */
static void loads_of_memory(void **state)
{
	uint64_t at = 0;

	(void)state;
	at = put_load(at, 0x400010, 0x10001238, 0xe, 300);
	at = put_load(at, 0x400020, 0x20000040, 0xb, 90);
	at = put_load(at, 0x400030, 0x30000000, 0xd, 100);
	at = put_load(at, 0x400040, 0, 0xe, 100);
	tell(0, at, 0);
	count(800);
	take_loads();
	assert_int_equal(f.misses, 2);
	assert_int_equal(f.miss[0].addr, 0x10001200);
	assert_int_equal(f.miss[0].ip, 0x400010);
	assert_int_equal(f.miss[0].stall_ns, 600);
	assert_int_equal(f.miss[1].addr, 0x30000000);
	assert_int_equal(f.miss[1].stall_ns, 200);
	assert_int_equal(f.sums.taken, 2);
	assert_int_equal(f.sums.elsewhere, 2);
	assert_int_equal(f.sums.lost + f.sums.damaged, 0);
	assert_int_equal(page()->aux_tail, at);
	assert_int_equal(page()->data_tail, page()->data_head);
}

/* What the kernel has not told of yet is left alone, and not written over. */
static void not_told_yet(void **state)
{
	uint64_t first, second;

	(void)state;
	first = put_load(0, 1, 0x1000, 0xe, 1);
	tell(0, first, 0);
	second = put_load(first, 2, 0x2000, 0xe, 1);
	count(10);
	take_loads();
	assert_int_equal(f.misses, 1);
	assert_int_equal(page()->aux_tail, first);
	/* a record that came between the two heads counts with its own end */
	tell(first, second - first, 0);
	page()->aux_head = first;
	count(10);
	take_loads();
	assert_int_equal(f.misses, 2);
	assert_int_equal(f.miss[1].addr, 0x2000);
	assert_int_equal(page()->aux_tail, second);
}

/* Many times around, with padding that the kernel skips without a word. */
static void around_the_end(void **state)
{
	uint64_t bytes = f.loads.ring[0].area.bytes, at = 0, loads = 0;

	(void)state;
	while (at < 6 * bytes) {
		uint64_t from = at;

		at = put_load(at, loads + 1, (loads + 1) << 12, 0xe, 5);
		tell(from, at - from, 0);
		if (loads % 3 == 0) {
			at += 8 * (loads % 7);
			page()->aux_head = at;
		}
		count(3);
		f.misses = 0;
		take_loads();
		assert_int_equal(f.misses, 1);
		assert_int_equal(f.miss[0].addr, ++loads << 12);
		assert_int_equal(f.miss[0].stall_ns, 3);
		assert_int_equal(page()->aux_tail, at);
	}
	assert_int_equal(f.sums.damaged + f.sums.lost + f.sums.elsewhere, 0);
	assert_false(atomic_load(&f.loads.ring[0].stopped));
}

/* A cut record is no damage where the kernel says so; what is left before it counts. */
static void gaps(void **state)
{
	uint64_t at;

	(void)state;
	at = put_load(0, 1, 0x1000, 0xe, 1);
	put_load(at, 2, 0x2000, 0xe, 1);
	tell(0, at + 10, PERF_AUX_FLAG_PARTIAL);
	at += 10;
	tell(at, put_load(at, 3, 0x3000, 0xe, 1) - at, PERF_AUX_FLAG_COLLISION);
	count(8);
	take_loads();
	assert_int_equal(f.misses, 2);
	assert_int_equal(f.miss[1].addr, 0x3000);
	assert_int_equal(f.sums.lost, 2);
	assert_int_equal(f.sums.damaged, 0);
	assert_false(atomic_load(&f.loads.ring[0].stopped));
}

/* Damage ends with its block; records that point elsewhere are not followed. */
static void damaged(void **state)
{
	uint64_t bytes = f.loads.ring[0].area.bytes, at;
	const uint64_t little[] = {0, 64};

	(void)state;
	((uint8_t *)f.script.area)[0] = 0xff;
	tell(0, 8, 0);
	at = put_load(8, 4, 0x4000, 0xe, 1);
	tell(8, at - 8, 0);
	tell(at + bytes, 64, 0);
	tell(at - bytes, 64, 0);
	tell(at, bytes + 64, 0);
	tell(UINT64_MAX - 8, 64, 0);
	tell(0, UINT64_MAX, 0);
	put_record(PERF_RECORD_AUX, little, sizeof(little));
	page()->aux_head = at;
	count(5);
	take_loads();
	assert_int_equal(f.misses, 1);
	assert_int_equal(f.miss[0].addr, 0x4000);
	assert_int_equal(f.sums.damaged, 7);
	assert_int_equal(page()->aux_tail, at);
}

/* The kernel stops an event that finds no room; its monitor starts it again once there is. */
static void started_again(void **state)
{
	uint64_t at;

	(void)state;
	at = put_load(0, 1, 0x1000, 0xe, 1);
	tell(0, at, PERF_AUX_FLAG_TRUNCATED);
	nve_pmu_loads_restart(&f.loads, &f.perf);
	assert_int_equal(f.script.enables, 1);
	count(5);
	take_loads();
	assert_int_equal(f.sums.lost, 1);
	assert_int_equal(f.misses, 1);
	nve_pmu_loads_restart(&f.loads, &f.perf);
	nve_pmu_loads_restart(&f.loads, &f.perf);
	assert_int_equal(f.script.enables, 2);
	assert_true(atomic_load(&f.loads.open));
}

/* A thread that comes back to a full area is stopped without a record. */
static void found_full(void **state)
{
	uint64_t bytes = f.loads.ring[0].area.bytes, at = 0;

	(void)state;
	while (at < bytes - bytes / 8)
		at = put_load(at, 1, 0x1000, 0xb, 1);
	tell(0, at, 0);
	/* half of the room is taken: nobody waits for counts */
	take_loads();
	assert_int_equal(f.sums.elsewhere, at / RECORD);
	assert_int_equal(page()->aux_tail, at);
	nve_pmu_loads_restart(&f.loads, &f.perf);
	assert_int_equal(f.script.enables, 2);
}

/* Without a descriptor it is of no more use: what it holds is read, then it makes room for another.
 */
static void opened_anew(void **state)
{
	uint64_t at;

	(void)state;
	nve_pmu_loads_release(&f.loads, &f.perf);
	at = put_load(0, 1, 0x1000, 0xe, 1);
	tell(0, at, PERF_AUX_FLAG_TRUNCATED);
	count(5);
	take_loads();
	assert_int_equal(f.misses, 1);
	assert_false(atomic_load(&f.loads.open));
	assert_int_equal(f.script.unmaps, 2);
	count(7);
	take_loads();
	assert_int_equal(f.misses, 1);
	assert_int_equal(open_event(false), 0);
	assert_int_equal(f.script.closes, 2);
	at = put_load(0, 2, 0x2000, 0xe, 1);
	tell(0, at, 0);
	take_loads();
	assert_int_equal(f.misses, 2);
	assert_int_equal(f.miss[1].stall_ns, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(asked, begin, end),
		cmocka_unit_test_setup_teardown(refused, begin, end),
		cmocka_unit_test_setup_teardown(loads_of_memory, begin, end),
		cmocka_unit_test_setup_teardown(not_told_yet, begin, end),
		cmocka_unit_test_setup_teardown(around_the_end, begin, end),
		cmocka_unit_test_setup_teardown(gaps, begin, end),
		cmocka_unit_test_setup_teardown(damaged, begin, end),
		cmocka_unit_test_setup_teardown(started_again, begin, end),
		cmocka_unit_test_setup_teardown(found_full, begin, end),
		cmocka_unit_test_setup_teardown(opened_anew, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
