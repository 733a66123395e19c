/* Traffic of loops whose bytes are known by construction, from made-up windows and samples. */
#include "unit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "count/ahead/stream.h"

enum {
	POINTER = 6,
	COUNTER = 1,
	WILD = 3,
	CODE = 0x401000,
	ELSEWHERE = 0x7f0000,
	PASSES = 64,
	LINE = 64,
};

static struct nve_stream stream;
static uint64_t registers[NVE_STREAM_REGISTERS];

/* One iteration moves a pointer by a line, and a counter down. */
static void iterate(int64_t times)
{
	registers[POINTER] += (uint64_t)(times * LINE);
	registers[COUNTER] -= (uint64_t)times;
	registers[WILD] = registers[WILD] * 6364136223846793005u + 1442695040888963407u;
}

/* A window over PASSES iterations; each reads so many new lines, and writes so many. */
static void look(uint64_t ip, double read, double written, uint32_t probes, uint32_t missed,
		 double model_ns)
{
	uint64_t kept[NVE_STREAM_REGISTERS];
	struct nve_stream_lines lines = {.stream_read = read * PASSES,
					 .stream_written = written * PASSES,
					 .probes = probes,
					 .probes_missed = missed};
	struct nve_stream_seen seen;

	memcpy(kept, registers, sizeof(kept));
	nve_stream_begin(&seen);
	for (uint32_t i = 0; i <= PASSES; i++) {
		nve_stream_step(&seen, ip);
		nve_stream_step(&seen, ip + 16);
		nve_stream_pass(&seen, registers, 0, 500 + 10 * i);
		iterate(1);
	}
	assert_int_equal(seen.passes, PASSES);
	nve_stream_window(&stream, ip, &seen, &lines, model_ns * PASSES);
	memcpy(registers, kept, sizeof(kept));
}

/* The same, with a stream that goes on. */
static void look_at_head(uint64_t ip, uint32_t probes, uint32_t missed)
{
	struct nve_stream_loop *l;

	look(ip, 1, 0, probes, missed, 10);
	l = &stream.loop[0];
	while (l->windows == 0)
		l++;
	l->lines.heads = 1;
	l->lines.head[0] = (struct nve_stream_head){.ip = ip, .beyond = 512};
}

static struct nve_stream_bytes sample(uint64_t ip, double ns)
{
	return nve_stream_sample(&stream, ip, registers, ns);
}

static void near(double value, double right)
{
	if (fabs(value - right) > 1e-6 * fabs(right) + 1e-9)
		fail_msg("%g is not %g", value, right);
}

static int setup(void **state)
{
	(void)state;
	memset(&stream, 0, sizeof(stream));
	memset(registers, 0, sizeof(registers));
	registers[COUNTER] = 1u << 30;
	registers[POINTER] = 1u << 20;
	return 0;
}

/* A line an iteration, 5 ns each: long enough in a row to be believed. */
static void measure_rate(void)
{
	look(CODE, 1, 0, 8, 8, 10);
	sample(CODE, 500000);
	for (int i = 0; i < 4; i++) {
		iterate(100000);
		sample(CODE, 500000);
	}
}

/* Two lines read and one written an iteration, 100,000 iterations from sample to sample. */
static void registers_count(void **state)
{
	struct nve_stream_bytes b;

	(void)state;
	look(CODE, 2, 1, 8, 8, 10);
	sample(CODE, 500000);
	for (int i = 0; i < 5; i++) {
		iterate(100000);
		b = sample(CODE + 16, 500000);
	}
	near(b.read, 2.0 * LINE * 100000);
	near(b.written, 1.0 * LINE * 100000);
	assert_true(b.read_variance == 0);
	assert_true(stream.ns[NVE_STREAM_BY_REGISTERS] >= 4 * 500000);
	assert_true(stream.ns[NVE_STREAM_BY_MODEL] == 0);
}

/* The time before the first measurement is made good by it. */
static void nothing_is_lost_at_the_start(void **state)
{
	double sum = 0;

	(void)state;
	near(sample(CODE, 400000).read, 0);
	look(CODE, 1, 0, 8, 8, 10);
	near(sample(CODE, 500000).read, 0);
	iterate(50000);
	sum = sample(CODE, 500000).read;
	near(sum, LINE * (50000 + 90000));
	assert_true(stream.unknown_ns == 0);
}

/* An inner loop that is entered again sets its counter back; the pointer goes on. */
static void what_is_set_back_says_less(void **state)
{
	(void)state;
	look(CODE, 1, 0, 8, 8, 10);
	sample(CODE, 500000);
	for (int i = 0; i < 5; i++) {
		iterate(80000);
		registers[COUNTER] += 79000;
		near(sample(CODE, 500000).read, i == 0 ? 2.0 * LINE * 80000 : LINE * 80000.0);
	}
}

/* All registers go back where the whole loop starts again: the rate stands in. */
static void rate_stands_in(void **state)
{
	(void)state;
	measure_rate();
	iterate(-300000);
	near(sample(CODE, 250000).read, LINE * 50000.0);
	assert_true(stream.ns[NVE_STREAM_BY_RATE] >= 250000);
}

/* A long interval that the loop may have gone around in says less than is true; one that says more
 * for a while is right. */
static void long_intervals(void **state)
{
	(void)state;
	measure_rate();
	for (int i = 0; i < 20; i++) {
		iterate(400000);
		near(sample(CODE, 4000000).read, LINE * 800000.0);
	}
	for (int i = 0; i < 8; i++) {
		iterate(2400000);
		sample(CODE, 4000000);
	}
	iterate(2400000);
	near(sample(CODE, 4000000).read, LINE * 2400000.0);
}

/* Half of the lines further on are cached: half of the stream's are fetched. */
static void cached_streams(void **state)
{
	struct nve_stream_bytes b;

	(void)state;
	look(CODE, 1, 1, 8, 4, 10);
	sample(CODE, 500000);
	iterate(100000);
	sample(CODE, 500000);
	iterate(100000);
	b = sample(CODE, 500000);
	near(b.read, LINE * 50000.0);
	near(b.written, LINE * 50000.0);
	assert_true(b.read_variance > 0);
	/* and with none fetched there is no traffic */
	setup(NULL);
	look(CODE, 1, 1, 8, 0, 10);
	sample(CODE, 500000);
	iterate(100000);
	near(sample(CODE, 500000).read, 0);
}

/* Windows that say another thing than before are believed soon. */
static void changes_its_mind(void **state)
{
	struct nve_stream_bytes rate;
	bool known;

	(void)state;
	for (int i = 0; i < 10; i++)
		look(CODE, 1, 0, 4, 0, 10);
	sample(CODE, 500000);
	rate = nve_stream_rate(&stream, &known);
	near(rate.read, 0);
	look(CODE, 1, 0, 4, 4, 10);
	assert_true(stream.at->unsettled);
	look(CODE, 1, 0, 4, 4, 10);
	assert_true(!stream.at->unsettled);
	near(stream.at->probes_missed, stream.at->probes);
}

/* Never two samples in a row: the core model's rate, within what the machine can do. */
static void model_stands_in(void **state)
{
	struct nve_stream_bytes b = {0};
	double sum = 0;

	(void)state;
	stream.most = 0.05;         /* lines a ns */
	look(CODE, 1, 0, 8, 8, 10); /* 0.1 */
	for (int i = 0; i < 12; i++) {
		sample(CODE, 1000000);
		b = sample(ELSEWHERE, 1000000);
		near(b.read, 0);
	}
	for (int i = 0; i < 12; i++) {
		registers[WILD]++;
		nve_stream_sample(&stream, ELSEWHERE, NULL, 1000000); /* in the kernel */
		sum += sample(CODE, 1000000).read;
	}
	near(sum, 12e6 * 0.05 * LINE);
	assert_true(stream.ns[NVE_STREAM_BY_MODEL] > 0);
	assert_true(b.read_variance == 0);
}

/* Who waits moves nothing; what it did before belongs to where it was. */
static void waits(void **state)
{
	(void)state;
	measure_rate();
	near(nve_stream_rest(&stream, 250000, false).read, LINE * 50000.0);
	near(nve_stream_rest(&stream, 15000, false).read, 0);
	near(nve_stream_rest(&stream, 15000, false).read, 0);
	near(sample(CODE, 250000).read, LINE * 50000.0);
	/* it was in its loop for 2.75 ms of 3; then for 2.75 of 3.25, and ran all of it in between
	 */
	near(nve_stream_rest(&stream, 250000, false).read, LINE * 50000.0 * 2.75 / 3);
	near(nve_stream_rest(&stream, 15000, false).read, 0);
	near(nve_stream_rest(&stream, 2500000, false).read, LINE * 500000.0 * 2.75 / 3.25);
}

/* The time that it waits says nothing of where it runs: of each millisecond all but what its way to
 * the wait takes. */
static void waits_often(void **state)
{
	(void)state;
	measure_rate();
	for (int i = 0; i < 200; i++) {
		sample(CODE, 500000);
		near(nve_stream_rest(&stream, 500000, true).read, LINE * 100000.0);
	}
	/* one sample elsewhere, between two waits: where it will go on is known */
	sample(ELSEWHERE, 20000);
	assert_null(stream.at);
	assert_true(nve_stream_rest(&stream, 500000, true).read > LINE * 90000.0);
}

/* What it would move where nothing is in a cache: worth a look. So is what it moved before. */
static void rates_of_others(void **state)
{
	struct nve_stream_bytes b;
	bool known;

	(void)state;
	measure_rate();
	sample(ELSEWHERE, 20000);
	b = nve_stream_rate(&stream, &known);
	assert_true(known && b.read > 0.9 * LINE * 0.2 && b.read < LINE * 0.2);
	for (int i = 0; i < 100; i++)
		sample(ELSEWHERE, 4000000);
	assert_true(nve_stream_rate(&stream, &known).read < 0.01 * LINE * 0.2);
	setup(NULL);
	stream.most = 0.05;
	look_at_head(CODE, 4, 0);
	sample(CODE, 500000);
	b = nve_stream_rate(&stream, &known);
	assert_true(!known);
	near(b.read, LINE * 0.05);
}

/* Lines further on, read without a window: they say at once that another thing is true. */
static void probed(void **state)
{
	(void)state;
	assert_null(nve_stream_at(&stream, CODE));
	assert_false(nve_stream_expects(&stream, CODE, 1, 1));
	look_at_head(CODE, 4, 0);
	assert_int_equal(nve_stream_at(&stream, CODE)->head[0].ip, CODE);
	assert_true(nve_stream_expects(&stream, CODE, 1, 0));
	assert_false(nve_stream_expects(&stream, CODE, 1, 1));
	assert_false(nve_stream_expects(&stream, CODE, 0, 0));
	sample(CODE, 500000);
	iterate(100000);
	near(sample(CODE, 500000).read, 0);
	nve_stream_probed(&stream, CODE, 4, 4);
	iterate(100000);
	near(sample(CODE, 500000).read, LINE * 100000.0);
	look(CODE, 1, 0, 0, 0, 10); /* none of its streams is seen: the old one stays */
	assert_non_null(nve_stream_at(&stream, CODE));
}

/* Whose time goes by in system calls moves little of what its loop would. */
static void calls(void **state)
{
	double sum = 0;

	(void)state;
	measure_rate();
	for (int i = 0; i < 100; i++)
		sum += nve_stream_rest(&stream, 4000000, false).read;
	assert_true(sum < LINE * 0.2 * 20e6);
	assert_true(nve_stream_rest(&stream, 4000000, false).read < LINE);
}

/* A rate that stands in for long is measured again, where that can be; less and less often where it
 * cannot. */
static void rates_age(void **state)
{
	int unknown = 0, last = 0;
	bool known;

	(void)state;
	measure_rate();
	for (int i = 0; i < 4000; i++) {
		nve_stream_rate(&stream, &known);
		if (!known)
			last = i;
		unknown += !known;
		sample(CODE, 4000000); /* its registers stand still */
	}
	assert_in_range(unknown, 8, 80);
	assert_in_range(last, 1000, 4000);
	while (known) {
		sample(CODE, 4000000);
		nve_stream_rate(&stream, &known);
	}
	iterate(100000);
	sample(CODE, 500000);
	nve_stream_rate(&stream, &known);
	assert_true(known);
}

/* Nor is a loop without a register that tells looked at forever. */
static void never_measured(void **state)
{
	int unknown = 0;
	bool known;

	(void)state;
	look(CODE, 1, 0, 8, 8, 10);
	for (int i = 0; i < 1000; i++) {
		nve_stream_rate(&stream, &known);
		unknown += !known;
		sample(CODE, 500000);
	}
	assert_true(stream.ns[NVE_STREAM_BY_REGISTERS] == 0);
	assert_in_range(unknown, 10, 100);
}

/* A string instruction that is interrupted. */
static void rounds(void **state)
{
	struct nve_stream_lines lines = {
		.stream_read = 512, .stream_written = 512, .probes = 4, .probes_missed = 4};
	uint64_t to[NVE_STREAM_REGISTERS];
	struct nve_stream_seen seen;
	struct nve_stream_bytes b;

	(void)state;
	nve_stream_begin(&seen);
	nve_stream_step(&seen, CODE);
	memcpy(to, registers, sizeof(to));
	to[POINTER] += 512 * LINE;
	to[COUNTER] -= 512 * LINE / 8;
	nve_stream_rounds(&seen, registers, to, 512);
	nve_stream_window(&stream, CODE, &seen, &lines, 0);
	sample(CODE, 500000);
	for (int i = 0; i < 3; i++) {
		registers[POINTER] += 1000000 * LINE;
		registers[COUNTER] -= 1000000 * LINE / 8;
		b = sample(CODE, 500000);
	}
	near(b.read, 1e6 * LINE);
	near(b.written, 1e6 * LINE);
}

/* One of another loop's, whose place in the table of code may be the same. */
static void loops_apart(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 2000; i++) {
		setup(NULL);
		look(CODE, 1, 0, 8, 8, 10);
		assert_true(sample(ELSEWHERE + 64 * i, 1000).read == 0);
		assert_null(stream.at);
	}
}

/* More loops than there is room for: the last ones stay. */
static void many_loops(void **state)
{
	bool known;

	(void)state;
	for (uint64_t i = 0; i < 3 * NVE_STREAM_LOOPS; i++) {
		look(CODE + 256 * i, 1, 0, 8, 8, 10);
		sample(CODE + 256 * i, 1000);
		assert_non_null(stream.at);
		assert_true(nve_stream_rate(&stream, &known).read > 0);
	}
}

/* Windows are wanted while little is known, and then seldom. */
static void wants_windows(void **state)
{
	int wanted = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		sample(CODE, 4000000);
		if (!nve_stream_wants_window(&stream, CODE))
			continue;
		look(CODE, 1, 0, 4, 4, 10);
		wanted++;
	}
	assert_in_range(wanted, 10, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(registers_count, setup),
		cmocka_unit_test_setup(nothing_is_lost_at_the_start, setup),
		cmocka_unit_test_setup(what_is_set_back_says_less, setup),
		cmocka_unit_test_setup(rate_stands_in, setup),
		cmocka_unit_test_setup(long_intervals, setup),
		cmocka_unit_test_setup(cached_streams, setup),
		cmocka_unit_test_setup(changes_its_mind, setup),
		cmocka_unit_test_setup(model_stands_in, setup),
		cmocka_unit_test_setup(waits, setup),
		cmocka_unit_test_setup(waits_often, setup),
		cmocka_unit_test_setup(rates_of_others, setup),
		cmocka_unit_test_setup(probed, setup),
		cmocka_unit_test_setup(calls, setup),
		cmocka_unit_test_setup(rates_age, setup),
		cmocka_unit_test_setup(never_measured, setup),
		cmocka_unit_test_setup(rounds, setup),
		cmocka_unit_test_setup(loops_apart, setup),
		cmocka_unit_test_setup(many_loops, setup),
		cmocka_unit_test_setup(wants_windows, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
