#include "report/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a 95 % interval. */
#define DEVIATIONS 1.96

enum { INTERVALS = 512 };

/* Of an interval's CPU time: with so much of it a thread is the only one that runs there. */
#define ALONE 0.95

/* The delays of an epoch, ns. */
struct delay {
	double ro_ns, wb_ns; /* per access */
	double sum_ns;
};

void nve_predict_free(struct nve_predict *p)
{
	free(p->threads);
	free(p->regions);
	free(p->epochs);
	memset(p, 0, sizeof(*p));
}

/* As the model has it: one that equals DRAM's latency in force is DRAM's own. */
static double set_or_own(const struct nve_predict *p, double latency_ns)
{
	return latency_ns == p->dram_lat_ns ? 0 : latency_ns;
}

/* Equation 1 has one latency. */
static struct nve_predict_point effective(const struct nve_predict *p,
					  struct nve_predict_point point)
{
	if (p->symmetric)
		point.rlat_ns = point.wlat_ns = point.rlat_ns > 0 ? point.rlat_ns : point.wlat_ns;
	return (struct nve_predict_point){set_or_own(p, point.rlat_ns),
					  set_or_own(p, point.wlat_ns)};
}

static double added_ns(double target_ns, double dram_lat_ns)
{
	return target_ns > 0 ? fmax(0, target_ns - dram_lat_ns) : 0;
}

/* Equation 5. */
static struct delay delay_of(const struct nve_predict_epoch *e, struct nve_predict_point point)
{
	struct delay d = {
		.ro_ns = added_ns(point.rlat_ns, e->dram_lat_ns),
		.wb_ns = added_ns(point.wlat_ns, e->dram_lat_ns),
	};

	d.sum_ns = e->ro * d.ro_ns + e->wb * d.wb_ns;
	return d;
}

/* Stall time that is emulated: of those accesses whose latency is set. */
static double emulated_ns(const struct nve_predict_epoch *e, const struct delay *d,
			  struct nve_predict_point point)
{
	double ro = e->ro * (e->latency_ns + d->ro_ns), wb = e->wb * (e->latency_ns + d->wb_ns);

	return (point.rlat_ns > 0 ? ro : 0) + (point.wlat_ns > 0 ? wb : 0);
}

/*
 * delay = S / L (d (W - D) + (1 - d) (R - D)), S, d and L taken for independent: its relative error
 * is that of S and that of L, and d's error counts with S / L (W - R).
 */
static double standard_error(const struct nve_predict_part *part, double delay_ns, double by_dirty)
{
	double by_stall = part->stall_ns > 0 ? part->stall_se_ns / part->stall_ns : 0;

	if (!part->se_known)
		return part->stall_ns > 0 && (delay_ns > 0 || by_dirty != 0) ? NAN : 0;
	return hypot(delay_ns * hypot(by_stall, part->latency_se), by_dirty * part->dirty_se);
}

struct nve_predict_time nve_predict_part(const struct nve_predict *p,
					 const struct nve_predict_part *part,
					 struct nve_predict_point point)
{
	struct nve_predict_time t = {0};
	double by_dirty = 0;

	point = effective(p, point);
	for (size_t i = 0; i < part->epoch_count; i++) {
		const struct nve_predict_epoch *e = &part->epochs[i];
		struct delay d = delay_of(e, point);

		if (part->by_region && e->region != part->number)
			continue;
		t.delay_ns += d.sum_ns;
		by_dirty += (e->ro + e->wb) * (d.wb_ns - d.ro_ns);
		t.systematic_ns += NVE_PREDICT_SYSTEMATIC * emulated_ns(e, &d, point);
	}
	t.time_ns = part->cpu_ns + t.delay_ns;
	t.se_ns = standard_error(part, t.delay_ns, by_dirty);
	return t;
}

struct nve_predict_time nve_predict_cpu(const struct nve_predict *p, struct nve_predict_point point)
{
	struct nve_predict_time sum = {0};

	for (size_t i = 0; i < p->thread_count; i++) {
		struct nve_predict_time t = nve_predict_part(p, &p->threads[i], point);

		sum.time_ns += t.time_ns;
		sum.delay_ns += t.delay_ns;
		sum.se_ns = hypot(sum.se_ns, t.se_ns);
		sum.systematic_ns += t.systematic_ns;
	}
	return sum;
}

double nve_predict_half_width_ns(const struct nve_predict_time *t)
{
	return isnan(t->se_ns) ? t->systematic_ns : hypot(DEVIATIONS * t->se_ns, t->systematic_ns);
}

/* What one thread does in an interval of the run, or all of them together. */
struct share {
	double busy_ns;         /* CPU time, delay and emulator's cost of the run */
	double was_ns, will_ns; /* delay of the run, and at the point */
};

struct interval {
	struct share own, sum, most; /* own: of the thread that is being looked at */
	double fewer_ns, more_ns;    /* sums of the threads' changes of either sign */
};

struct course {
	double width_ns;
	struct interval intervals[INTERVALS];
};

static void add_share(struct share *to, const struct share *s, double part)
{
	to->busy_ns += s->busy_ns * part;
	to->was_ns += s->was_ns * part;
	to->will_ns += s->will_ns * part;
}

/* Spreads an epoch evenly over the intervals that it touches. */
static void spread(struct course *c, const struct nve_predict_epoch *e,
		   struct nve_predict_point point)
{
	struct share s = {
		.busy_ns = e->cpu_ns + e->extra_ns,
		.was_ns = e->extra_ns,
		.will_ns = delay_of(e, point).sum_ns,
	};
	double last = INTERVALS - 1, from = fmin(fmax(e->from_ns / c->width_ns, 0), last);
	double until = fmin(fmax(e->until_ns / c->width_ns, from), INTERVALS);
	size_t i = (size_t)from;

	if (until <= i + 1) {
		add_share(&c->intervals[i].own, &s, 1);
		return;
	}
	for (; i < until; i++) {
		double overlap = fmin(until, (double)i + 1) - fmax(from, (double)i);

		add_share(&c->intervals[i].own, &s, overlap / (until - from));
	}
}

static void fold_thread(struct course *c)
{
	for (size_t i = 0; i < INTERVALS; i++) {
		struct interval *v = &c->intervals[i];
		double change_ns = v->own.will_ns - v->own.was_ns;

		add_share(&v->sum, &v->own, 1);
		v->most.busy_ns = fmax(v->most.busy_ns, v->own.busy_ns);
		v->most.was_ns = fmax(v->most.was_ns, v->own.was_ns);
		v->most.will_ns = fmax(v->most.will_ns, v->own.will_ns);
		v->fewer_ns += fmin(0, change_ns);
		v->more_ns += fmax(0, change_ns);
		v->own = (struct share){0};
	}
}

/* By how much the delays of an interval lengthen it. */
static double lengthens_ns(double sum_ns, double most_ns, double running)
{
	return fmax(most_ns, sum_ns / fmax(1, running));
}

static void predict_wall(const struct nve_predict *p, const struct course *c,
			 struct nve_predict_result *r)
{
	r->wall_ns = r->wall_low_ns = r->wall_high_ns = p->wall_ns;
	for (size_t i = 0; i < INTERVALS; i++) {
		const struct interval *v = &c->intervals[i];
		double running = v->sum.busy_ns / c->width_ns;
		double change_ns = lengthens_ns(v->sum.will_ns, v->most.will_ns, running) -
				   lengthens_ns(v->sum.was_ns, v->most.was_ns, running);
		bool alone = v->most.busy_ns >= ALONE * v->sum.busy_ns;

		r->wall_ns += change_ns;
		r->wall_low_ns += alone ? change_ns : v->fewer_ns;
		r->wall_high_ns += alone ? change_ns : v->more_ns;
	}
}

struct nve_predict_result nve_predict_process(const struct nve_predict *p,
					      struct nve_predict_point point)
{
	struct nve_predict_result r = {.cpu = nve_predict_cpu(p, point)};
	struct course c = {.width_ns = fmax(p->wall_ns, 1) / INTERVALS};
	struct nve_predict_point target = effective(p, point);
	double longest_ns = 0;

	for (size_t i = 0; i < p->thread_count; i++) {
		const struct nve_predict_part *part = &p->threads[i];

		for (size_t j = 0; j < part->epoch_count; j++)
			spread(&c, &part->epochs[j], target);
		fold_thread(&c);
		longest_ns = fmax(longest_ns, nve_predict_part(p, part, point).time_ns);
	}
	predict_wall(p, &c, &r);
	/* No run is shorter than what one of its threads does. */
	r.wall_low_ns = fmax(r.wall_low_ns, fmin(longest_ns, r.wall_high_ns));
	r.wall_ns = fmin(fmax(r.wall_ns, r.wall_low_ns), r.wall_high_ns);
	return r;
}
