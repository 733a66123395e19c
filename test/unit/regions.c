/* The account of regions, with made-up time: markers, samples, parts of epochs. */
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "emu/regions.h"

/* A tick of the counter is half a nanosecond. */
enum { KHZ = 2000000, MS = 1000000 };

static struct nve_region_table table;
static struct nve_regions regions;
static uint64_t now_ns;

static int set_up(void **state)
{
	(void)state;
	memset(&table, 0, sizeof(table));
	memset(&regions, 0, sizeof(regions));
	now_ns = 1000;
	nve_regions_start(&regions, &table, false, KHZ, 2 * now_ns);
	return 0;
}

static uint32_t begin(const char *name)
{
	uint32_t lane = nve_regions_find(&regions, name);

	nve_regions_begin(&regions, lane, 2 * now_ns);
	return lane;
}

static void end(void)
{
	nve_regions_end(&regions, 2 * now_ns);
}

static void pass(uint64_t ns)
{
	now_ns += ns;
}

static uint64_t ran_ns(uint32_t lane)
{
	return nve_regions_ticks(&regions, lane, 2 * now_ns) / 2;
}

static bool sample(uint64_t cpu_ns, double stall_ns)
{
	const struct nve_regions_sample s = {.tsc = 2 * now_ns,
					     .ran_ns = cpu_ns,
					     .sampled = true,
					     .answered_ns = (double)cpu_ns,
					     .stall_ns = stall_ns,
					     .delay_per_stall = 2};
	bool crowded = nve_regions_sample(&regions, &s);

	nve_regions_mark(&regions, 2 * now_ns);
	return crowded;
}

static void nesting(void **state)
{
	uint32_t a, b, again;

	(void)state;
	pass(5);
	a = begin("a");
	pass(7);
	b = begin("b");
	pass(11);
	end();
	pass(13);
	end();
	pass(17);
	again = begin("a");
	pass(19);
	assert_int_equal(again, a);
	assert_int_not_equal(a, b);
	assert_int_equal(ran_ns(0), 22);
	assert_int_equal(ran_ns(a), 39);
	assert_int_equal(ran_ns(b), 11);
	assert_int_equal(regions.calls[a / 2], 2);
	assert_int_equal(regions.calls[b / 2], 1);
	assert_int_equal(table.node[b / 2].parent, a / 2);
	end();
	/* The same name elsewhere in the tree is another region. */
	assert_int_not_equal(begin("b"), b);
	assert_int_equal(regions.begins, 4);
}

/* What was found for a name's address holds only as long as the name does. */
static void names_are_copied(void **state)
{
	char name[16] = "one";
	uint32_t one = begin(name), two;

	(void)state;
	end();
	strcpy(name, "two");
	two = begin(name);
	end();
	memset(name, 'x', sizeof(name) - 1);
	assert_int_not_equal(one, two);
	assert_string_equal(table.node[one / 2].name, "one");
	assert_string_equal(table.node[two / 2].name, "two");
	assert_int_equal(begin("one"), one);
}

static void long_names_are_cut(void **state)
{
	char name[100], other[100];
	uint32_t lane;

	(void)state;
	memset(name, 'n', sizeof(name));
	name[99] = '\0';
	strcpy(other, name);
	other[80] = 'm';
	lane = begin(name);
	assert_int_equal(strlen(table.node[lane / 2].name), NVE_REGION_NAME_BYTES - 1);
	end();
	assert_int_equal(begin(other), lane);
	assert_int_equal(nve_regions_levels(&regions, name), 1);
	end();
	assert_int_equal(regions.misuse.cut_names, 2);
	name[NVE_REGION_NAME_BYTES - 1] = '\0';
	assert_int_equal(begin(name), lane);
	assert_int_equal(regions.misuse.cut_names, 2);
}

static void without_a_name(void **state)
{
	uint32_t lane = begin(NULL);

	(void)state;
	assert_string_equal(table.node[lane / 2].name, "(unnamed)");
	end();
	assert_int_equal(begin(""), lane);
	assert_int_equal(nve_regions_levels(&regions, NULL), 1);
	assert_int_equal(regions.misuse.no_name, 2);
}

static void unbalanced(void **state)
{
	uint32_t a;

	(void)state;
	end();
	end();
	assert_int_equal(regions.misuse.no_begin, 2);
	a = begin("a");
	assert_int_equal(regions.open.lane, a);
	end();
	end();
	assert_int_equal(regions.misuse.no_begin, 3);
	assert_int_equal(regions.open.lane, 0);
	nve_regions_resume(&regions, 2 * now_ns);
	assert_int_equal(regions.misuse.no_pause, 1);
}

static void named_ends(void **state)
{
	uint32_t a;

	(void)state;
	a = begin("a");
	begin("b");
	begin("c");
	assert_int_equal(nve_regions_levels(&regions, "c"), 1);
	assert_int_equal(regions.misuse.misnested, 0);
	assert_int_equal(nve_regions_levels(&regions, "b"), 2);
	assert_int_equal(regions.misuse.misnested, 1);
	end();
	end();
	assert_int_equal(regions.open.lane, a);
	assert_int_equal(nve_regions_levels(&regions, "b"), 0);
	assert_int_equal(regions.misuse.no_begin, 1);
	assert_int_equal(regions.open.depth, 1);
}

static void too_deep(void **state)
{
	uint32_t lane = 0, deepest;
	char name[16];

	(void)state;
	for (int i = 0; i < NVE_REGION_DEPTH; i++) {
		snprintf(name, sizeof(name), "level %d", i);
		lane = begin(name);
	}
	deepest = lane;
	for (int i = 0; i < 100; i++)
		assert_int_equal(begin("more"), deepest);
	assert_int_equal(regions.misuse.too_deep, 100);
	pass(5);
	assert_int_equal(ran_ns(deepest), 5);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(nve_regions_levels(&regions, "more"), 1);
		end();
		assert_int_equal(regions.open.lane, deepest);
	}
	for (int i = 0; i < NVE_REGION_DEPTH; i++)
		end();
	assert_int_equal(regions.open.lane, 0);
	assert_int_equal(regions.misuse.no_begin, 0);
}

/* Those for which there is no room count for the region that they are in. */
static void too_many(void **state)
{
	uint32_t outer = begin("outer");
	char name[16];

	(void)state;
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "region %d", i);
		begin(name);
		pass(1);
		assert_int_equal(nve_regions_levels(&regions, name), 1);
		end();
	}
	assert_int_equal(nve_region_table_count(&table), NVE_REGION_NODES);
	assert_int_equal(regions.misuse.no_room, 300 - (NVE_REGION_NODES - 2));
	assert_int_equal(ran_ns(outer), 300 - (NVE_REGION_NODES - 2));
	assert_int_equal(regions.open.depth, 1);
	/* Those that are known are still found. */
	assert_int_not_equal(begin("region 7"), outer);
}

static void paused(void **state)
{
	uint32_t a, in_pause;

	(void)state;
	a = begin("a");
	pass(1);
	nve_regions_pause(&regions, 2 * now_ns);
	nve_regions_pause(&regions, 2 * now_ns);
	pass(2);
	assert_int_equal(ran_ns(a + 1), 2);
	assert_false(nve_regions_emulates(&regions, a + 1));
	in_pause = begin("b");
	assert_int_equal(in_pause & 1, 1);
	pass(4);
	nve_regions_resume(&regions, 2 * now_ns);
	pass(8);
	nve_regions_resume(&regions, 2 * now_ns);
	pass(16);
	assert_int_equal(ran_ns(in_pause), 12);
	assert_int_equal(ran_ns(in_pause - 1), 16);
	end();
	assert_int_equal(regions.open.lane, a);
	assert_int_equal(regions.pauses, 2);
}

static void what_is_emulated(void **state)
{
	(void)state;
	assert_true(nve_regions_emulates(&regions, 0));
	assert_true(nve_regions_emulates(&regions, 6));
	assert_false(nve_regions_emulates(&regions, 7));
	regions.only = true;
	assert_false(nve_regions_emulates(&regions, 0));
	assert_false(nve_regions_emulates(&regions, 1));
	assert_true(nve_regions_emulates(&regions, 6));
}

static void a_child_inherits(void **state)
{
	static struct nve_regions child;
	uint32_t b;

	(void)state;
	begin("a");
	b = begin("b");
	memset(&child, 0, sizeof(child));
	nve_regions_start(&child, &table, false, KHZ, 5000);
	nve_regions_inherit(&child, &regions.open, 5000);
	assert_int_equal(child.open.lane, b);
	assert_int_equal(nve_regions_ticks(&child, b, 5010), 10);
	assert_int_equal(child.calls[b / 2] + child.begins, 0);
	nve_regions_end(&child, 5010);
	nve_regions_end(&child, 5010);
	assert_int_equal(child.open.lane, 0);
	assert_int_equal(child.misuse.no_begin, 0);
}

static struct nve_region_part parts[NVE_REGION_PARTS];
static struct nve_epoch epoch;

static uint32_t end_epoch(uint32_t *lane)
{
	return nve_regions_end_epoch(&regions, &epoch, parts, lane);
}

static const struct nve_region_part *part_of(uint32_t lane, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (parts[i].lane == lane)
			return &parts[i];
	fail_msg("no part for lane %u", lane);
	return NULL;
}

/* Regions far below a tick: each gets its share of time, and of the stall time of samples. */
static void short_regions(void **state)
{
	uint32_t a = 0, b = 0, lane, count;
	double stall_a = 0, stall_b = 0, time_a = 0, all = 0;

	(void)state;
	for (int tick = 0; tick < 400; tick++) {
		/* 3 us of a, which stalls, and 1 us of b; the tick comes anywhere in them */
		bool in_b = tick % 4 == 3;

		for (int i = 0; i < 1000; i++) {
			a = begin("a");
			pass(3000);
			end();
			b = begin("b");
			pass(1000);
			end();
		}
		begin(in_b ? "b" : "a");
		sample(4 * MS, in_b ? 0 : 4 * MS);
		end();
		count = end_epoch(&lane);
		assert_true(count >= 2);
		time_a += part_of(a, count)->time;
		stall_a += part_of(a, count)->ro;
		stall_b += part_of(b, count)->ro;
		for (uint32_t i = 0; i < count; i++)
			all += parts[i].time;
	}
	assert_true(all > 1599.9 * MS && all < 1600.1 * MS);
	assert_true(time_a > 1199 * MS && time_a < 1201 * MS);
	assert_true(stall_a > 1180 * MS && stall_a < 1201 * MS);
	assert_true(stall_b < 20 * MS);
}

/* One that always sleeps: the counter cannot say where; samples do, on average. */
static void sleeping_regions(void **state)
{
	uint32_t busy = 0, lane, count;
	double time_busy = 0;

	(void)state;
	for (int tick = 0; tick < 400; tick++) {
		begin("sleeps");
		pass(20 * MS);
		end();
		busy = begin("busy");
		pass(3 * MS);
		if (tick % 4)
			sample(4 * MS, 0);
		end();
		begin("sleeps");
		pass(MS);
		if (tick % 4 == 0)
			sample(4 * MS, 0);
		end();
		/* None is split: all of it is where the sample was. */
		count = end_epoch(&lane);
		assert_int_equal(count, 1);
		time_busy += tick >= 16 && lane == busy ? 4 * MS : 0;
	}
	assert_true(time_busy > 0.74 * 384 * 4 * MS && time_busy < 0.76 * 384 * 4 * MS);
}

/* Time that was spent in a delay is nobody's. */
static void served(void **state)
{
	uint32_t a, lane;

	(void)state;
	a = begin("a");
	pass(MS);
	end();
	begin("b");
	pass(MS);
	nve_regions_served(&regions, 7 * MS, 2 * 7 * MS);
	pass(7 * MS);
	sample(2 * MS, 0);
	assert_int_equal(end_epoch(&lane), 2);
	assert_int_equal(part_of(a, 2)->time, MS);
	assert_int_equal(regions.due[regions.open.lane].served_ns, 7 * MS);
}

/* The time of the last sample's handler is nobody's either; the rest after it has no sample. */
static void rest(void **state)
{
	const struct nve_regions_sample s = {.tsc = 0, .ran_ns = 4 * MS};
	struct nve_regions_sample last = s;
	uint32_t a, b, lane;

	(void)state;
	a = begin("a");
	pass(4 * MS);
	sample(4 * MS, 4 * MS);
	pass(3 * MS);
	nve_regions_mark(&regions, 2 * now_ns);
	pass(MS);
	end();
	b = begin("b");
	pass(3 * MS);
	last.tsc = 2 * now_ns;
	nve_regions_sample(&regions, &last);
	assert_int_equal(end_epoch(&lane), 2);
	assert_int_equal(part_of(a, 2)->time, 5 * MS);
	assert_int_equal(part_of(b, 2)->time, 3 * MS);
	/* What nobody has sampled is expected to be as the thread is. */
	assert_true(part_of(b, 2)->ro + part_of(b, 2)->wb > 2 * MS);
}

/* An epoch has no more parts than there is room for; what is beyond goes where the samples are. */
static void crowded(void **state)
{
	uint32_t lane, count;
	double all = 0;
	char name[16];

	(void)state;
	for (int tick = 0; tick < 3; tick++) {
		for (int i = 0; i < 50; i++) {
			snprintf(name, sizeof(name), "region %d", i);
			begin(name);
			pass(80000);
			end();
		}
		begin("home");
		assert_true(sample(4 * MS, MS));
		end();
	}
	count = end_epoch(&lane);
	assert_int_equal(count, NVE_REGION_PARTS);
	for (uint32_t i = 0; i < count; i++)
		all += parts[i].time;
	assert_true(all > 11.999 * MS && all < 12.001 * MS);
	assert_true(part_of(begin("home"), count)->time > 6.4 * MS);
}

/* Windows tell of the dirty fraction where they were taken. */
static void dirty_by_lane(void **state)
{
	uint32_t reads = 0, writes = 0, lane, count = 0;

	(void)state;
	epoch = (struct nve_epoch){.stall_ns = 1000, .stall_wb_ns = 100};
	for (int tick = 0; tick < 40; tick++) {
		struct nve_regions_sample s = {.ran_ns = 4 * MS,
					       .sampled = true,
					       .answered_ns = 4 * MS,
					       .stall_ns = 4 * MS,
					       .dirty_weight = 0.9};

		reads = begin("reads");
		pass(2 * MS);
		end();
		writes = begin("writes");
		pass(2 * MS);
		s.tsc = 2 * now_ns;
		s.dirty = 0.9;
		if (tick % 2) {
			end();
			begin("reads");
			s.dirty = 0;
		}
		nve_regions_sample(&regions, &s);
		nve_regions_mark(&regions, 2 * now_ns);
		end();
		if (tick < 39)
			end_epoch(&lane);
	}
	epoch = (struct nve_epoch){.stall_ns = 1000, .stall_wb_ns = 100};
	count = end_epoch(&lane);
	assert_int_equal(count, 2);
	assert_true(part_of(reads, count)->wb < 0.05 * part_of(reads, count)->ro);
	assert_true(part_of(writes, count)->ro < 0.05 * part_of(writes, count)->wb);
	assert_in_range(epoch.stall_wb_ns, 480, 520);
}

static void sums_are_the_whole(void **state)
{
	static const struct nve_region_part some[] = {
		{.lane = 2, .time = 1e7, .ro = 3e5, .wb = 1e6, .read = 5e5, .bandwidth = 1e3},
		{.lane = 4, .time = 1},
		{.lane = 7, .time = 3.3e6, .ro = 1e-3, .wb = 7, .read = 1, .written = 0.3},
		{.lane = 0, .time = 12345678.9, .ro = 5e6, .wb = 1, .bandwidth = 0.7},
	};
	static const uint64_t wb[] = {0, 1, 333333, 7000001};
	struct nve_epoch whole = {.cpu_ns = 20000003,
				  .stall_ns = 7000001,
				  .looked_ns = 77,
				  .read_bytes = 1000003,
				  .written_bytes = 17,
				  .bandwidth_ns = 5000011};

	(void)state;
	for (size_t k = 0; k < sizeof(wb) / sizeof(*wb); k++) {
		struct nve_region_part fitted[4];
		struct nve_epoch sum = {0};

		memcpy(fitted, some, sizeof(fitted));
		whole.stall_wb_ns = wb[k];
		nve_region_parts_fit(&whole, fitted, 4);
		for (uint32_t i = 0; i < 4; i++) {
			struct nve_epoch part;

			nve_region_parts_take(&whole, fitted, 4, i, &part);
			assert_true(part.stall_wb_ns <= part.stall_ns);
			sum.cpu_ns += part.cpu_ns;
			sum.stall_ns += part.stall_ns;
			sum.stall_wb_ns += part.stall_wb_ns;
			sum.looked_ns += part.looked_ns;
			sum.read_bytes += part.read_bytes;
			sum.written_bytes += part.written_bytes;
			sum.bandwidth_ns += part.bandwidth_ns;
		}
		assert_int_equal(sum.cpu_ns, whole.cpu_ns);
		assert_int_equal(sum.stall_ns, whole.stall_ns);
		assert_int_equal(sum.stall_wb_ns, whole.stall_wb_ns);
		assert_int_equal(sum.looked_ns, whole.looked_ns);
		assert_int_equal(sum.read_bytes, whole.read_bytes);
		assert_int_equal(sum.written_bytes, whole.written_bytes);
		assert_int_equal(sum.bandwidth_ns, whole.bandwidth_ns);
	}
}

/* Counters know of stall and writes; samples say at most where. */
static void fitted_to_counters(void **state)
{
	struct nve_region_part two[] = {{.lane = 2, .time = 1, .ro = 3, .wb = 1},
					{.lane = 4, .time = 1, .ro = 1, .wb = 3}};
	struct nve_region_part blind[] = {{.lane = 2, .time = 1}, {.lane = 4, .time = 3}};
	struct nve_epoch whole = {.cpu_ns = 1000, .stall_ns = 800, .stall_wb_ns = 400}, part;

	(void)state;
	nve_region_parts_fit(&whole, two, 2);
	nve_region_parts_take(&whole, two, 2, 0, &part);
	assert_in_range(part.stall_ns, 398, 401);
	assert_in_range(part.stall_wb_ns, 99, 101);
	whole.stall_wb_ns = 600;
	nve_region_parts_fit(&whole, two, 2);
	nve_region_parts_take(&whole, two, 2, 0, &part);
	assert_in_range(part.stall_ns, 398, 401);
	assert_in_range(part.stall_wb_ns, 201, 299);
	nve_region_parts_fit(&whole, blind, 2);
	nve_region_parts_take(&whole, blind, 2, 1, &part);
	assert_in_range(part.stall_ns, 599, 601);
	assert_in_range(part.stall_wb_ns, 449, 451);
}

/* What is moved belongs to the region that runs, and so does the delay for it; errors as of pieces
 * that are independent. */
static void moved(void **state)
{
	struct nve_epoch whole = {.cpu_ns = 8 * MS,
				  .read_bytes = 4000,
				  .written_bytes = 100,
				  .read_se_bytes = 200,
				  .bandwidth_ns = 3000};
	struct nve_region_part pieces[NVE_REGION_PARTS];
	struct nve_epoch first, second;
	uint32_t count, lane, a;

	(void)state;
	nve_regions_mark(&regions, 2 * now_ns);
	a = begin("a");
	pass(4 * MS);
	nve_regions_moved(&regions, 1000, 100, 3000);
	sample(4 * MS, 0);
	end();
	pass(4 * MS);
	nve_regions_moved(&regions, 3000, 0, 0);
	sample(4 * MS, 0);
	count = nve_regions_end_epoch(&regions, &whole, pieces, &lane);
	assert_int_equal(count, 2);
	assert_int_equal(pieces[0].lane, a);
	nve_region_parts_fit(&whole, pieces, count);
	nve_region_parts_take(&whole, pieces, count, 0, &first);
	nve_region_parts_take(&whole, pieces, count, 1, &second);
	assert_int_equal(first.read_bytes, 1000);
	assert_int_equal(first.written_bytes, 100);
	assert_int_equal(first.bandwidth_ns, 3000);
	assert_int_equal(first.read_se_bytes, 100);
	assert_int_equal(second.read_bytes, 3000);
	assert_int_equal(second.written_bytes + second.bandwidth_ns, 0);
	assert_int_equal(second.read_se_bytes, 173);
}

static void factors(void **state)
{
	const struct nve_epoch part = {.cpu_ns = 20, .stall_ns = 10, .stall_wb_ns = 5};
	const struct nve_model_delay d = {.ma_ro = 1, .ma_wb = 2, .delay_ns = 40, .larger_ns = 50};

	(void)state;
	assert_true(nve_regions_delay_factor(&regions, 2, 2) == 1);
	nve_regions_settle(&regions, 2, &part, &d, 0);
	assert_true(nve_regions_delay_factor(&regions, 2, 2) == 2);
	assert_true(nve_regions_delay_factor(&regions, 2, 0) == 1);
	assert_int_equal(regions.model[2].delay_owed_ns, 50);
	assert_int_equal(regions.model[2].ma_wb, 2);
	begin("a");
	nve_regions_pause(&regions, 2 * now_ns);
	assert_int_equal(nve_regions_take_markers(&regions), 2);
	assert_int_equal(nve_regions_take_markers(&regions), 0);
}

/* What a region earns is due in it alone, and what it got too much it has had. */
static void due_where_earned(void **state)
{
	const struct nve_epoch part = {.cpu_ns = 4 * MS, .stall_ns = 4 * MS};
	const struct nve_model_delay judged = {.delay_ns = 10 * MS, .larger_ns = 10 * MS};
	uint32_t a, lane;

	(void)state;
	a = begin("a");
	pass(4 * MS);
	sample(4 * MS, 4 * MS);
	assert_int_equal(nve_regions_due_ns(&regions), 8 * MS);
	nve_regions_served(&regions, 5 * MS, 0);
	assert_int_equal(nve_regions_due_ns(&regions), 3 * MS);
	/* Not sampled yet: it is expected to be as what was. */
	pass(MS);
	assert_true(nve_regions_expected_ns(&regions, 2 * now_ns, 2) == 2 * MS);
	end();
	assert_int_equal(nve_regions_due_ns(&regions), 0);
	assert_int_equal(end_epoch(&lane), 1);
	nve_regions_settle(&regions, a, &part, &judged, parts[0].foreseen_ns);
	assert_int_equal(nve_regions_due_ns(&regions), 0);
	begin("a");
	assert_int_equal(nve_regions_due_ns(&regions), 5 * MS);
	nve_regions_cost(&regions, MS);
	assert_int_equal(nve_regions_due_ns(&regions), 4 * MS);
	nve_regions_pause(&regions, 2 * now_ns);
	assert_int_equal(nve_regions_due_ns(&regions), 0);
	nve_regions_resume(&regions, 2 * now_ns);
	nve_regions_served(&regions, 6 * MS, 0);
	assert_int_equal(nve_regions_due_ns(&regions), -2 * MS);
}

/* One that runs no more for longer than an epoch may be hands its account on; never to where
 * nothing is emulated. */
static void accounts_are_closed(void **state)
{
	uint32_t lane;

	(void)state;
	begin("a");
	pass(4 * MS);
	sample(4 * MS, 4 * MS);
	end();
	end_epoch(&lane);
	begin("b");
	nve_regions_pause(&regions, 2 * now_ns);
	for (int i = 0; i < 300; i++) {
		pass(4 * MS);
		sample(4 * MS, 0);
		end_epoch(&lane);
	}
	nve_regions_resume(&regions, 2 * now_ns);
	assert_int_equal(nve_regions_due_ns(&regions), 0);
	for (int i = 0; i < 10; i++) {
		pass(4 * MS);
		sample(4 * MS, 0);
		end_epoch(&lane);
	}
	assert_int_equal(nve_regions_due_ns(&regions), 8 * MS);
	end();
	begin("a");
	assert_int_equal(nve_regions_due_ns(&regions), 0);
}

/* One of short regions loses its core, a long one sleeps: the CPU clock, read at markers now and
 * then, tells in which time went by. */
static void lost_cores(void **state)
{
	uint32_t a = 0, b = 0, lane, count;
	uint64_t cpu_ns = 1000;

	(void)state;
	nve_region_watch_start(&regions.watch, 2 * now_ns, cpu_ns);
	for (int i = 0; i < 1000; i++) {
		uint64_t lost_ns = i == 500 ? 8 * MS : 0;

		a = begin("a");
		pass(3000 + lost_ns);
		cpu_ns += 3000;
		end();
		b = begin("b");
		pass(1000);
		cpu_ns += 1000;
		end();
		if (nve_regions_want_check(&regions, 2 * now_ns))
			nve_regions_check(&regions, 2 * now_ns, cpu_ns);
	}
	begin("long");
	pass(50 * MS);
	nve_regions_check(&regions, 2 * now_ns, cpu_ns + 10 * MS);
	end();
	sample(14 * MS, 0);
	count = end_epoch(&lane);
	assert_int_equal(ran_ns(a), 11 * MS);
	assert_int_equal(part_of(a, count)->time, 3 * MS);
	assert_int_equal(part_of(b, count)->time, MS);
	/* The clock is less than it was: nothing is made of that. */
	nve_regions_check(&regions, 2 * now_ns, 0);
	assert_int_equal(ran_ns(a), 11 * MS);
}

/* Threads that begin the same regions at once agree on them. */
static void *begin_all(void *found)
{
	uint32_t *numbers = found;
	char name[16];

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "region %d", i);
		numbers[i] = nve_region_table_find(&table, 0, name);
	}
	return NULL;
}

static void many_threads(void **state)
{
	enum { THREADS = 4 };
	static uint32_t numbers[THREADS][100];
	pthread_t thread[THREADS];
	char name[16];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, begin_all, numbers[i]), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < 100; i++) {
		uint32_t number;

		snprintf(name, sizeof(name), "region %d", i);
		number = nve_region_table_find(&table, 0, name);
		for (int k = 0; k < THREADS; k++)
			if (numbers[k][i] != NVE_REGION_NONE)
				assert_int_equal(numbers[k][i], number);
		if (number != NVE_REGION_NONE)
			assert_string_equal(table.node[number].name, name);
	}
	assert_in_range(nve_region_table_count(&table), 101, NVE_REGION_NODES);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, set_up)
	const struct CMUnitTest tests[] = {
		TEST(nesting),
		TEST(names_are_copied),
		TEST(long_names_are_cut),
		TEST(without_a_name),
		TEST(unbalanced),
		TEST(named_ends),
		TEST(too_deep),
		TEST(too_many),
		TEST(paused),
		TEST(what_is_emulated),
		TEST(a_child_inherits),
		TEST(short_regions),
		TEST(sleeping_regions),
		TEST(served),
		TEST(rest),
		TEST(crowded),
		TEST(dirty_by_lane),
		TEST(sums_are_the_whole),
		TEST(fitted_to_counters),
		TEST(moved),
		TEST(factors),
		TEST(due_where_earned),
		TEST(accounts_are_closed),
		TEST(lost_cores),
		TEST(many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
