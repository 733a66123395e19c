/* The emulated device's account, with threads made up: each computes, moves bytes and waits. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "emu/device.h"

enum { MAX = 8 };

/* A thread that moves rate bytes per nanosecond while it runs, in portions. */
struct flow {
	double rate;
	uint64_t portion_ns;
	uint64_t begins_ns, ends_ns;
	/* before each such portion it has no core for so long */
	uint64_t waits_ns, waits_every, portions;
	/* what became of it */
	struct nve_device_client client;
	uint64_t now_ns, ran_ns;
	double bytes;
};

static struct nve_device_channel channel;

static void set(double gb_per_s)
{
	memset(&channel, 0, sizeof(channel));
	channel.bytes_per_s = (uint64_t)(gb_per_s * 1e9);
}

static void step(struct flow *f)
{
	uint64_t waited_ns = f->waits_ns && ++f->portions % f->waits_every == 0 ? f->waits_ns : 0;
	struct nve_device_portion p = {
		.start_ns = f->now_ns + waited_ns,
		.ran_ns = f->portion_ns,
		.waited_ns = waited_ns,
		.bytes = (uint64_t)(f->rate * (double)f->portion_ns),
	};
	uint64_t now_ns = p.start_ns + f->portion_ns, end_ns;

	end_ns = nve_device_serve(&channel, &f->client, &p);
	f->bytes += (double)p.bytes;
	f->ran_ns += f->portion_ns;
	f->now_ns = end_ns > now_ns ? end_ns : now_ns;
}

/* Always the one whose portion is over first. */
static void run(struct flow *flow, int count)
{
	for (int i = 0; i < count; i++) {
		flow[i].client.slot = (uint32_t)i;
		flow[i].now_ns = flow[i].begins_ns;
	}
	for (;;) {
		struct flow *next = NULL;

		for (int i = 0; i < count; i++) {
			struct flow *f = &flow[i];

			if (f->now_ns < f->ends_ns &&
			    (!next || f->now_ns + f->portion_ns < next->now_ns + next->portion_ns))
				next = f;
		}
		if (!next)
			return;
		step(next);
	}
}

/* Bytes per nanosecond of wall time. */
static double speed(const struct flow *f)
{
	return f->bytes / (double)(f->now_ns - f->begins_ns);
}

static void within(double value, double right, double part)
{
	if (fabs(value - right) > part * right)
		fail_msg("%g is not %g", value, right);
}

static const uint64_t second = 1000000000;

static void one_thread_takes_all(void **state)
{
	struct flow f = {.rate = 30, .portion_ns = 500000, .ends_ns = second};

	(void)state;
	for (double cap = 2; cap <= 8; cap *= 2) {
		set(cap);
		f = (struct flow){.rate = 30, .portion_ns = 500000, .ends_ns = second};
		run(&f, 1);
		within(speed(&f), cap, 0.01);
	}
}

static void no_limit_no_wait(void **state)
{
	struct flow f = {.rate = 30, .portion_ns = 500000, .ends_ns = second};

	(void)state;
	set(0);
	run(&f, 1);
	assert_int_equal(f.now_ns - f.begins_ns, f.ran_ns);
}

static void below_the_limit_no_wait(void **state)
{
	struct flow f = {.rate = 1.9, .portion_ns = 500000, .ends_ns = second};

	(void)state;
	set(2);
	run(&f, 1);
	assert_int_equal(f.now_ns - f.begins_ns, f.ran_ns);
}

/* However many, and however long their portions, together they get what there is. */
static void together_no_more(void **state)
{
	(void)state;
	for (int count = 2; count <= MAX; count++) {
		struct flow f[MAX];
		double sum = 0;

		set(4);
		for (int i = 0; i < count; i++)
			f[i] = (struct flow){.rate = 10 + i,
					     .portion_ns = (uint64_t)(200000 + 100000 * i),
					     .begins_ns = (uint64_t)i * 1000,
					     .ends_ns = second};
		run(f, count);
		for (int i = 0; i < count; i++)
			sum += speed(&f[i]);
		within(sum, 4, 0.06);
	}
}

static void two_share_evenly(void **state)
{
	struct flow f[2] = {{.rate = 30, .portion_ns = 500000, .ends_ns = second},
			    {.rate = 12, .portion_ns = 500000, .ends_ns = second}};

	(void)state;
	set(2);
	run(f, 2);
	within(speed(&f[0]), 1, 0.05);
	within(speed(&f[1]), 1, 0.05);
}

/* A chase beside a stream asks for less than half: it does not wait, and the stream gets the rest.
 */
static void little_is_not_held_up(void **state)
{
	struct flow f[2] = {{.rate = 30, .portion_ns = 500000, .ends_ns = second},
			    {.rate = 0.5, .portion_ns = 4000000, .ends_ns = second}};

	(void)state;
	set(2);
	run(f, 2);
	within((double)f[1].ran_ns, (double)f[1].now_ns, 0.01);
	within(speed(&f[0]), 1.5, 0.05);
}

/* What a chase moves is taken from the stream's: they do not exceed the limit together. */
static void little_counts(void **state)
{
	(void)state;
	for (double cap = 2; cap <= 8; cap *= 2) {
		struct flow f[2] = {{.rate = 34, .portion_ns = 500000, .ends_ns = second},
				    {.rate = 0.4, .portion_ns = 4000000, .ends_ns = second}};

		set(cap);
		run(f, 2);
		within((double)f[1].ran_ns, (double)f[1].now_ns, 0.001);
		within(speed(&f[0]), cap - 0.4, 0.02);
	}
}

/* One that has come to its end leaves all to the other. */
static void alone_again(void **state)
{
	struct flow f[2] = {{.rate = 30, .portion_ns = 500000, .ends_ns = 2 * second},
			    {.rate = 30, .portion_ns = 500000, .ends_ns = second}};

	(void)state;
	set(2);
	run(f, 2);
	within(f[0].bytes, 3e9, 0.03);
	within(f[1].bytes, 1e9, 0.05);
}

static uint64_t serve(struct nve_device_client *client, uint64_t start_ns, uint64_t waited_ns,
		      uint64_t bytes)
{
	const struct nve_device_portion p = {start_ns, 0, waited_ns, bytes};

	return nve_device_serve(&channel, client, &p);
}

/* Time without traffic is not saved up. */
static void idleness_earns_nothing(void **state)
{
	struct nve_device_client client = {.slot = 1};

	(void)state;
	set(1);
	assert_int_equal(serve(&client, 1000, 0, 500), 1500);
	assert_int_equal(serve(&client, 1000000, 0, 500), 1000500);
	assert_int_equal(serve(&client, 2000000, 0, 0), 2000000);
}

/* Time in which a thread has no core to go on with is: 3 us, of which 1 us was busy. */
static void waiting_for_a_core_is_saved(void **state)
{
	struct nve_device_client client = {.slot = 1};

	(void)state;
	set(1);
	assert_int_equal(serve(&client, 1000, 0, 1000), 2000);
	assert_int_equal(serve(&client, 4000, 3000, 500), 4000);
	assert_int_equal(atomic_load(&channel.spare_ns), 1500);
	assert_int_equal(serve(&client, 4500, 0, 2000), 5000);
	assert_int_equal(serve(&client, 5000, 0, 100), 5100);
	/* what is served while it runs costs nothing of that */
	atomic_store(&channel.spare_ns, 1000);
	assert_int_equal(nve_device_serve(&channel, &client,
					  &(struct nve_device_portion){5100, 300, 0, 700}),
			 5400);
	assert_int_equal(atomic_load(&channel.spare_ns), 600);
}

/* Not more than NVE_DEVICE_SPARE_NS, and not for longer. */
static void little_is_saved(void **state)
{
	struct nve_device_client client = {.slot = 1};
	const uint64_t most = NVE_DEVICE_SPARE_NS;

	(void)state;
	set(1);
	assert_int_equal(serve(&client, 1000 + 5 * most, 5 * most, 3 * most), 1000 + 7 * most);
	set(1);
	assert_int_equal(serve(&client, 1000 + most, most, 1), 1000 + most);
	assert_int_equal(serve(&client, 1001 + 2 * most, 0, 1000), 2001 + 2 * most);
}

/* Two threads that wait through the same time save it once. */
static void time_is_saved_once(void **state)
{
	struct nve_device_client client[2] = {{.slot = 1}, {.slot = 2}};

	(void)state;
	set(1);
	assert_int_equal(serve(&client[0], 10000, 4000, 1), 10000);
	assert_int_equal(atomic_load(&channel.spare_ns), 3999);
	assert_int_equal(serve(&client[1], 10001, 4000, 1), 10001);
	assert_int_equal(atomic_load(&channel.spare_ns), 3999);
}

/* As on a machine with others at work: a thread loses its core for 4 ms now and then. What is moved
 * in all is what the device does in the meantime. */
static void disturbed_threads_take_all(void **state)
{
	(void)state;
	for (double cap = 2; cap <= 8; cap *= 2) {
		struct flow f[2] = {{.rate = 30,
				     .portion_ns = 500000,
				     .ends_ns = second,
				     .waits_ns = 4000000,
				     .waits_every = 5},
				    {.rate = 20,
				     .portion_ns = 500000,
				     .ends_ns = second,
				     .waits_ns = 3000000,
				     .waits_every = 7}};

		set(cap);
		run(f, 1);
		within(speed(&f[0]), cap, 0.02);
		set(cap);
		f[0].bytes = 0;
		run(f, 2);
		within(speed(&f[0]) + speed(&f[1]), cap, 0.03);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_thread_takes_all),
		cmocka_unit_test(no_limit_no_wait),
		cmocka_unit_test(below_the_limit_no_wait),
		cmocka_unit_test(together_no_more),
		cmocka_unit_test(two_share_evenly),
		cmocka_unit_test(little_is_not_held_up),
		cmocka_unit_test(little_counts),
		cmocka_unit_test(alone_again),
		cmocka_unit_test(idleness_earns_nothing),
		cmocka_unit_test(waiting_for_a_core_is_saved),
		cmocka_unit_test(little_is_saved),
		cmocka_unit_test(time_is_saved_once),
		cmocka_unit_test(disturbed_threads_take_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
