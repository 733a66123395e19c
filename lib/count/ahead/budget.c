#include "count/ahead/budget.h"

#include <math.h>

#include "base/base.h"

enum {
	WINDOW_STEPS = 1024, /* the usual window, beyond the reorder window */
	WINDOW_OCTAVES = 3,  /* longer ones: 4, 16 and 64 times */
	/* of the budget, for usual and for long windows; what signals cost, and what windows push
	 * out of the caches, needs the rest */
	USUAL_SHARE_PPM = 600000,
	LONG_SHARE_PPM = 250000,
	/* where signals are so dear that they eat up the first, what is new must have its windows
	 */
	NEWS_SHARE_PPM = 150000,
	IDLE_WINDOWS = 4,     /* in a row without a miss: then a quarter will do */
	EXPECTED_WINDOWS = 8, /* in a row that told nothing new: then half will do */
	LEAST_STEP_NS = 20,
	MIN_GAP_NS = 50000, /* the thread must have left the last window's lines behind */
	TOKENS_MAX_NS = 20000000,
	CREDIT_NS = 1000000,
	TOKENS_START_NS = 1000000, /* early windows teach most */
	PPM = 1000000,
};

/* A window whose shares differ by less from those before it is no news. */
#define NOTHING_NEW 0.05

void nve_budget_start(struct nve_budget *b, uint32_t run_ahead)
{
	*b = (struct nve_budget){
		.run_ahead = run_ahead,
		.tokens_ns = TOKENS_START_NS,
		.news_tokens_ns = CREDIT_NS,
		.long_octave = 1,
		.step_ns = 4 * LEAST_STEP_NS,
	};
}

uint32_t nve_budget_steps(const struct nve_budget *b, int octave)
{
	return (WINDOW_STEPS << 2 * octave) + b->run_ahead;
}

static void earn(int64_t *tokens_ns, uint64_t cpu_ns, uint64_t budget_ppm, uint64_t share_ppm)
{
	*tokens_ns += (int64_t)(cpu_ns * budget_ppm / PPM * share_ppm / PPM);
	*tokens_ns = NVE_MIN(*tokens_ns, (int64_t)TOKENS_MAX_NS);
}

int nve_budget_choose(struct nve_budget *b, uint64_t cpu_ns, uint64_t budget_ppm, bool known)
{
	uint64_t part = b->idle_windows >= IDLE_WINDOWS           ? 4
			: b->expected_windows >= EXPECTED_WINDOWS ? 2
								  : 1;

	earn(&b->tokens_ns, cpu_ns, budget_ppm, USUAL_SHARE_PPM / part);
	earn(&b->long_tokens_ns, cpu_ns, budget_ppm, LONG_SHARE_PPM / part);
	earn(&b->news_tokens_ns, cpu_ns, budget_ppm, NEWS_SHARE_PPM);
	b->news_tokens_ns = NVE_MIN(b->news_tokens_ns, (int64_t)CREDIT_NS);
	b->paying_news = false;
	if (cpu_ns < MIN_GAP_NS)
		return -1;
	if ((double)b->long_tokens_ns > b->step_ns * nve_budget_steps(b, b->long_octave))
		return b->long_octave;
	if (b->tokens_ns > 0 || (b->tokens_ns > -CREDIT_NS && !known))
		return 0;
	b->paying_news = !known && b->news_tokens_ns > 0;
	return b->paying_news ? 0 : -1;
}

/* Of the usual length only: longer ones see more of the writes. */
static void compare(struct nve_budget *b, double share, double written)
{
	bool expected = fabs(share - b->usual_share) < NOTHING_NEW &&
			fabs(written - b->usual_written) < NOTHING_NEW;

	b->expected_windows = expected ? b->expected_windows + 1 : 0;
	b->usual_share += (share - b->usual_share) / 4;
	b->usual_written += (written - b->usual_written) / 4;
}

void nve_budget_took(struct nve_budget *b, int octave, uint32_t steps, uint32_t misses,
		     uint32_t written, double share)
{
	b->paying_octave = octave;
	b->paying_steps = steps;
	b->idle_windows = misses ? 0 : b->idle_windows + 1;
	if (octave == 0)
		compare(b, share, misses ? (double)written / misses : 0);
}

void nve_budget_charge(struct nve_budget *b, int64_t cost_ns)
{
	double per_step = (double)cost_ns / NVE_MAX(b->paying_steps, 1u);

	if (b->paying_octave > 0) {
		b->long_tokens_ns -= cost_ns;
		b->long_octave = b->long_octave % WINDOW_OCTAVES + 1;
	} else if (b->paying_news) {
		b->news_tokens_ns -= cost_ns;
	} else {
		b->tokens_ns -= cost_ns;
	}
	if (b->paying_steps)
		b->step_ns += (NVE_MAX(per_step, (double)LEAST_STEP_NS) - b->step_ns) / 8;
	b->paying_octave = 0;
	b->paying_news = false;
	b->paying_steps = 0;
}
