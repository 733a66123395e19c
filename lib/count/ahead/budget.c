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
	REST_MAX_NS = 1000000,
	/* In a row without a miss: then a quarter will do. So many that a program whose misses are
	 * rare has none of these rows by chance: the windows that follow one are late, what has
	 * been learned in it is believed for longer than what others have taught, and the stall
	 * time comes out too small. */
	IDLE_WINDOWS = 32,
	EXPECTED_WINDOWS = 8, /* in a row that told nothing new: then half will do */
	NEWS_WINDOWS = 8,     /* after one that contradicts as many */
	TELLING_MISSES = 16,  /* of fewer the written part says little */
	DISTURBED_MAX = 8,
	DELAY_PART = 2,  /* one in so many parts of a delay may be the window's */
	DELAY_TURNS = 8, /* of windows that delay pays one in so many is a long one */
	LEAST_STEP_NS = 20,
	MIN_GAP_NS = 50000, /* the thread must have left the last window's lines behind */
	TOKENS_MAX_NS = 20000000,
	CREDIT_NS = 1000000,
	TOKENS_START_NS = 1000000, /* early windows teach most */
	LONG_CREDIT_MS = 1500,     /* what their account may owe: the budget of that time */
	LONG_CREDITS = 2,          /* long windows on credit in each phase of a program */
	OUTLIER_COST = 8, /* costs above so many times those foreseen are somebody else's */
	OUTLIER_SAMPLE_NS = 200000,
	PPM = 1000000,
};

/* A window whose shares differ by less from those before it is no news. */
#define NOTHING_NEW 0.05
/* One that differs by more says that the program has changed, though those before it differed, too.
 */
#define ANOTHER_PHASE 0.25
/* Of the lines that are missed: so many whose writes may come late are worth a long window. */
#define UNRESOLVED 0.03

void nve_budget_start(struct nve_budget *b, uint32_t run_ahead)
{
	*b = (struct nve_budget){
		.run_ahead = run_ahead,
		.tokens_ns = TOKENS_START_NS,
		.long_octave = 1,
		.long_credits = LONG_CREDITS,
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

/* On a crowded machine all samples may be: then every few of them must do. */
static bool spoils(struct nve_budget *b, bool disturbed)
{
	b->disturbed_samples = disturbed ? b->disturbed_samples + 1 : 0;
	return disturbed && b->disturbed_samples % DISTURBED_MAX;
}

/* Into how many parts the budget is cut, of which one will do. Windows without a miss that
 * contradict what is believed are no reason to take fewer. */
static uint32_t parts(const struct nve_budget *b, const struct nve_budget_sample *sample)
{
	if (b->idle_windows >= IDLE_WINDOWS)
		return sample->label > NOTHING_NEW ? 1 : 4;
	return b->expected_windows >= EXPECTED_WINDOWS ? 2 : 1;
}

static double foreseen_ns(const struct nve_budget *b, int octave)
{
	return b->step_ns * nve_budget_steps(b, octave);
}

/* Whether a program writes what it has read long ago only long windows tell, the longest most.
 * Their account would bring the first one late: so it may be in debt. */
static int on_credit(const struct nve_budget *b, uint64_t budget_ppm)
{
	double credit_ns = (double)budget_ppm * LONG_CREDIT_MS;
	int octave = WINDOW_OCTAVES;

	if (!b->long_credits || b->unresolved < UNRESOLVED)
		return -1;
	while (octave > 0 && foreseen_ns(b, octave) > (double)b->long_tokens_ns + credit_ns)
		octave--;
	return octave > 0 ? octave : -1;
}

static int by_tokens(const struct nve_budget *b, bool known, uint64_t budget_ppm)
{
	bool news = !known || b->news_windows > 0;
	int octave = on_credit(b, budget_ppm);

	if (octave > 0)
		return octave;
	if ((double)b->long_tokens_ns > foreseen_ns(b, b->long_octave))
		return b->long_octave;
	return b->tokens_ns > (news ? -CREDIT_NS : 0) ? 0 : -1;
}

/* Of the sample's own delay alone: what a thread owes elsewhere is not served here. */
static bool delay_pays(const struct nve_budget *b, const struct nve_budget_sample *sample,
		       int octave)
{
	return foreseen_ns(b, octave) < (double)sample->delay_ns / DELAY_PART;
}

static int by_delay(struct nve_budget *b, const struct nve_budget_sample *sample)
{
	int octave;

	if (!delay_pays(b, sample, 0))
		return -1;
	if (++b->delay_windows % DELAY_TURNS)
		return 0;
	octave = 1 + (int)(b->delay_windows / DELAY_TURNS % WINDOW_OCTAVES);
	while (!delay_pays(b, sample, octave))
		octave--;
	return octave;
}

int nve_budget_choose(struct nve_budget *b, const struct nve_budget_sample *sample,
		      uint64_t budget_ppm)
{
	uint32_t part = parts(b, sample);
	int octave;

	earn(&b->tokens_ns, sample->cpu_ns, budget_ppm, USUAL_SHARE_PPM / part);
	earn(&b->long_tokens_ns, sample->cpu_ns, budget_ppm, LONG_SHARE_PPM / part);
	earn(&b->rest_ns, sample->cpu_ns, budget_ppm,
	     PPM - USUAL_SHARE_PPM / part - LONG_SHARE_PPM / part);
	b->rest_ns = NVE_MIN(b->rest_ns, (int64_t)REST_MAX_NS);
	if (spoils(b, sample->disturbed) || sample->cpu_ns < MIN_GAP_NS)
		return -1;
	octave = by_tokens(b, sample->known, budget_ppm);
	if (octave <= 0)
		octave = NVE_MAX(octave, by_delay(b, sample));
	b->paid_by_delay = octave >= 0 && delay_pays(b, sample, octave);
	return octave;
}

/* Of the usual length only: longer ones see more of the writes. */
static bool compare(struct nve_budget *b, double share, double written, uint32_t misses)
{
	double off = fmax(fabs(share - b->usual_share), fabs(written - b->usual_written));
	bool expected = off < NOTHING_NEW;
	bool another = off > ANOTHER_PHASE && misses >= TELLING_MISSES;

	if (another || (!expected && b->expected_windows >= EXPECTED_WINDOWS)) {
		b->news_windows = NEWS_WINDOWS;
		b->long_credits = LONG_CREDITS;
		b->usual_share = share;
		b->usual_written = written;
	} else if (b->news_windows) {
		b->news_windows--;
	}
	b->expected_windows = expected ? b->expected_windows + 1 : 0;
	b->usual_share += (share - b->usual_share) / 4;
	b->usual_written += (written - b->usual_written) / 4;
	return another;
}

bool nve_budget_took(struct nve_budget *b, const struct nve_budget_window *w)
{
	double unresolved = w->share > NOTHING_NEW ? w->unresolved : 0;

	b->paying_octave = w->octave;
	b->paying_steps = w->steps;
	b->idle_windows = w->misses ? 0 : b->idle_windows + 1;
	b->unresolved += (unresolved - b->unresolved) / 2;
	if (w->octave == 0)
		return compare(b, w->share, w->misses ? (double)w->written / w->misses : 0,
			       w->misses);
	if (b->long_credits)
		b->long_credits--;
	return false;
}

/* A sample without a window is paid by the rest; what that has not, windows must do without. */
static void charge_rest(struct nve_budget *b, int64_t cost_ns)
{
	b->rest_ns -= cost_ns;
	b->tokens_ns += NVE_MIN(b->rest_ns, (int64_t)0);
	b->rest_ns = NVE_MAX(b->rest_ns, (int64_t)0);
}

void nve_budget_charge(struct nve_budget *b, int64_t cost_ns)
{
	double per_step;

	if (!b->paying_steps) {
		charge_rest(b, NVE_MIN(cost_ns, (int64_t)OUTLIER_SAMPLE_NS));
		return;
	}
	cost_ns = NVE_MIN(cost_ns, (int64_t)(OUTLIER_COST * b->step_ns * b->paying_steps));
	per_step = (double)cost_ns / b->paying_steps;
	if (!b->paid_by_delay && b->paying_octave > 0) {
		b->long_tokens_ns -= cost_ns;
		b->long_octave = b->long_octave % WINDOW_OCTAVES + 1;
	} else if (!b->paid_by_delay) {
		b->tokens_ns -= cost_ns;
	}
	b->step_ns += (NVE_MAX(per_step, (double)LEAST_STEP_NS) - b->step_ns) / 8;
	b->paying_octave = 0;
	b->paying_steps = 0;
}
