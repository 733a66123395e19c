/* Which lines of a window must come from memory: windows and caches made up. */
#include "unit.h"

#include <string.h>

#include "base/base.h"
#include "count/ahead/reach.h"

enum { READ_IP = 1, WRITE_IP = 2, MOVE_IP = 3, HERE = 1 << 20 };

static struct nve_lines lines;
static struct nve_stream_lines out;
static uint64_t cached_from, cached_to; /* ids that probes find in the cache */
static int probes;

static enum nve_reach_line probe(void *ctx, uint64_t id)
{
	assert_ptr_equal(ctx, &lines);
	probes++;
	return id >= cached_from && id < cached_to ? NVE_REACH_CACHED : NVE_REACH_MISSED;
}

static uint64_t counts_below = UINT64_MAX; /* ids that count */

static bool below(uint64_t addr)
{
	return addr / NVE_LINE_BYTES < counts_below;
}

static struct nve_line *touch(uint64_t id, uint64_t ip, uint32_t step)
{
	bool fresh;
	struct nve_line *line = nve_lines_touch(&lines, id, &fresh);

	assert_true(fresh);
	line->first_ip = ip;
	line->first_step = step;
	return line;
}

static void write_to(struct nve_line *line)
{
	line->written = true;
	line->written_step = line->first_step;
}

static void count(uint32_t first, uint32_t last)
{
	const struct nve_reach_world world = {probe, below, &lines, 12345};

	probes = 0;
	nve_reach_count(&lines, first, last, &world, &out);
}

static int setup(void **state)
{
	(void)state;
	nve_lines_clear(&lines, 4000);
	cached_from = cached_to = 0;
	counts_below = UINT64_MAX;
	return 0;
}

/* All hit, since a prefetcher was there before; what lies further on is not cached. */
static void stream_of_reads(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		touch(HERE + i, READ_IP, 10 * i);
	count(100, 900);
	assert_true(out.stream_read == 80 && out.stream_written == 0);
	assert_true(out.read == 0 && out.written == 0);
	assert_true(probes == 4 && out.probes == (uint32_t)probes &&
		    out.probes_missed == out.probes);
	cached_to = UINT64_MAX;
	count(100, 900);
	assert_true(out.probes > 0 && out.probes_missed == 0);
}

/* A string move reads and writes by one instruction, in two places, and fetches only one of them.
 */
static void string_move(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 50; i++) {
		struct nve_line *to;

		touch(HERE + i, MOVE_IP, i);
		to = touch(2 * HERE + i, MOVE_IP, i);
		write_to(to);
		to->unfetched = true;
	}
	count(0, 50);
	assert_true(out.stream_read == 50 && out.stream_written == 50);
}

static void downwards(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 50; i++)
		touch(HERE - 4 * i, READ_IP, i);
	cached_from = HERE - 200;
	cached_to = UINT64_MAX;
	count(0, 50);
	assert_true(out.stream_read == 50);
	assert_true(out.probes > 0 && out.probes_missed == out.probes);
}

/* Four pages side by side: ahead of the first is where the last has been. */
static void side_by_side(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 40; i++) {
		for (uint64_t page = 0; page < 16; page++)
			touch(HERE + 64 * page + i, READ_IP + page, 16 * i);
	}
	cached_from = HERE;
	cached_to = HERE + 64 * 16;
	count(0, 1000);
	assert_true(out.stream_read == 640);
	assert_true(out.probes > 0 && out.probes_missed == out.probes);
}

/* Here and there: what missed did, what hit did not. */
static void no_stream(void **state)
{
	(void)state;
	for (uint64_t i = 0, x = 1; i < 60;
	     i++, x = x * 6364136223846793005u + 1442695040888963407u) {
		struct nve_line *line = touch(HERE + (x >> 40), READ_IP, (uint32_t)i);

		line->missed = i % 3 == 0;
		if (i % 6 == 0)
			write_to(line);
	}
	count(0, 60);
	assert_true(out.read == 20 && out.written == 10);
	assert_true(out.stream_read == 0 && probes == 0);
}

/* Past the caches: written, whatever is cached, and nothing read. */
static void non_temporal(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 30; i++) {
		struct nve_line *line = touch(HERE + i, WRITE_IP, i);

		write_to(line);
		line->streaming = line->unfetched = true;
	}
	count(0, 30);
	assert_true(out.written == 30 && out.read == 0);
	assert_true(out.stream_written == 0 && out.stream_read == 0 && probes == 0);
}

/* More instructions than can be told apart: no crash, and those that can be are counted. */
static void many_instructions(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		touch(HERE + 100 * i, i, i)->missed = true;
	count(0, 1000);
	assert_true(out.read > 0 && out.read <= 1000);
	nve_lines_clear(&lines, 100);
	count(0, 1000);
	assert_true(out.read == 0 && probes == 0);
}

/* One of two streams is in memory whose traffic does not count, and a part of the other misses. */
static void some_memory(void **state)
{
	(void)state;
	counts_below = 2 * HERE;
	cached_from = 2 * HERE;
	cached_to = UINT64_MAX;
	for (uint32_t i = 0; i < 100; i++) {
		touch(HERE + i, READ_IP, 10 * i);
		write_to(touch(2 * HERE + i, WRITE_IP, 10 * i + 5));
		touch(3 * HERE + 99 * i * i, MOVE_IP, 10 * i + 6)->missed = true;
		touch(4 * HERE + i, 4, 10 * i + 7)->streaming = true;
	}
	count(100, 900);
	assert_true(out.stream_read == 80 && out.stream_written == 0);
	assert_true(out.read == 0 && out.written == 0);
	assert_true(out.probes == 4 && out.probes_missed == 4);
	assert_true(out.heads == 4 && out.head[0].ip == READ_IP);
	counts_below = HERE;
	count(100, 900);
	assert_true(out.stream_read == 0 && out.read == 0 && out.heads == 0 && probes == 0);
}

/* Later, where an instruction accesses another place: as far beyond that. */
static void heads(void **state)
{
	uint64_t id;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		touch(HERE - i, READ_IP, 10 * i);
	count(100, 900);
	assert_int_equal(out.heads, 4);
	id = nve_reach_ahead(&out.head[0], (uint64_t)HERE * 10 * NVE_LINE_BYTES + 7, 12345);
	assert_in_range(id, HERE * 10 - 1024, HERE * 10 - 512);
	out.head[0].beyond = 512;
	id = nve_reach_ahead(&out.head[0], (uint64_t)HERE * 10 * NVE_LINE_BYTES, 12345);
	assert_in_range(id, HERE * 10 + 512, HERE * 10 + 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(stream_of_reads, setup),
		cmocka_unit_test_setup(string_move, setup),
		cmocka_unit_test_setup(downwards, setup),
		cmocka_unit_test_setup(side_by_side, setup),
		cmocka_unit_test_setup(no_stream, setup),
		cmocka_unit_test_setup(non_temporal, setup),
		cmocka_unit_test_setup(many_instructions, setup),
		cmocka_unit_test_setup(some_memory, setup),
		cmocka_unit_test_setup(heads, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
