#include "count/ahead/pace.h"

#include <math.h>
#include <string.h>

enum {
	PASSES_LEAST = 8,       /* before an advance is taken for regular */
	ITERATIONS_LEAST = 500, /* one or two more or less are nothing */
	INTERVALS_LEAST = 8,
	FADE_INTERVALS = 64,
};

/* Waiting is at least so much of the modelled time, or the rest decides. */
#define WAITED_LEAST 0.8
/* Iterations that registers which advance at different places of the loop may disagree by. */
#define PLACES_APART 2.0
/* Of an interval, by a window: what it spared is known to some tenths. */
#define SPARED_MOST 0.05
/* A greater difference has other reasons: the loop was left and entered again, or the model is
 * wrong about it. */
#define DIFFERENCE_MOST 0.15

void nve_pace_begin(struct nve_pace_loop *loop, const uint64_t *registers)
{
	loop->passes = loop->modelled = 0;
	memcpy(loop->last, registers, sizeof(loop->last));
}

void nve_pace_pass(struct nve_pace_loop *loop, const uint64_t *registers, uint32_t unknown,
		   bool modelled, float now, float waited)
{
	for (int i = 0; i < NVE_PACE_REGISTERS; i++) {
		int64_t by = (int64_t)(registers[i] - loop->last[i]);

		if (loop->passes == 0)
			loop->advance[i] = by;
		if (loop->advance[i] != by || unknown >> i & 1)
			loop->advance[i] = 0;
	}
	memcpy(loop->last, registers, sizeof(loop->last));
	loop->passes++;
	if (!modelled)
		return;
	if (loop->modelled == 0) {
		loop->start = now;
		loop->start_waited = waited;
	}
	loop->end = now;
	loop->end_waited = waited;
	loop->modelled++;
}

uint64_t nve_pace_iterations(const struct nve_pace_loop *loop, const uint64_t *from,
			     const uint64_t *to)
{
	double iterations = 0;

	if (loop->passes < PASSES_LEAST)
		return 0;
	for (int i = 0; i < NVE_PACE_REGISTERS; i++) {
		double n;

		if (loop->advance[i] == 0)
			continue;
		n = (double)(int64_t)(to[i] - from[i]) / (double)loop->advance[i];
		if (n < 1 || (iterations > 0 && fabs(n - iterations) > PLACES_APART))
			return 0;
		iterations = n;
	}
	return (uint64_t)iterations;
}

static void add_interval(struct nve_pace *pace, const struct nve_pace_loop *loop, double took)
{
	double n = loop->modelled - 1, model = (loop->end - loop->start) / n;
	double waited = (loop->end_waited - loop->start_waited) / n;

	if (waited < WAITED_LEAST * model || fabs(took - model) > DIFFERENCE_MOST * waited)
		return;
	if (pace->intervals >= FADE_INTERVALS) {
		pace->excess *= 1 - 1.0 / FADE_INTERVALS;
		pace->weight *= 1 - 1.0 / FADE_INTERVALS;
	}
	pace->excess += (took - model) / waited;
	pace->weight += 1;
	pace->intervals++;
}

void nve_pace_sample(struct nve_pace *pace, const uint64_t *registers, double ticks)
{
	uint64_t n = pace->placed ? nve_pace_iterations(&pace->loop, pace->at, registers) : 0;

	if (n >= ITERATIONS_LEAST && pace->loop.modelled >= PASSES_LEAST &&
	    pace->spared <= SPARED_MOST * ticks)
		add_interval(pace, &pace->loop, (ticks + pace->spared) / (double)n);
	memcpy(pace->at, registers, sizeof(pace->at));
	pace->placed = true;
	pace->spared = 0;
}

void nve_pace_window(struct nve_pace *pace, const struct nve_pace_loop *loop, double spared)
{
	pace->loop = *loop;
	pace->spared = spared;
}

void nve_pace_interrupt(struct nve_pace *pace)
{
	pace->placed = false;
}

double nve_pace_factor(const struct nve_pace *pace)
{
	return pace->intervals < INTERVALS_LEAST ? 1 : 1 + pace->excess / pace->weight;
}
