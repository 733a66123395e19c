#include "emu/estimate.h"

#include <math.h>

enum {
	PRIOR_NS = 8000000,          /* of the whole thread's share, in that of a stretch */
	HALVE_NS = 2000000000,       /* sums fade */
	AMENDS_NS = 200000000,       /* of the thread's time, over which a rest is made good */
	REGION_AMENDS_NS = 50000000, /* of a region's */
	ACTIVE_NS = 40000000,        /* without a payment: ticks serve again */
	HASH_SHIFT = 58,             /* 64 stretches */
};

/* A smaller rate shifts hardly anything. */
#define LEAST_RATE 0.003

_Static_assert(NVE_ESTIMATE_STRETCHES == 1 << (64 - HASH_SHIFT), "one slot for each hash");

void nve_estimate_clear(struct nve_estimate *e, uint64_t tsc_khz, uint64_t cpu_ns)
{
	e->tick_ns = 1e6 / (double)tsc_khz;
	e->running = false;
	e->run_ns = e->run_delay_ns = e->fresh_ns = e->epoch_ns = e->epoch_raw_ns = 0;
	e->paid_in_epoch = false;
	e->checked_cpu_ns = cpu_ns;
	e->decided_cpu_ns = 0;
	if (!e->stretch) {
		e->stretch = &e->stretches[0];
		e->stretch->factor = 1;
		e->gain = 1;
	}
}

static struct nve_estimate_stretch *find(struct nve_estimate *e, uint64_t address)
{
	struct nve_estimate_stretch *s =
		&e->stretches[(address * 0x9e3779b97f4a7c15u) >> HASH_SHIFT];

	if (s->address == address)
		return s;
	s->address = address;
	s->factor = 1;
	s->learned = (struct nve_estimate_rate){.rate = e->all.rate};
	return s;
}

void nve_estimate_begin(struct nve_estimate *e, uint64_t address, uint64_t tsc)
{
	e->stretch = find(e, address);
	e->since_tsc = tsc;
	e->running = true;
}

double nve_estimate_end(struct nve_estimate *e, uint64_t tsc)
{
	double ns;

	if (!e->running)
		return e->run_delay_ns;
	ns = (double)(tsc - e->since_tsc) * e->tick_ns;
	e->run_ns += ns;
	e->run_delay_ns += ns * e->stretch->learned.rate;
	e->running = false;
	return e->run_delay_ns;
}

void nve_estimate_check(struct nve_estimate *e, uint64_t cpu_ns)
{
	double ran_ns = (double)(cpu_ns - e->checked_cpu_ns), delay_ns = e->run_delay_ns;

	if (e->run_ns > ran_ns)
		delay_ns *= ran_ns / e->run_ns;
	e->epoch_raw_ns += delay_ns;
	e->fresh_ns += delay_ns * e->gain;
	e->epoch_ns += delay_ns * e->gain;
	e->run_ns = e->run_delay_ns = 0;
	e->checked_cpu_ns = cpu_ns;
}

static double make_amends(struct nve_estimate *e, double rest_ns, double usual_ns)
{
	e->decided_cpu_ns = e->checked_cpu_ns;
	if (usual_ns <= 0)
		return e->fresh_ns;
	return e->fresh_ns * (1 + fmin(fmax(rest_ns / usual_ns, -0.5), 1));
}

double nve_estimate_due(struct nve_estimate *e, double booked_ns)
{
	return make_amends(e, booked_ns + e->epoch_ns - e->fresh_ns, e->all.rate * AMENDS_NS);
}

double nve_estimate_due_in_region(struct nve_estimate *e, double rest_ns, double rate)
{
	return make_amends(e, rest_ns, rate * REGION_AMENDS_NS);
}

double nve_estimate_fresh_ns(const struct nve_estimate *e)
{
	return e->fresh_ns;
}

void nve_estimate_paid(struct nve_estimate *e, uint64_t cpu_ns)
{
	e->fresh_ns = 0;
	e->paid_in_epoch = true;
	e->checked_cpu_ns = cpu_ns;
}

bool nve_estimate_is_active(const struct nve_estimate *e, uint64_t cpu_ns)
{
	return e->decided_cpu_ns && cpu_ns - e->decided_cpu_ns < ACTIVE_NS;
}

void nve_estimate_served(struct nve_estimate *e)
{
	e->fresh_ns = 0;
}

static void add(struct nve_estimate_rate *r, double time_ns, double stall_ns)
{
	if (r->time_ns > HALVE_NS) {
		r->time_ns /= 2;
		r->stall_ns /= 2;
	}
	r->time_ns += time_ns;
	r->stall_ns += stall_ns;
}

bool nve_estimate_learn(struct nve_estimate *e, bool in_stretch, double time_ns, double stall_ns,
			double delay_per_stall, double factor)
{
	double share;

	add(&e->all, time_ns, stall_ns);
	if (in_stretch) {
		add(&e->stretch->learned, time_ns, stall_ns);
		e->stretch->factor = factor;
	}
	share = e->all.time_ns > 0 ? e->all.stall_ns / e->all.time_ns : 0;
	e->all.rate = share * delay_per_stall;
	for (int i = 0; i < NVE_ESTIMATE_STRETCHES; i++) {
		struct nve_estimate_rate *r = &e->stretches[i].learned;

		r->rate = delay_per_stall * e->stretches[i].factor *
			  (r->stall_ns + share * PRIOR_NS) / (r->time_ns + PRIOR_NS);
	}
	return e->all.rate >= LEAST_RATE;
}

double nve_estimate_end_epoch(struct nve_estimate *e)
{
	double raw_ns = e->paid_in_epoch ? e->epoch_raw_ns : 0;

	e->epoch_ns = e->epoch_raw_ns = 0;
	e->paid_in_epoch = false;
	return raw_ns;
}

void nve_estimate_set_gain(struct nve_estimate *e, double gain)
{
	e->gain = fmin(fmax(gain, 0.5), 2);
}
