/* Prediction: what the model says of made-up runs at other latencies, its errors and bounds. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "emu/model.h"
#include "report/predict_load.h"

enum { MS = 1000000 };

static uint8_t file[1 << 20];
static size_t file_size;
static struct nve_predict run;
static struct nve_replay_error error;

static void start_file(struct nve_record_header h)
{
	h.dram_lat_ps = h.dram_lat_ps ? h.dram_lat_ps : 100000;
	h.llc_lat_ps = 20000;
	h.injects = 1;
	nve_record_put_header(file, &h);
	file_size = NVE_RECORD_HEADER_BYTES;
}

static void put(struct nve_record r)
{
	assert_true(sizeof(file) - file_size >= NVE_RECORD_MAX_BYTES);
	file_size += nve_record_put(file + file_size, &r);
}

static void put_birth(uint64_t thread, uint64_t when_ns)
{
	put((struct nve_record){
		.type = NVE_RECORD_THREAD,
		.thread = {.thread = thread, .tid = 70 + thread, .when_ns = when_ns}});
}

/* Half of it stall time, a quarter of it on write-backs: 0.5 ms are 5000 accesses a ms of 100 ns.
 */
static void put_epoch(uint64_t thread, uint64_t until_ns, uint64_t cpu_ns, uint64_t region)
{
	put((struct nve_record){
		.type = NVE_RECORD_EPOCH,
		.epoch = {.thread = thread,
			  .when_ns = until_ns,
			  .region = region,
			  .cpu_ns = cpu_ns,
			  .stall_ns = cpu_ns / 2,
			  .stall_wb_ns = cpu_ns / 8,
			  .latency_ps = 100000,
			  .dram_lat_ps = 100000},
	});
}

static void put_region(uint64_t number, uint64_t owes, const char *name)
{
	struct nve_record r = {.type = NVE_RECORD_REGION,
			       .region = {.region = number, .owes = owes}};

	snprintf(r.region.name, sizeof(r.region.name), "%s", name);
	put(r);
}

static void put_end(uint64_t wall_ns)
{
	put((struct nve_record){.type = NVE_RECORD_PROCESS_END, .end = {.when_ns = wall_ns}});
}

static int load(void)
{
	memset(&error, 0, sizeof(error));
	return nve_predict_from_record(&run, file, file_size, &error);
}

static struct nve_predict_point at(double rlat_ns, double wlat_ns)
{
	return (struct nve_predict_point){rlat_ns, wlat_ns};
}

static struct nve_predict_result process(double rlat_ns, double wlat_ns)
{
	return nve_predict_process(&run, at(rlat_ns, wlat_ns));
}

#define assert_near(a, b, tolerance)                                                               \
	do {                                                                                       \
		double near_a = (a), near_b = (b);                                                 \
		if (!(fabs(near_a - near_b) <= (tolerance)))                                       \
			fail_msg("%s: %.9g, not %.9g", #a, near_a, near_b);                        \
	} while (0)

/* One thread: 3 * 10 ms, 150,000 accesses, of which a quarter write-backs. */
static void one_thread(void **state)
{
	(void)state;
	start_file((struct nve_record_header){.pid = 5, .program = "app", .host = "here"});
	put_birth(0, MS);
	for (uint64_t i = 1; i <= 3; i++)
		put_epoch(0, i * 20 * MS, 10 * MS, 0);
	put_end(70 * MS);
	assert_int_equal(load(), 0);
	assert_string_equal(run.program, "app");
	assert_string_equal(run.host, "here");
	assert_int_equal(run.pid, 5);
	assert_true(run.complete);
	assert_int_equal(run.thread_count, 1);
	assert_int_equal(run.region_count, 0);
	assert_int_equal(run.threads[0].tid, 70);
	assert_near(run.epochs[0].from_ns, MS, 0);
	assert_near(run.epochs[1].from_ns, 20 * MS, 0);
	assert_near(process(0, 0).cpu.time_ns, 30 * MS, 1e-3);
	assert_near(process(0, 0).cpu.delay_ns, 0, 0);
	/* 37,500 * 200 ns; 112,500 * 300 ns; both */
	assert_near(process(0, 300).cpu.delay_ns, 7.5 * MS, 1);
	assert_near(process(400, 0).cpu.delay_ns, 33.75 * MS, 1);
	assert_near(process(400, 300).cpu.delay_ns, 41.25 * MS, 1);
	/* it waits for 40 of its 70 ms: with one thread they stay */
	assert_near(process(400, 300).wall_ns, 111.25 * MS, 1e3);
	assert_near(process(400, 300).wall_low_ns, 111.25 * MS, 1e3);
	assert_near(process(400, 300).wall_high_ns, 111.25 * MS, 1e3);
	nve_predict_free(&run);
}

/* To the rounding of whole accesses what the model itself says, clamped epochs and all. */
static void as_the_model(void **state)
{
	static const uint64_t points[][2] = {{0, 0},    {110, 0},   {0, 105},     {120, 90},
					     {300, 90}, {250, 800}, {1000, 1000}, {100, 300}};

	(void)state;
	for (int symmetric = 0; symmetric < 2; symmetric++) {
		uint64_t random = 88172645463325252u;

		start_file((struct nve_record_header){.symmetric = (uint64_t)symmetric});
		for (uint64_t i = 0; i < 500; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			struct nve_record_epoch e = {
				.when_ns = (i + 1) * 20 * MS,
				.cpu_ns = 20 * MS,
				.stall_ns = random % (20 * MS),
				.latency_ps = i == 7 ? 0 : 100000 + random % 50000,
				.dram_lat_ps = 90000 + random % 30000,
			};

			e.stall_wb_ns = e.stall_ns / (1 + random % 9);
			e.dram_ro_ppm = i % 3 ? 0 : random % 1000000;
			e.dram_wb_ppm = i % 5 ? 0 : random % 1000000;
			put((struct nve_record){.type = NVE_RECORD_EPOCH, .epoch = e});
		}
		assert_int_equal(load(), 0);
		for (size_t i = 0; i < NVE_ARRAY_SIZE(points); i++) {
			const struct nve_model_target target = {.rlat_ps = points[i][0] * 1000,
								.wlat_ps = points[i][1] * 1000,
								.own_ps = 100000,
								.symmetric = symmetric};
			struct nve_model_carry carry = {0};
			struct nve_replay replay;
			double owed_ns = 0;

			assert_int_equal(nve_replay_parse(&replay, file, file_size, &error), 0);
			for (uint64_t j = 0; j < replay.epochs; j++)
				owed_ns +=
					(double)nve_model_delay(&target, &replay.epoch[j], &carry)
						.delay_ns;
			nve_replay_free(&replay);
			assert_near(
				process((double)points[i][0], (double)points[i][1]).cpu.delay_ns,
				owed_ns, 2e3 * 2 + 1e-6 * owed_ns);
		}
		nve_predict_free(&run);
	}
}

static void put_thread_end(uint64_t thread, uint64_t paid_ns, uint64_t handler_ns)
{
	put((struct nve_record){.type = NVE_RECORD_THREAD_END,
				.end = {.thread = thread,
					.tid = 70 + thread,
					.delay_paid_ns = paid_ns,
					.handler_ns = handler_ns,
					.stall_share_se_ppm = 10000,
					.dirty_se_ppm = 20000,
					.latency_ps = 100000,
					.latency_se_ps = 3000,
					.name = "worker"}});
}

/* 100 ms: S = 50 ms, se 1 ms; d = 0.25, se 0.02; L = 100 ns, se 3 ns; 500,000 accesses. */
static void errors(void **state)
{
	struct nve_predict_time t;

	(void)state;
	start_file((struct nve_record_header){0});
	put_epoch(0, 100 * MS, 100 * MS, 0);
	put_thread_end(0, 0, 0);
	put_end(100 * MS);
	assert_int_equal(load(), 0);
	assert_string_equal(run.threads[0].name, "worker");
	assert_true(run.threads[0].se_known);
	t = nve_predict_part(&run, &run.threads[0], at(0, 0));
	assert_near(t.se_ns, 0, 0);
	assert_near(t.systematic_ns, 0, 0);
	assert_near(nve_predict_half_width_ns(&t), 0, 0);
	/* equal latencies: the dirty fraction does not count; 2 % and 3 % of 100 ms */
	t = nve_predict_part(&run, &run.threads[0], at(300, 300));
	assert_near(t.delay_ns, 100 * MS, 1);
	assert_near(t.se_ns, 100 * MS * hypot(0.02, 0.03), 1e3);
	/* 3 % of 50 ms stall time and of 100 ms delay */
	assert_near(t.systematic_ns, 4.5 * MS, 1);
	assert_near(nve_predict_half_width_ns(&t),
		    hypot(1.96 * 100 * MS * hypot(0.02, 0.03), 4.5 * MS), 1e3);
	/* writes alone: 125,000 * 400 ns; 0.02 * 500,000 * 400 ns */
	t = nve_predict_part(&run, &run.threads[0], at(0, 500));
	assert_near(t.delay_ns, 50 * MS, 1);
	assert_near(t.se_ns, hypot(50 * MS * hypot(0.02, 0.03), 4 * MS), 1e3);
	assert_near(t.systematic_ns, 0.03 * (12.5 + 50) * MS, 1e3);
	/* reads alone */
	t = nve_predict_part(&run, &run.threads[0], at(500, 0));
	assert_near(t.se_ns, hypot(150 * MS * hypot(0.02, 0.03), 4 * MS), 1e3);
	assert_near(process(500, 0).cpu.se_ns, t.se_ns, 1);
	nve_predict_free(&run);

	/* counters know no error: it is not zero but unknown */
	start_file((struct nve_record_header){0});
	put_epoch(0, 100 * MS, 100 * MS, 0);
	assert_int_equal(load(), 0);
	assert_false(run.complete);
	assert_near(run.wall_ns, 100 * MS, 0);
	t = process(300, 300).cpu;
	assert_true(isnan(t.se_ns));
	assert_near(nve_predict_half_width_ns(&t), 4.5 * MS, 1e3);
	assert_near(process(0, 0).cpu.se_ns, 0, 0);
	nve_predict_free(&run);
}

/* Without totals the epochs' own errors: of the stall time in quadrature, of the rest the last. */
static void errors_of_epochs(void **state)
{
	struct nve_record_epoch e = {.cpu_ns = 20 * MS,
				     .stall_ns = 10 * MS,
				     .latency_ps = 100000,
				     .dram_lat_ps = 100000,
				     .stall_se_ns = 300000};

	(void)state;
	start_file((struct nve_record_header){0});
	for (uint64_t i = 1; i <= 4; i++) {
		e.when_ns = i * 20 * MS;
		e.dirty_se_ppm = 50000 / i;
		e.latency_se_ps = 8000 / i;
		e.delay_paid_ns = i * MS;
		put((struct nve_record){.type = NVE_RECORD_EPOCH, .epoch = e});
	}
	assert_int_equal(load(), 0);
	assert_near(run.threads[0].stall_se_ns, 600000, 1e-3);
	assert_near(run.threads[0].dirty_se, 0.0125, 1e-9);
	assert_near(run.threads[0].latency_se, 0.02, 1e-9);
	assert_near(run.threads[0].extra_ns, 4 * MS, 0);
	nve_predict_free(&run);
}

/* The recorded run's own delay, or the emulator's cost, is not part of any other. */
static void recorded_delay(void **state)
{
	struct nve_predict_result r;

	(void)state;
	start_file((struct nve_record_header){.rlat_ps = 200000});
	put_epoch(0, 150 * MS, 100 * MS, 0);
	put_thread_end(0, 50 * MS, MS);
	put_end(160 * MS);
	assert_int_equal(load(), 0);
	assert_near(run.rlat_ns, 200, 1e-9);
	assert_near(run.threads[0].extra_ns, 50 * MS, 0);
	r = process(0, 0);
	assert_near(r.cpu.time_ns, 100 * MS, 1);
	assert_near(r.wall_ns, 110 * MS, 1e3);
	assert_near(process(300, 300).wall_ns, 210 * MS, 1e3);
	nve_predict_free(&run);

	start_file((struct nve_record_header){0});
	put_epoch(0, 102 * MS, 100 * MS, 0);
	put_thread_end(0, 0, 2 * MS);
	put_end(102 * MS);
	assert_int_equal(load(), 0);
	assert_near(process(0, 0).wall_ns, 100 * MS, 1e3);
	nve_predict_free(&run);
}

/* Two workers at once between two stretches of the first thread, which waits meanwhile. */
static void fork_and_join(void **state)
{
	struct nve_predict_result r;

	(void)state;
	start_file((struct nve_record_header){0});
	put_epoch(0, 100 * MS, 100 * MS, 0);
	put_birth(1, 100 * MS);
	put_birth(2, 100 * MS);
	put_epoch(1, 300 * MS, 200 * MS, 0);
	put_epoch(2, 300 * MS, 200 * MS, 0);
	/* an epoch that lasts as long as the wait */
	put_epoch(0, 301 * MS, MS, 0);
	put_epoch(0, 400 * MS, 99 * MS, 0);
	put_end(400 * MS);
	assert_int_equal(load(), 0);
	r = process(300, 300);
	assert_near(r.cpu.delay_ns, 600 * MS, 1e3);
	/* each of the four stretches doubles; a worker's is there once */
	assert_near(r.wall_ns, 800 * MS, 4 * MS);
	assert_near(r.wall_low_ns, 600 * MS, 4 * MS);
	assert_near(r.wall_high_ns, 1000 * MS, 4 * MS);
	nve_predict_free(&run);
}

/* Two threads that never run at once: their delays add up. */
static void in_turns(void **state)
{
	struct nve_predict_result r;

	(void)state;
	start_file((struct nve_record_header){0});
	put_epoch(0, 400 * MS, 200 * MS, 0);
	put_epoch(1, 400 * MS, 200 * MS, 0);
	put_end(400 * MS);
	assert_int_equal(load(), 0);
	r = process(300, 300);
	assert_near(r.wall_ns, 800 * MS, 1e3);
	assert_near(r.wall_low_ns, 400 * MS, 1e3);
	assert_near(r.wall_high_ns, 800 * MS, 1e3);
	nve_predict_free(&run);
}

/* A run is never shorter than its longest thread, however the others wait for each other. */
static void longest_thread(void **state)
{
	struct nve_predict_result r;

	(void)state;
	start_file((struct nve_record_header){0});
	put_epoch(0, 100 * MS, 100 * MS, 0);
	put_epoch(1, 100 * MS, 50 * MS, 0);
	put_end(100 * MS);
	assert_int_equal(load(), 0);
	r = process(700, 700);
	assert_near(r.wall_low_ns, 400 * MS, 1e3);
	assert_near(r.wall_ns, 400 * MS, 1e3);
	assert_near(r.wall_high_ns, 550 * MS, 1e3);
	nve_predict_free(&run);
}

static void by_region(void **state)
{
	(void)state;
	start_file((struct nve_record_header){0});
	put_epoch(0, 10 * MS, 10 * MS, 0);
	put_epoch(1, 20 * MS, 20 * MS, 7);
	put_epoch(0, 30 * MS, 30 * MS, 7);
	put_end(30 * MS);
	assert_int_equal(load(), 0);
	assert_int_equal(run.region_count, 2);
	assert_int_equal(run.regions[0].number, 0);
	assert_int_equal(run.regions[1].number, 7);
	assert_near(run.regions[0].cpu_ns, 10 * MS, 0);
	assert_near(run.regions[1].cpu_ns, 50 * MS, 0);
	assert_near(nve_predict_part(&run, &run.regions[1], at(300, 300)).delay_ns, 50 * MS, 1);
	assert_near(nve_predict_part(&run, &run.regions[0], at(300, 300)).delay_ns, 10 * MS, 1);
	assert_string_equal(run.regions[0].name, "outside of all");
	nve_predict_free(&run);

	/* what was paused, and what is outside where only regions are emulated, owes nothing */
	start_file((struct nve_record_header){0});
	put_region(0, NVE_RECORD_OUTSIDE, "");
	put_region(6, NVE_RECORD_PAUSED, "inner");
	put_region(7, NVE_RECORD_OWES, "inner");
	put_epoch(0, 10 * MS, 10 * MS, 0);
	put_epoch(0, 20 * MS, 10 * MS, 6);
	put_epoch(0, 30 * MS, 10 * MS, 7);
	assert_int_equal(load(), 0);
	assert_int_equal(run.region_count, 3);
	assert_string_equal(run.regions[0].name, "outside of all (not emulated)");
	assert_string_equal(run.regions[1].name, "inner (paused)");
	assert_string_equal(run.regions[2].name, "inner");
	assert_near(nve_predict_part(&run, &run.regions[0], at(300, 300)).delay_ns, 0, 0);
	assert_near(nve_predict_part(&run, &run.regions[1], at(300, 300)).delay_ns, 0, 0);
	assert_near(nve_predict_part(&run, &run.regions[2], at(300, 300)).delay_ns, 10 * MS, 1);
	assert_near(process(300, 300).cpu.time_ns, 40 * MS, 1);
	nve_predict_free(&run);
}

/* Reports tell of threads, not of their epochs. */
static void from_totals(void **state)
{
	const struct nve_totals t = {.cpu_ns = 100 * MS,
				     .stall_ns = 50 * MS,
				     .ma_ro = 375000,
				     .ma_wb = 125000,
				     .latency_ps = 101000,
				     .dram_lat_ps = 100000,
				     .delay_owed_ns = 7,
				     .placed.nvm_ma = {375000, 125000},
				     .stall_share_se_ppm = 10000};
	const struct nve_predict_totals threads[] = {{11, "one", &t}, {12, "two", &t}};

	(void)state;
	run = (struct nve_predict){.wall_ns = 100 * MS};
	assert_int_equal(nve_predict_from_totals(&run, threads, 2), 0);
	assert_int_equal(run.thread_count, 2);
	assert_string_equal(run.threads[1].name, "two");
	assert_int_equal(run.threads[1].tid, 12);
	assert_near(run.owed_ns, 14, 0);
	assert_near(process(0, 500).cpu.delay_ns, 100 * MS, 1);
	assert_near(process(0, 500).wall_ns, 150 * MS, 1e3);
	assert_near(process(0, 500).wall_high_ns, 200 * MS, 1e3);
	assert_near(process(300, 300).cpu.se_ns, sqrt(2) * 2 * MS, 1e3);
	nve_predict_free(&run);

	run = (struct nve_predict){.wall_ns = MS};
	assert_int_equal(nve_predict_from_totals(&run, NULL, 0), 0);
	assert_near(process(300, 300).wall_ns, MS, 0);
	nve_predict_free(&run);
}

/* What is on DRAM owes nothing, at whatever latency. */
static void placed(void **state)
{
	const struct nve_totals t = {.cpu_ns = 100 * MS,
				     .stall_ns = 50 * MS,
				     .ma_ro = 375000,
				     .ma_wb = 125000,
				     .dram_lat_ps = 100000,
				     .placed.nvm_ma = {0, 100000}};
	const struct nve_predict_totals threads[] = {{11, "one", &t}};

	(void)state;
	run = (struct nve_predict){.wall_ns = 100 * MS};
	assert_int_equal(nve_predict_from_totals(&run, threads, 1), 0);
	assert_near(process(500, 0).cpu.delay_ns, 0, 0);
	assert_near(process(0, 500).cpu.delay_ns, 40 * MS, 1);
	assert_near(process(500, 500).cpu.delay_ns, 40 * MS, 1);
	nve_predict_free(&run);
}

/* Of a report that lists one of two threads, the other is what is left of the sums. */
static void from_view(void **state)
{
	struct nve_view_thread listed = {.tid = 11, .name = "one", .totals = {.cpu_ns = 30 * MS}};
	struct nve_view_setting settings[] = {{"NVM_RBW", "2GB/s"}, {"NVM_INJECT", "off"}};
	struct nve_view_process process = {
		.program = "app",
		.host = "here",
		.pid = 10,
		.emulated = true,
		.wall_ns = 100 * MS,
		.rlat_ps = 250000,
		.symmetric = true,
		.machine.dram_lat_ps = 100000,
		.settings = settings,
		.setting_count = 2,
		.threads = &listed,
		.thread_count = 1,
		.threads_not_listed = 1,
		.totals = {.cpu_ns = 100 * MS,
			   .stall_ns = 10 * MS,
			   .ma_ro = 100000,
			   .placed.nvm_ma = {100000, 0},
			   .dram_lat_ps = 100000},
	};

	(void)state;
	assert_int_equal(nve_predict_from_view(&run, &process), 0);
	assert_int_equal(run.thread_count, 2);
	assert_near(run.threads[1].cpu_ns, 70 * MS, 0);
	assert_near(nve_predict_cpu(&run, at(0, 300)).delay_ns, 20 * MS, 1);
	assert_near(run.rlat_ns, 250, 1e-9);
	assert_near(run.dram_lat_ns, 100, 1e-9);
	assert_true(run.bandwidth && run.symmetric && !run.injected && run.complete);
	nve_predict_free(&run);
	process.setting_count = 0;
	assert_int_equal(nve_predict_from_view(&run, &process), 0);
	assert_true(!run.bandwidth && run.injected);
	nve_predict_free(&run);
	process.emulated = false;
	assert_int_equal(nve_predict_from_view(&run, &process), -ENODATA);
}

static void bad_records(void **state)
{
	(void)state;
	start_file((struct nve_record_header){0});
	assert_int_equal(load(), -ENODATA);
	assert_non_null(strstr(error.text, "no epoch"));
	file_size = 100;
	assert_int_equal(load(), -ENODATA);
	assert_non_null(strstr(error.text, "header"));
	memset(file, 'x', 400);
	file_size = 400;
	assert_int_equal(load(), -EINVAL);
	assert_int_equal(run.thread_count, 0);
}

/* Cut anywhere, changed anywhere: an error or a prediction from what is whole. */
static void cut_and_changed(void **state)
{
	size_t whole;

	(void)state;
	start_file((struct nve_record_header){0});
	put_birth(0, 0);
	for (uint64_t i = 1; i <= 5; i++)
		put_epoch(i % 2, i * 10 * MS, 10 * MS, i % 3);
	put_thread_end(0, 5, 5);
	put_end(60 * MS);
	whole = file_size;
	for (file_size = 0; file_size <= whole; file_size++) {
		int rc = load();

		assert_true(rc == 0 || *error.text);
		if (!rc)
			assert_true(process(300, 400).cpu.time_ns >= run.threads[0].cpu_ns);
		nve_predict_free(&run);
	}
	file_size = whole;
	for (size_t i = 0; i < whole; i++) {
		file[i] ^= 0x10;
		/* a length that is changed looks like a file that ends early */
		assert_true(load() != 0 || !run.complete);
		nve_predict_free(&run);
		file[i] ^= 0x10;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_thread),     cmocka_unit_test(as_the_model),
		cmocka_unit_test(errors),         cmocka_unit_test(errors_of_epochs),
		cmocka_unit_test(recorded_delay), cmocka_unit_test(fork_and_join),
		cmocka_unit_test(in_turns),       cmocka_unit_test(longest_thread),
		cmocka_unit_test(by_region),      cmocka_unit_test(from_totals),
		cmocka_unit_test(placed),         cmocka_unit_test(from_view),
		cmocka_unit_test(bad_records),    cmocka_unit_test(cut_and_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
