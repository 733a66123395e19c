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
	uint64_t start_ns = f->now_ns, now_ns = start_ns + f->portion_ns, end_ns;
	uint64_t bytes = (uint64_t)(f->rate * (double)f->portion_ns);

	end_ns = nve_device_serve(&channel, &f->client, start_ns, bytes);
	f->bytes += (double)bytes;
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

/* Time without traffic is not saved up. */
static void idleness_earns_nothing(void **state)
{
	struct nve_device_client client = {.slot = 1};

	(void)state;
	set(1);
	assert_int_equal(nve_device_serve(&channel, &client, 1000, 500), 1500);
	assert_int_equal(nve_device_serve(&channel, &client, 1000000, 500), 1000500);
	assert_int_equal(nve_device_serve(&channel, &client, 2000000, 0), 2000000);
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
		cmocka_unit_test(alone_again),
		cmocka_unit_test(idleness_earns_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
