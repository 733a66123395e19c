/* The replay provider: whose epochs, in which order, when; and files that are none, or not whole.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "count/replay.h"

static uint8_t file[1 << 20];
static size_t file_size;
static struct nve_replay replay;
static struct nve_replay_error error;

static void start_file(void)
{
	struct nve_record_header h = {.dram_lat_ps = 100000, .llc_lat_ps = 20000, .program = "app"};

	nve_record_put_header(file, &h);
	file_size = NVE_RECORD_HEADER_BYTES;
}

static void put(struct nve_record r)
{
	assert_true(sizeof(file) - file_size >= NVE_RECORD_MAX_BYTES);
	file_size += nve_record_put(file + file_size, &r);
}

static void put_epoch(uint64_t thread, uint64_t cpu_ns)
{
	put((struct nve_record){
		.type = NVE_RECORD_EPOCH,
		.epoch = {.thread = thread,
			  .cpu_ns = cpu_ns,
			  .stall_ns = cpu_ns / 2,
			  .stall_wb_ns = cpu_ns / 4,
			  .latency_ps = 120000,
			  .dram_lat_ps = 100000,
			  .stall_se_ns = 1,
			  .dirty_se_ppm = 2,
			  .latency_se_ps = 3,
			  .dram_ro_ppm = 4,
			  .dram_wb_ppm = 1000000,
			  .dram_ro_se_ppm = 6,
			  .dram_wb_se_ppm = 7},
	});
}

static int parse(size_t size)
{
	memset(&error, 0, sizeof(error));
	return nve_replay_parse(&replay, file, size, &error);
}

/* Threads that begin late, end early, take turns, and one that has nothing. */
static void by_thread(void **state)
{
	static const uint64_t order[][2] = {{2, 1}, {0, 10}, {2, 2}, {5, 100}, {0, 20}, {2, 3}};
	static const uint64_t wanted[][4] = {{10, 20}, {0}, {1, 2, 3}, {0}, {0}, {100}, {0}, {0}};

	(void)state;
	start_file();
	put((struct nve_record){.type = NVE_RECORD_THREAD});
	for (size_t i = 0; i < NVE_ARRAY_SIZE(order); i++)
		put_epoch(order[i][0], order[i][1]);
	put((struct nve_record){.type = NVE_RECORD_THREAD_END});
	assert_int_equal(parse(file_size), 0);
	assert_int_equal(replay.threads, 6);
	assert_int_equal(replay.epochs, 6);
	assert_int_equal(replay.cpu_ns, 136);
	assert_false(replay.complete);
	for (uint64_t t = 0; t < NVE_ARRAY_SIZE(wanted); t++) {
		struct nve_replay_cursor c = nve_replay_begin(&replay, t);
		struct nve_epoch e;

		c.ran_ns = 1000;
		for (size_t i = 0; wanted[t][i]; i++) {
			assert_true(nve_replay_due(&c));
			nve_replay_take(&c, &e);
			assert_int_equal(e.cpu_ns, wanted[t][i]);
			assert_int_equal(e.stall_ns, e.cpu_ns / 2);
			assert_int_equal(e.stall_wb_ns, e.cpu_ns / 4);
			assert_int_equal(e.latency_ps, 120000);
			assert_int_equal(e.dram_lat_ps, 100000);
			assert_int_equal(e.stall_se_ns, 1);
			assert_int_equal(e.dirty_se_ppm, 2);
			assert_int_equal(e.latency_se_ps, 3);
			assert_int_equal(e.dram_ro_ppm, 4);
			assert_int_equal(e.dram_wb_ppm, 1000000);
			assert_int_equal(e.dram_ro_se_ppm, 6);
			assert_int_equal(e.dram_wb_se_ppm, 7);
		}
		assert_false(nve_replay_due(&c));
	}
	nve_replay_free(&replay);
	nve_replay_free(&replay);
}

/* An epoch is due to the nanosecond; what was run beyond it counts for the next. */
static void due(void **state)
{
	struct nve_replay_cursor c;
	struct nve_epoch e;

	(void)state;
	start_file();
	put_epoch(0, 20);
	put_epoch(0, 0);
	put_epoch(0, 30);
	put((struct nve_record){.type = NVE_RECORD_PROCESS_END});
	put_epoch(0, 40); /* of a thread that went on: too late */
	assert_int_equal(parse(file_size), 0);
	assert_true(replay.complete);
	c = nve_replay_begin(&replay, 0);
	assert_int_equal(nve_replay_left_ns(&c), 50);
	c.ran_ns = 19;
	assert_false(nve_replay_due(&c));
	c.ran_ns = 45;
	assert_true(nve_replay_due(&c));
	nve_replay_take(&c, &e);
	assert_int_equal(c.ran_ns, 25);
	assert_true(nve_replay_due(&c));
	nve_replay_take(&c, &e);
	assert_int_equal(e.cpu_ns, 0);
	assert_false(nve_replay_due(&c));
	assert_int_equal(nve_replay_left_ns(&c), 30);
	c.ran_ns += 5;
	assert_true(nve_replay_due(&c));
	nve_replay_take(&c, &e);
	assert_int_equal(c.ran_ns, 0);
	assert_int_equal(nve_replay_left_ns(&c), 0);
	c.ran_ns = UINT64_MAX;
	assert_false(nve_replay_due(&c));
	nve_replay_free(&replay);
}

static void nothing(void **state)
{
	struct nve_replay_cursor c = {0};

	(void)state;
	assert_false(nve_replay_due(&c));
	assert_int_equal(nve_replay_left_ns(&c), 0);
	start_file();
	assert_int_equal(parse(file_size), 0);
	assert_int_equal(replay.epochs + replay.threads, 0);
	c = nve_replay_begin(&replay, 0);
	assert_false(nve_replay_due(&c));
	nve_replay_free(&replay);
}

static void cut_short(void **state)
{
	uint64_t last = 0;

	(void)state;
	start_file();
	for (uint64_t i = 0; i < 50; i++)
		put_epoch(i % 3, 1000 + i);
	put((struct nve_record){.type = NVE_RECORD_PROCESS_END});
	for (size_t size = 0; size <= file_size; size++) {
		int rc = parse(size);

		assert_int_equal(rc, size < NVE_RECORD_HEADER_BYTES ? -ENODATA : 0);
		assert_true(replay.epochs >= last && replay.epochs <= last + 1);
		assert_int_equal(replay.complete, size == file_size);
		last = replay.epochs;
		nve_replay_free(&replay);
	}
	assert_int_equal(last, 50);
	assert_int_equal(parse(100), -ENODATA);
	assert_string_equal(error.text, "ends within its header");
}

/* Where one bit is wrong it is said, or less is read: never anything else. */
static void wrong_bits(void **state)
{
	uint32_t x = 1;

	(void)state;
	start_file();
	for (uint64_t i = 0; i < 50; i++)
		put_epoch(i % 3, 1000);
	for (int i = 0; i < 20000; i++) {
		uint32_t bit;

		x = x * 1664525u + 1013904223u;
		bit = x % (8 * (uint32_t)file_size);
		file[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (parse(file_size) == 0)
			assert_true(replay.epochs < 50 && replay.cpu_ns == 1000 * replay.epochs);
		else
			assert_true(error.text[0] && !replay.epoch && !replay.first);
		nve_replay_free(&replay);
		file[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* Anything at all behind a good header, and anything at all. */
static void noise(void **state)
{
	uint64_t x = 1;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		start_file();
		for (size_t at = i % 2 ? 0 : file_size; at < file_size + 300; at++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			file[at] = (uint8_t)(x >> 56);
		}
		if (parse(file_size + 300) == 0)
			assert_int_equal(replay.epochs, 0);
		nve_replay_free(&replay);
	}
}

static void impossible(void **state)
{
	static const struct nve_record_epoch bad[] = {
		{.thread = NVE_REPLAY_THREADS_MAX},
		{.thread = UINT64_MAX},
		{.cpu_ns = UINT64_MAX},
		{.stall_ns = UINT64_MAX},
		{.stall_wb_ns = UINT64_MAX},
		{.latency_ps = UINT64_MAX},
		{.dram_lat_ps = 1000000000001},
		{.region = NVE_REPLAY_REGIONS_MAX},
		{.dram_ro_ppm = 1000001},
		{.dram_wb_ppm = 1ull << 32},
		{.dram_ro_se_ppm = UINT64_MAX},
		{.dram_wb_se_ppm = 1000001},
	};
	static const struct nve_record_region bad_regions[] = {
		{.region = NVE_REPLAY_REGIONS_MAX},
		{.region = 4, .parent = 4}, /* begun in itself */
		{.region = 4, .parent = UINT64_MAX},
	};
	struct nve_record_header h = {.llc_lat_ps = 1};

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(bad); i++) {
		char wanted[64];

		start_file();
		put_epoch(0, 1);
		snprintf(wanted, sizeof(wanted), "impossible values at byte %zu", file_size);
		put((struct nve_record){.type = NVE_RECORD_EPOCH, .epoch = bad[i]});
		assert_int_equal(parse(file_size), -ERANGE);
		assert_string_equal(error.text, wanted);
	}
	for (size_t i = 0; i < NVE_ARRAY_SIZE(bad_regions); i++) {
		start_file();
		put_epoch(0, 1);
		put((struct nve_record){.type = NVE_RECORD_REGION, .region = bad_regions[i]});
		assert_int_equal(parse(file_size), -ERANGE);
	}
	/* Each is possible, their sum is not. */
	start_file();
	for (int i = 0; i < 17; i++)
		put((struct nve_record){.type = NVE_RECORD_EPOCH, .epoch = {.cpu_ns = 1ull << 60}});
	assert_int_equal(parse(file_size), -ERANGE);
	nve_record_put_header(file, &h);
	assert_int_equal(parse(file_size), -ERANGE);
	/* The most threads there may be: sorted all the same. */
	start_file();
	put_epoch(NVE_REPLAY_THREADS_MAX - 1, 7);
	assert_int_equal(parse(file_size), 0);
	assert_int_equal(nve_replay_begin(&replay, NVE_REPLAY_THREADS_MAX - 1).next->cpu_ns, 7);
	nve_replay_free(&replay);
}

static void regions(void **state)
{
	struct nve_record_epoch inside = {.region = 5, .cpu_ns = 3};
	struct nve_replay_cursor c;

	(void)state;
	start_file();
	put((struct nve_record){.type = NVE_RECORD_EPOCH, .epoch = inside});
	put((struct nve_record){.type = NVE_RECORD_REGION,
				.region = {.region = 5, .parent = 2, .owes = 1, .name = "in"}});
	put((struct nve_record){.type = NVE_RECORD_REGION, .region = {.region = 2, .name = "out"}});
	put_epoch(0, 7);
	assert_int_equal(parse(file_size), 0);
	assert_int_equal(replay.regions, 2);
	assert_int_equal(replay.region[0].parent, 2);
	assert_int_equal(replay.region[0].owes, NVE_RECORD_PAUSED);
	assert_string_equal(replay.region[1].name, "out");
	c = nve_replay_begin(&replay, 0);
	assert_int_equal(c.next[0].region, 5);
	assert_int_equal(c.next[1].region, 0);
	nve_replay_free(&replay);
	/* Regions without epochs: nothing to replay. */
	start_file();
	put((struct nve_record){.type = NVE_RECORD_REGION, .region = {.region = 2, .name = "out"}});
	assert_int_equal(parse(file_size), 0);
	nve_replay_free(&replay);
}

static void messages(void **state)
{
	(void)state;
	start_file();
	file[8] = 7;
	assert_int_equal(parse(file_size), -ENOTSUP);
	assert_string_equal(error.text,
			    "a record of format version 7; this nvmemu reads version 1");
	file[0] = '{';
	assert_int_equal(parse(file_size), -EINVAL);
	assert_string_equal(error.text, "not a record of nvmemu");
	start_file();
	put_epoch(0, 1);
	put_epoch(0, 1);
	file[NVE_RECORD_HEADER_BYTES + 3] ^= 1;
	assert_int_equal(parse(file_size), -EBADMSG);
	assert_string_equal(error.text, "damaged at byte 316");
}

static void write_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, file, file_size), file_size);
	close(fd);
}

static void files(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/nvmemu-replay-%d", (int)getpid());
	start_file();
	put_epoch(1, 5);
	write_file(path);
	assert_int_equal(nve_replay_load(&replay, path, &error), 0);
	assert_int_equal(replay.epochs, 1);
	assert_string_equal(replay.header.program, "app");
	nve_replay_free(&replay);
	file_size = 0;
	write_file(path);
	assert_int_equal(nve_replay_load(&replay, path, &error), -ENODATA);
	unlink(path);
	assert_int_equal(nve_replay_load(&replay, path, &error), -ENOENT);
	assert_string_equal(error.text, strerror(ENOENT));
	assert_int_equal(nve_replay_load(&replay, "/tmp", &error), -EISDIR);
	/* No waiting for a writer that never comes. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(nve_replay_load(&replay, path, &error), -EINVAL);
	unlink(path);
	assert_int_equal(nve_replay_load(&replay, "/dev/zero", &error), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_thread),  cmocka_unit_test(due),
		cmocka_unit_test(nothing),    cmocka_unit_test(cut_short),
		cmocka_unit_test(wrong_bits), cmocka_unit_test(noise),
		cmocka_unit_test(impossible), cmocka_unit_test(messages),
		cmocka_unit_test(files),      cmocka_unit_test(regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
