/* The stream of misses, on made-up windows: loops, phases, shared instructions, the sums. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "count/ahead/misses.h"

enum {
	AFTER_LOAD = 0x401003,
	LOAD = 0x401000,
	OTHER = 0x500000,
	STEPS = 1024,
	SITES = 8,
	NOBODYS = 0x40
};

static struct nve_misses *misses;
static struct nve_dirty_table *dirty;
static struct nve_lines *lines;

/* What the sink got. The site of an address is in its upper bits. */
static struct {
	uint64_t site_ns[SITES], dirty_milli_ns[SITES], total_ns, calls, located;
} got;

static uint64_t address(uint64_t site, uint64_t line)
{
	return (site << 32) + line * NVE_LINE_BYTES;
}

static uint64_t locate(uint64_t addr)
{
	got.located++;
	if (addr == NOBODYS)
		return 0;
	return (addr >> 32) + 100;
}

static void take(const struct nve_miss *miss, size_t count)
{
	got.calls++;
	for (size_t i = 0; i < count; i++) {
		uint64_t site = miss[i].addr >> 32;

		assert_in_range(site, 0, SITES - 1);
		assert_int_equal(miss[i].addr % NVE_LINE_BYTES, 0);
		assert_int_equal(miss[i].place, site + 100);
		assert_true(miss[i].dirty >= 0 && miss[i].dirty <= 1);
		got.site_ns[site] += miss[i].stall_ns;
		got.dirty_milli_ns[site] +=
			(uint64_t)((double)miss[i].dirty * 1000 * (double)miss[i].stall_ns);
		got.total_ns += miss[i].stall_ns;
	}
}

static int set_up(void **state)
{
	static const struct nve_miss_sink sink = {.locate = locate, .take = take};
	void *mem = calloc(1, nve_misses_bytes());

	(void)state;
	memset(&got, 0, sizeof(got));
	dirty = calloc(1, nve_dirty_table_bytes());
	lines = calloc(1, sizeof(*lines));
	if (!mem || !dirty || !lines)
		return 1;
	misses = nve_misses_init(mem, &sink);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(misses);
	free(dirty);
	free(lines);
	return 0;
}

static double uniform(void)
{
	static uint64_t x = 88172645463325252;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (double)(x >> 11) * 0x1p-53;
}

/* The window under way. */
static struct nve_wait wait[STEPS];
static size_t waits;

static void begin_window(void)
{
	nve_lines_clear(lines, STEPS);
	waits = 0;
}

static void miss(uint64_t after, uint64_t site, double cycles, bool written)
{
	bool fresh;
	struct nve_line *line = nve_lines_touch(
		lines, address(site, (uint64_t)(uniform() * (1 << 20))) / NVE_LINE_BYTES, &fresh);

	line->first_ip = after - 3;
	line->first_step = 400;
	line->missed = true;
	line->written = written;
	wait[waits++] = (struct nve_wait){.ip = after,
					  .access_ip = after - 3,
					  .missed = true,
					  .cycles = (float)cycles,
					  .line = (uint16_t)(line - lines->line)};
}

static void end_window(void)
{
	nve_misses_learn(misses, wait, waits, lines, STEPS, dirty);
}

static double share(uint64_t site)
{
	return (double)got.site_ns[site] / (double)got.total_ns;
}

static void assert_share(uint64_t site, double wanted, double tolerance)
{
	if (fabs(share(site) - wanted) > tolerance)
		print_error("site %d: %.4f, wanted %.4f\n", (int)site, share(site), wanted);
	assert_true(fabs(share(site) - wanted) <= tolerance);
}

/* Every nanosecond is somewhere: with the sink, or not attributed. Never more than there was. */
static void sums(void **state)
{
	uint64_t epochs_ns = 0;

	(void)state;
	for (int epoch = 0; epoch < 1000; epoch++) {
		double answered = 0, stall;

		for (int i = 0; i < 5; i++) {
			uint64_t ip = uniform() < 0.5 ? AFTER_LOAD : OTHER;

			if (epoch > 300 && uniform() < 0.2) {
				begin_window();
				miss(AFTER_LOAD, 1, 100, false);
				end_window();
			}
			stall = uniform() * 4e6;
			answered += stall;
			nve_misses_spread(misses, ip, stall, 0);
		}
		stall = floor(answered * 1.25 + 0.5); /* a fifth had no answer */
		epochs_ns += (uint64_t)stall;
		nve_misses_end_epoch(misses, (uint64_t)stall);
		assert_int_equal(got.total_ns, nve_misses_attributed_ns(misses));
		assert_true(got.total_ns <= epochs_ns);
	}
	/* The epochs before the first window are lost but for one; of the others, nothing. */
	assert_true((double)(epochs_ns - got.total_ns) < 303.0 / 1000 * 1.1 * (double)epochs_ns);
	assert_true((double)(epochs_ns - got.total_ns) > 290.0 / 1000 * 0.9 * (double)epochs_ns);
}

/* Nothing is known: nothing is invented, and what is older than an epoch is not foisted on what
 * comes. */
static void unattributed(void **state)
{
	(void)state;
	nve_misses_spread(misses, AFTER_LOAD, 1000, 0);
	nve_misses_end_epoch(misses, 1000);
	nve_misses_spread(misses, AFTER_LOAD, 500, 0);
	nve_misses_end_epoch(misses, 500);
	assert_int_equal(got.calls, 0);
	begin_window();
	miss(AFTER_LOAD, 2, 100, false);
	end_window();
	nve_misses_spread(misses, AFTER_LOAD, 70, 0);
	assert_int_equal(got.site_ns[2], 570);
	assert_int_equal(got.total_ns, 570);
	nve_misses_end_epoch(misses, 70);
	assert_int_equal(nve_misses_attributed_ns(misses), 570);
}

/* One instruction, many sites, each window full of them: shares by the time waited, not by the
 * number of misses. */
static void mixed(void **state)
{
	(void)state;
	for (int w = 0; w < 500; w++) {
		begin_window();
		for (int i = 0; i < 60; i++)
			miss(AFTER_LOAD, i % 3 == 0, i % 3 == 0 ? 300 : 50, false);
		end_window();
		nve_misses_spread(misses, AFTER_LOAD, 3e6, 0);
	}
	assert_share(1, 0.75, 0.03);
	assert_share(0, 0.25, 0.03);
}

/*
 * Two loops take turns in slices of time. Windows are rare and prefer one of them by far; samples
 * do not: the shares are theirs.
 */
static void two_loops(void **state)
{
	(void)state;
	for (int slice = 0; slice < 3000; slice++) {
		bool first = uniform() < 0.7;

		if (uniform() < (first ? 0.02 : 0.5)) {
			begin_window();
			for (int i = 0; i < (first ? 4 : 60); i++)
				miss(first ? AFTER_LOAD : OTHER, first, 100, false);
			end_window();
		}
		nve_misses_spread(misses, first ? AFTER_LOAD : OTHER, 4e6, 0);
	}
	assert_share(1, 0.7, 0.05);
	assert_share(0, 0.3, 0.05);
}

/*
 * One instruction, used in phases of half a second for one site and then another: one window in
 * eight samples, and the windows of one phase have ten times the misses. Equal time, equal shares.
 */
static void phases(void **state)
{
	(void)state;
	for (int sample = 0; sample < 10000; sample++) {
		uint64_t site = (uint64_t)(sample / 125 % 2);

		if (sample % 8 == 0) {
			begin_window();
			for (int i = 0; i < (site ? 6 : 60); i++)
				miss(AFTER_LOAD, site, 100, false);
			end_window();
		}
		nve_misses_spread(misses, AFTER_LOAD, 4e6, 0);
	}
	assert_share(0, 0.5, 0.01);
	assert_share(1, 0.5, 0.01);
}

/* A phase that is over is forgotten after four windows. */
static void forgets(void **state)
{
	uint64_t before;

	(void)state;
	for (uint64_t site = 0; site < 2; site++)
		for (int w = 0; w < 4; w++) {
			begin_window();
			for (int i = 0; i < 20; i++)
				miss(AFTER_LOAD, site, 100, false);
			end_window();
			nve_misses_spread(misses, AFTER_LOAD, 1e6, 0);
		}
	before = got.site_ns[0];
	assert_in_range(before, 5000000, 6000000); /* 4, and 3/4, 1/2, 1/4 of the next */
	nve_misses_spread(misses, AFTER_LOAD, 1e6, 0);
	assert_int_equal(got.site_ns[0], before);
}

/* An instruction that no window passed: as the windows' instructions in general. */
static void strange_instruction(void **state)
{
	(void)state;
	for (int w = 0; w < 40; w++) {
		begin_window();
		for (int i = 0; i < 40; i++)
			miss(i % 2 ? AFTER_LOAD : OTHER, i % 2, i % 2 ? 150 : 50, false);
		end_window();
		nve_misses_spread(misses, 0x700000, 1e6, 0);
	}
	assert_share(1, 0.75, 0.05);
}

/* The lines of one site are written, those of the other are not, by the same instruction; and a
 * line whose window ends soon gets written later as often as others do. */
static void writes(void **state)
{
	(void)state;
	for (int w = 0; w < 200; w++) {
		begin_window();
		for (int i = 0; i < 20; i++) {
			miss(AFTER_LOAD, i % 2, 100, i % 2);
			nve_dirty_learn(dirty, LOAD, STEPS - 400, i % 2, 20);
		}
		end_window();
		nve_misses_spread(misses, AFTER_LOAD, 1e6, 0);
	}
	assert_int_equal(got.dirty_milli_ns[0], 0);
	assert_true(got.dirty_milli_ns[1] > 990 * got.site_ns[1]);

	/* Half of the lines are written, after 30 to 60 instructions: one followed for 20 says
	 * nothing, one followed for 100 is clean. */
	memset(&got, 0, sizeof(got));
	for (int i = 0; i < 1000; i++)
		nve_dirty_learn(dirty, OTHER - 3, 600, i % 2, 40);
	for (int w = 0; w < 10; w++) {
		begin_window();
		miss(OTHER, 0, 100, false);
		lines->line[0].first_step = STEPS - 20;
		miss(OTHER, 1, 100, false);
		lines->line[1].first_step = STEPS - 100;
		end_window();
		nve_misses_spread(misses, OTHER, 1e6, 0);
	}
	assert_in_range(got.dirty_milli_ns[0], 490 * got.site_ns[0], 510 * got.site_ns[0]);
	assert_in_range(got.dirty_milli_ns[1], 0, 10 * got.site_ns[1]);
}

/* An access that does not miss: the instruction finds the line in a cache. */
static void hit(uint64_t after, uint64_t site, double cycles)
{
	miss(after, site, cycles, false);
	wait[waits - 1].missed = false;
}

/* The sample tells of the line itself: nobody else's gets its stall, whatever windows have seen. */
static void own_line(void **state)
{
	(void)state;
	assert_int_equal(nve_misses_access(misses, AFTER_LOAD), 0);
	begin_window();
	miss(AFTER_LOAD, 1, 100, true);
	end_window();
	assert_int_equal(nve_misses_access(misses, AFTER_LOAD), LOAD);
	for (int i = 0; i < 100; i++)
		nve_misses_spread(misses, AFTER_LOAD, 1000, address(i % 4 ? 1 : 2, 7) + 8);
	assert_int_equal(got.site_ns[1], 75000);
	assert_int_equal(got.site_ns[2], 25000);
	/* Lines of site 1 get written; of site 2 nothing is known but that. */
	assert_int_equal(got.dirty_milli_ns[1], 75000000);
	assert_int_equal(got.dirty_milli_ns[2], 25000000);
	begin_window();
	for (int i = 0; i < 8; i++)
		miss(AFTER_LOAD, 2, 100, false);
	end_window();
	memset(&got, 0, sizeof(got));
	nve_misses_spread(misses, AFTER_LOAD, 1000, address(1, 3));
	nve_misses_spread(misses, AFTER_LOAD, 1000, address(2, 3));
	assert_int_equal(got.dirty_milli_ns[1], 1000000);
	assert_int_equal(got.dirty_milli_ns[2], 0);
}

/* Memory that the instruction finds in the cache is not what it stands still for; nor is what
 * belongs to nobody. */
static void own_line_of_others(void **state)
{
	(void)state;
	begin_window();
	for (int i = 0; i < 30; i++) {
		hit(AFTER_LOAD, 3, 10);
		miss(AFTER_LOAD, 1, 100, false);
	}
	end_window();
	nve_misses_spread(misses, AFTER_LOAD, 8000, address(3, 5));
	nve_misses_spread(misses, AFTER_LOAD, 8000, NOBODYS);
	assert_int_equal(got.site_ns[3], 0);
	assert_int_equal(got.site_ns[1], 16000);
	/* Missed once, it may be. */
	begin_window();
	miss(AFTER_LOAD, 3, 100, false);
	end_window();
	nve_misses_spread(misses, AFTER_LOAD, 8000, address(3, 5));
	assert_int_equal(got.site_ns[3], 8000);
}

static void news(void **state)
{
	(void)state;
	assert_true(nve_misses_is_news(misses, AFTER_LOAD, 0));
	begin_window();
	miss(AFTER_LOAD, 1, 100, false);
	for (int i = 0; i < 10; i++)
		hit(AFTER_LOAD, 3, 10);
	end_window();
	assert_false(nve_misses_is_news(misses, AFTER_LOAD, 0));
	assert_false(nve_misses_is_news(misses, AFTER_LOAD, address(1, 9)));
	assert_false(nve_misses_is_news(misses, AFTER_LOAD, address(3, 9)));
	assert_true(nve_misses_is_news(misses, AFTER_LOAD, address(2, 9)));
	assert_true(nve_misses_is_news(misses, OTHER, address(1, 9)));
}

/* More instructions than the table holds: the latest are there, and no line is lost on the way. */
static void crowded(void **state)
{
	(void)state;
	for (uint64_t w = 0; w < 400; w++) {
		begin_window();
		for (uint64_t i = 0; i < 50; i++)
			miss(0x10000 + (w * 50 + i) * 5, i == 49, 100, false);
		end_window();
	}
	nve_misses_spread(misses, 0x10000 + (399 * 50 + 49) * 5, 1e6, 0);
	assert_int_equal(got.site_ns[1], 1000000);
	nve_misses_spread(misses, 0x10000 + (399 * 50 + 3) * 5, 1e6, 0);
	assert_int_equal(got.site_ns[0], 1000000);
	nve_misses_end_epoch(misses, 2000000);
	assert_int_equal(nve_misses_attributed_ns(misses), 2000000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sums),
		TEST(unattributed),
		TEST(mixed),
		TEST(two_loops),
		TEST(phases),
		TEST(forgets),
		TEST(strange_instruction),
		TEST(writes),
		TEST(crowded),
		TEST(own_line),
		TEST(own_line_of_others),
		TEST(news),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
