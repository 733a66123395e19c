#include "emu/region_parts.h"

#include <math.h>
#include <stdbool.h>

#include "base/base.h"

#define FIT_MOST 0x1p40
enum { FIT_ROUNDS = 40 };

static double stall_of(const struct nve_region_part *p)
{
	return p->ro + p->wb;
}

/* A dirty fraction whose odds are so many times as high. */
static double with_odds(double fraction, double odds)
{
	double wb = fraction * odds;

	return wb > 0 ? wb / (wb + 1 - fraction) : 0;
}

static double written(const struct nve_region_part *parts, uint32_t count, double odds)
{
	double sum = 0;

	for (uint32_t i = 0; i < count; i++)
		if (stall_of(&parts[i]) > 0)
			sum += stall_of(&parts[i]) *
			       with_odds(parts[i].wb / stall_of(&parts[i]), odds);
	return sum;
}

/* The factor of all parts' odds that makes their sum what the epoch has: by bisection of its
 * logarithm, since the sum grows with it. */
static double fitting_odds(const struct nve_region_part *parts, uint32_t count, double wanted)
{
	double low = 1 / FIT_MOST, high = FIT_MOST;

	for (int i = 0; i < FIT_ROUNDS; i++) {
		double middle = sqrt(low * high);

		if (written(parts, count, middle) < wanted)
			low = middle;
		else
			high = middle;
	}
	return sqrt(low * high);
}

void nve_region_parts_fit(const struct nve_epoch *whole, struct nve_region_part *parts,
			  uint32_t count)
{
	double all = 0, wanted, odds;

	for (uint32_t i = 0; i < count; i++)
		all += stall_of(&parts[i]);
	if (all <= 0 || !whole->stall_ns)
		return;
	wanted = fmin((double)whole->stall_wb_ns / (double)whole->stall_ns, 1) * all;
	odds = fitting_odds(parts, count, wanted);
	for (uint32_t i = 0; i < count; i++) {
		double stall = stall_of(&parts[i]);

		parts[i].wb = stall > 0 ? stall * with_odds(parts[i].wb / stall, odds) : 0;
		parts[i].ro = stall - parts[i].wb;
	}
}

/* Weights: of parts before this one, of it, and of all. */
struct weights {
	double before, mine, all;
};

/* Its piece of whole; pieces of all parts, in order, are the whole. */
static uint64_t piece(uint64_t whole, const struct weights *w, bool last)
{
	double all = w->all > 0 ? w->all : 1;
	uint64_t start = (uint64_t)fmin((double)whole * (w->before / all), (double)whole);
	uint64_t end = (uint64_t)fmin((double)whole * ((w->before + w->mine) / all), (double)whole);

	return (last ? whole : end) - start;
}

static double share(const struct weights *w)
{
	return w->all > 0 ? w->mine / w->all : 0;
}

static void weigh(struct weights *w, double weight, uint32_t k, uint32_t i)
{
	w->all += weight;
	if (k < i)
		w->before += weight;
	else if (k == i)
		w->mine = weight;
}

/* Both, and their errors as of independent pieces: their squares sum up to the whole's. */
static void take_traffic(const struct nve_epoch *whole, const struct nve_region_part *parts,
			 uint32_t count, uint32_t i, struct nve_epoch *part)
{
	struct weights read = {0}, written = {0}, bandwidth = {0};
	bool last = i + 1 == count;

	for (uint32_t k = 0; k < count; k++) {
		weigh(&read, parts[k].read, k, i);
		weigh(&written, parts[k].written, k, i);
		weigh(&bandwidth, parts[k].bandwidth, k, i);
	}
	part->read_bytes = piece(whole->read_bytes, &read, last);
	part->written_bytes = piece(whole->written_bytes, &written, last);
	part->bandwidth_ns = piece(whole->bandwidth_ns, &bandwidth, last);
	part->read_se_bytes = (uint64_t)((double)whole->read_se_bytes * sqrt(share(&read)));
	part->written_se_bytes =
		(uint64_t)((double)whole->written_se_bytes * sqrt(share(&written)));
}

void nve_region_parts_take(const struct nve_epoch *whole, const struct nve_region_part *parts,
			   uint32_t count, uint32_t i, struct nve_epoch *part)
{
	struct weights time = {0}, ro = {0}, wb = {0}, stall = {0};
	uint64_t wb_ns = NVE_MIN(whole->stall_wb_ns, whole->stall_ns);
	bool last = i + 1 == count;

	for (uint32_t k = 0; k < count; k++) {
		weigh(&time, parts[k].time, k, i);
		weigh(&ro, parts[k].ro, k, i);
		weigh(&wb, parts[k].wb, k, i);
		weigh(&stall, parts[k].ro + parts[k].wb, k, i);
	}
	/* Who counts may know of stall time where samples do not, or of writes. */
	if (stall.all <= 0)
		stall = time;
	*part = *whole;
	part->cpu_ns = piece(whole->cpu_ns, &time, last);
	part->stall_wb_ns = piece(wb_ns, wb.all > 0 ? &wb : &stall, last);
	part->stall_ns =
		part->stall_wb_ns + piece(whole->stall_ns - wb_ns, ro.all > 0 ? &ro : &stall, last);
	part->looked_ns = piece(whole->looked_ns, &time, last);
	if (stall.all > 0)
		part->stall_se_ns =
			(uint64_t)((double)whole->stall_se_ns * (stall.mine / stall.all));
	take_traffic(whole, parts, count, i, part);
}
