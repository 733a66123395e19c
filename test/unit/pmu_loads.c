/* Rings by script: records whole, wrapped around, foreign, lost and damaged; and the stall time
 * that is handed to the loads in them. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "count/pmu/pmu.h"
#include "scripted_perf.h"

enum { MS = 1000000, EPOCH_NS = 20 * MS, TAKEN = 2048, THREAD = 4711 };

static struct {
	struct script script;
	struct nve_perf perf;
	struct nve_pmu_loads loads;
	struct nve_pmu_load_sums sums;
	struct nve_miss miss[TAKEN];
	size_t misses, calls;
	double waited, dirty, share;
	unsigned waits, windows;
} f;

static uint64_t locate(uint64_t addr)
{
	return addr >> 12;
}

static void take(const struct nve_miss *misses, size_t count)
{
	assert_true(count && f.misses + count <= TAKEN);
	memcpy(&f.miss[f.misses], misses, count * sizeof(*misses));
	f.misses += count;
	f.calls++;
}

static void wait_for(uint64_t addr, double accesses, double dirty)
{
	assert_int_equal(addr % 64, 0);
	f.waited += accesses;
	f.dirty = dirty;
	f.waits++;
}

static void end_window(double share)
{
	f.share = share;
	f.windows++;
}

static const struct nve_miss_sink misses = {locate, take};
static const struct nve_waits_sink waits = {wait_for, end_window};
static const struct nve_pmu_sampled event = {.code = {.type = 4, .config = {0x20d1}},
					     .period = NVE_PMU_MISS_PERIOD};

static void open_events(const struct nve_pmu_sampled *events, unsigned count)
{
	f.perf = script_perf(&f.script);
	assert_int_equal(nve_pmu_loads_open(&f.loads, &f.perf, events, count, THREAD, true), 0);
}

static int begin(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	nve_pmu_loads_set_sink(&misses);
	nve_pmu_loads_set_waits_sink(&waits);
	open_events(&event, 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	nve_pmu_loads_close(&f.loads, &f.perf);
	assert_int_equal(f.script.maps, f.script.unmaps);
	return 0;
}

/* As the kernel writes it: around the end, if need be; of the body as much as size says. */
static void put(unsigned ring, uint32_t type, uint16_t size, const uint64_t *body)
{
	const struct nve_pmu_ring *r = &f.loads.ring[ring].ring;
	struct perf_event_header header = {.type = type, .size = size};
	uint8_t record[256] = {0}, *data = (uint8_t *)(uintptr_t)r->data;
	uint64_t head = r->page->data_head;

	memcpy(record, &header, sizeof(header));
	if (size > sizeof(header))
		memcpy(record + sizeof(header), body, size - sizeof(header));
	for (unsigned i = 0; i < size; i++)
		data[(head + i) % r->bytes] = record[i];
	r->page->data_head = head + size;
}

static void put_load(uint64_t ip, uint64_t addr, uint64_t weight)
{
	const uint64_t body[] = {ip, addr, weight};

	put(0, PERF_RECORD_SAMPLE, 8 + sizeof(body), body);
}

static void take_loads(bool last)
{
	nve_pmu_loads_take(&f.loads, &f.perf, EPOCH_NS, last, &f.sums);
}

static void count(uint64_t stall_ns, uint64_t stall_wb_ns)
{
	atomic_fetch_add(&f.loads.counted_ns, stall_ns);
	atomic_fetch_add(&f.loads.counted_wb_ns, stall_wb_ns);
}

static uint64_t sum_of_stalls(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < f.misses; i++)
		sum += f.miss[i].stall_ns;
	return sum;
}

/* No descriptor stays open, and the attr asks for what the reader reads. */
static void ring_keeps_its_event(void **state)
{
	const struct perf_event_attr *attr = &f.script.open[0].attr;

	(void)state;
	assert_int_equal(f.script.opens, 1);
	assert_int_equal(f.script.closes, 1);
	assert_int_equal(f.script.enables, 1);
	assert_int_equal(f.script.open[0].tid, THREAD);
	assert_int_equal(attr->sample_type, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT);
	assert_int_equal(attr->sample_period, NVE_PMU_MISS_PERIOD);
	assert_true(attr->exclude_kernel && attr->disabled);
	nve_pmu_loads_close(&f.loads, &f.perf);
	assert_int_equal(f.script.unmaps, 1);
	/* a closed one has nothing to read */
	count(1000, 0);
	take_loads(true);
	assert_int_equal(f.misses, 0);
}

/* Each failure on the way leaves nothing open. */
static void refused(void **state)
{
	const struct nve_pmu_sampled two[] = {event, event};

	end(state);
	for (int way = 0; way < 4; way++) {
		memset(&f, 0, sizeof(f));
		f.perf = script_perf(&f.script);
		f.script.open_error[1] = way == 0 ? -EOPNOTSUPP : 0;
		f.script.map_error = way == 1 ? -EPERM : 0;
		f.script.enable_error = way == 2 ? -EINVAL : 0;
		f.script.map_nothing = way == 3;
		assert_int_equal(nve_pmu_loads_open(&f.loads, &f.perf, two, 2, THREAD, true),
				 way == 0   ? -EOPNOTSUPP
				 : way == 1 ? -ENOLCK
					    : -EINVAL);
		assert_false(atomic_load(&f.loads.open));
		assert_int_equal(f.script.maps, f.script.unmaps);
	}
}

/* By their weights, to the last nanosecond; a weight that is not known counts as one. */
static void stall_is_shared_out(void **state)
{
	(void)state;
	put_load(0x400010, 0x10001238, 300);
	put_load(0x400020, 0x20000040, 100);
	put_load(0x400030, 0x30000000, 0);
	count(1000001, 250000);
	take_loads(false);
	assert_int_equal(f.misses, 3);
	assert_int_equal(sum_of_stalls(), 1000001);
	assert_in_range(f.miss[0].stall_ns, 748129, 748131);
	assert_in_range(f.miss[1].stall_ns, 249376, 249378);
	assert_int_equal(f.miss[0].addr, 0x10001200);
	assert_int_equal(f.miss[0].ip, 0x400010);
	assert_int_equal(f.miss[0].place, 0x10001);
	assert_true(f.miss[0].dirty > 0.249f && f.miss[0].dirty < 0.251f);
	assert_int_equal(f.sums.taken, 3);
	/* and placement is told of the same loads */
	assert_int_equal(f.waits, 3);
	assert_int_equal(f.windows, 1);
	assert_true(f.waited == 401);
	assert_true(f.dirty > 0.249 && f.dirty < 0.251);
	assert_true(f.share > 0.05 && f.share < 0.0501);
}

/* Loads come first, their epoch's counts a little later. */
static void loads_wait_for_counts(void **state)
{
	(void)state;
	put_load(1, 0x1000, 1);
	take_loads(false);
	assert_int_equal(f.misses + f.sums.taken, 0);
	count(500, 0);
	take_loads(false);
	assert_int_equal(f.misses, 1);
	assert_int_equal(sum_of_stalls(), 500);
	/* stall without loads waits for the next */
	count(70, 0);
	take_loads(false);
	count(7, 0);
	put_load(1, 0x2000, 1);
	take_loads(false);
	assert_int_equal(f.misses, 2);
	assert_int_equal(f.miss[1].stall_ns, 77);
}

/* At a thread's end no more loads come. */
static void the_rest_goes_to_the_latest(void **state)
{
	(void)state;
	count(99, 0);
	take_loads(true);
	assert_int_equal(f.misses, 0);
	for (uint64_t i = 1; i <= 20; i++)
		put_load(i, i << 12, 1);
	take_loads(false);
	assert_int_equal(sum_of_stalls(), 99);
	f.misses = 0;
	count(32, 0);
	take_loads(true);
	assert_int_equal(f.misses, NVE_PMU_LOADS_KEPT);
	assert_int_equal(sum_of_stalls(), 32);
	for (size_t i = 0; i < f.misses; i++)
		assert_true(f.miss[i].ip > 4 && f.miss[i].stall_ns == 2);
}

/* Many times around, records cut by the end at every place that there is. */
static void around_the_end(void **state)
{
	uint64_t bytes = f.loads.ring[0].ring.bytes, loads = 0, cut = 0;

	(void)state;
	while (f.loads.ring[0].ring.page->data_head < 8 * bytes) {
		const uint64_t body[] = {loads + 1, (loads + 1) << 12, 1, 0, 0, 0};

		/* sizes of 8 bytes' steps, as the kernel's are */
		cut += f.loads.ring[0].ring.page->data_head % bytes > bytes - 32;
		put(0, PERF_RECORD_SAMPLE, 8 + 3 * 8, body);
		put(0, PERF_RECORD_AUX, (uint16_t)(8 + 8 * (loads % 5)), body);
		count(3, 1);
		f.misses = 0;
		take_loads(false);
		assert_int_equal(f.misses, 1);
		assert_int_equal(f.miss[0].ip, ++loads);
		assert_int_equal(f.miss[0].addr, loads << 12);
		assert_int_equal(f.miss[0].stall_ns, 3);
		assert_int_equal(f.loads.ring[0].ring.page->data_tail,
				 f.loads.ring[0].ring.page->data_head);
	}
	assert_true(cut > 0);
	assert_int_equal(f.sums.taken, loads);
	assert_int_equal(f.sums.damaged + f.sums.lost + f.sums.elsewhere, 0);
}

/* What is told beside the loads is counted; other records are passed over. */
static void other_records(void **state)
{
	const uint64_t lost[] = {17, 5}, lost_samples[] = {7}, throttle[] = {1, 2, 3};
	const uint64_t none[] = {0x400000, 0, 9}, big[31] = {1, 2, 3};

	(void)state;
	put(0, PERF_RECORD_LOST, 8 + sizeof(lost), lost);
	put(0, PERF_RECORD_LOST_SAMPLES, 8 + sizeof(lost_samples), lost_samples);
	put(0, PERF_RECORD_THROTTLE, 8 + sizeof(throttle), throttle);
	put(0, PERF_RECORD_UNTHROTTLE, 8 + sizeof(throttle), throttle);
	put(0, PERF_RECORD_SAMPLE, 8 + sizeof(none), none);
	put(0, PERF_RECORD_SAMPLE, 8, none);
	put(0, PERF_RECORD_MMAP2, 8 + sizeof(big), big);
	put(0, 250, 8, NULL);
	put_load(3, 0x3000, 1);
	count(10, 0);
	take_loads(false);
	assert_int_equal(f.sums.lost, 12);
	assert_int_equal(f.sums.throttled, 1);
	assert_int_equal(f.sums.elsewhere, 2);
	assert_int_equal(f.sums.damaged, 0);
	assert_int_equal(f.sums.taken, 1);
	assert_int_equal(f.miss[0].stall_ns, 10);
	/* each once, though they are gone through twice */
	take_loads(true);
	assert_int_equal(f.sums.lost, 12);
}

/* What cannot be a record ends what can be read; the next one is read again. */
static void damaged_records(void **state)
{
	struct perf_event_mmap_page *page = f.loads.ring[0].ring.page;

	(void)state;
	for (uint16_t size = 0; size < 3; size++) {
		static const uint16_t sizes[] = {0, 7, 200};
		struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = sizes[size]};
		uint64_t at = page->data_head % f.loads.ring[0].ring.bytes;

		put_load(1, 0x1000, 1);
		memcpy((uint8_t *)(uintptr_t)f.loads.ring[0].ring.data + at, &header,
		       sizeof(header));
		count(10, 0);
		take_loads(false);
		assert_int_equal(f.sums.damaged, size + 1u);
		assert_int_equal(page->data_tail, page->data_head);
	}
	/* a head in the middle of a header; one that has overtaken the tail */
	page->data_head += 4;
	take_loads(false);
	assert_int_equal(f.sums.damaged, 4);
	page->data_head += 4 + 2 * f.loads.ring[0].ring.bytes;
	take_loads(false);
	assert_int_equal(f.sums.damaged, 5);
	assert_int_equal(f.misses, 0);
	put_load(2, 0x2000, 1);
	take_loads(false);
	assert_int_equal(f.misses, 1);
	assert_int_equal(f.miss[0].stall_ns, 30);
}

/* A thread that misses and never stalls does not fill its ring. */
static void loads_without_stall(void **state)
{
	struct perf_event_mmap_page *page = f.loads.ring[0].ring.page;
	uint64_t loads = 0;

	(void)state;
	for (; page->data_head < 4 * f.loads.ring[0].ring.bytes; loads++) {
		put_load(1, 0x1000, 1);
		assert_true(page->data_head - page->data_tail <= f.loads.ring[0].ring.bytes);
		take_loads(false);
	}
	assert_int_equal(f.misses, 0);
	assert_true(f.sums.taken > loads / 2);
}

/* Many at once come in several calls. */
static void many_loads(void **state)
{
	(void)state;
	for (int i = 0; i < 500; i++)
		put_load(1, 0x1000, (uint64_t)i * 1000003);
	count(UINT64_MAX / 4, 0);
	take_loads(false);
	assert_int_equal(f.misses, 500);
	assert_true(f.calls > 10);
	assert_true(sum_of_stalls() == UINT64_MAX / 4);
}

/* Two kinds of cores; an event that sees all loads tells which of them memory served. */
static void two_rings_with_sources(void **state)
{
	const union perf_mem_data_src ram = {.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM};
	const union perf_mem_data_src l3 = {.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3};
	const uint64_t first[] = {1, 0x1000, 2}, served[] = {2, 0x2000, 6, ram.val};
	const uint64_t cached[] = {3, 0x3000, 6, l3.val};
	struct nve_pmu_sampled two[] = {event, event};

	end(state);
	memset(&f, 0, sizeof(f));
	two[1].all_sources = two[1].whole = true;
	two[1].code.precise_ip = 2;
	open_events(two, 2);
	assert_true(f.script.open[1].attr.sample_type & PERF_SAMPLE_DATA_SRC);
	assert_int_equal(f.script.open[1].attr.exclude_kernel, 0);
	assert_int_equal(f.script.open[1].attr.precise_ip, 2);
	put(0, PERF_RECORD_SAMPLE, 8 + sizeof(first), first);
	put(1, PERF_RECORD_SAMPLE, 8 + sizeof(served), served);
	put(1, PERF_RECORD_SAMPLE, 8 + sizeof(cached), cached);
	count(8, 0);
	take_loads(false);
	assert_int_equal(f.misses, 2);
	assert_int_equal(f.miss[0].stall_ns, 2);
	assert_int_equal(f.miss[1].stall_ns, 6);
	assert_int_equal(f.sums.elsewhere, 1);
}

static void sources(void **state)
{
	static const struct {
		union perf_mem_data_src source;
		bool memory;
	} vectors[] = {
		{{.val = 0}, false},
		{{.mem_lvl = PERF_MEM_LVL_NA}, false},
		{{.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1}, false},
		{{.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_LFB}, false},
		{{.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_REM_CCE1}, false},
		{{.mem_lvl = PERF_MEM_LVL_MISS | PERF_MEM_LVL_L2}, false},
		{{.mem_lvl = PERF_MEM_LVL_MISS | PERF_MEM_LVL_L3}, true},
		{{.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM}, true},
		{{.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_REM_RAM1}, true},
		{{.mem_lvl_num = PERF_MEM_LVLNUM_L3}, false},
		{{.mem_lvl_num = PERF_MEM_LVLNUM_RAM}, true},
		{{.mem_lvl_num = PERF_MEM_LVLNUM_PMEM}, true},
		{{.mem_lvl_num = PERF_MEM_LVLNUM_NA}, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++)
		assert_int_equal(nve_pmu_source_is_memory(vectors[i].source.val),
				 vectors[i].memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ring_keeps_its_event, begin, end),
		cmocka_unit_test_setup_teardown(refused, begin, end),
		cmocka_unit_test_setup_teardown(stall_is_shared_out, begin, end),
		cmocka_unit_test_setup_teardown(loads_wait_for_counts, begin, end),
		cmocka_unit_test_setup_teardown(the_rest_goes_to_the_latest, begin, end),
		cmocka_unit_test_setup_teardown(around_the_end, begin, end),
		cmocka_unit_test_setup_teardown(other_records, begin, end),
		cmocka_unit_test_setup_teardown(damaged_records, begin, end),
		cmocka_unit_test_setup_teardown(loads_without_stall, begin, end),
		cmocka_unit_test_setup_teardown(many_loads, begin, end),
		cmocka_unit_test_setup_teardown(two_rings_with_sources, begin, end),
		cmocka_unit_test(sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
