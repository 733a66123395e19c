/*
 * What look-ahead may cost: a thread pays its windows with tokens, ns, that flow in as parts of its
 * own CPU time. Where it is delayed anyway a window that takes the place of some of the delay costs
 * it nothing, and no tokens. Decides when a window is taken, and how long it is.
 *
 * Writes that come long after the read show in long windows only: they have a part of the budget to
 * themselves, and take turns. Pure; one thread's.
 */
#ifndef NVE_AHEAD_BUDGET_H
#define NVE_AHEAD_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct nve_budget {
	uint32_t run_ahead;                /* instructions that each window has on top */
	int64_t tokens_ns, long_tokens_ns; /* for usual and for long windows */
	int64_t rest_ns;                   /* for samples without a window */
	int long_octave;                   /* of the next long window */
	int paying_octave;                 /* of the window that the next charge is for */
	uint32_t paying_steps;             /* its length; 0: no window */
	bool paid_by_delay;                /* the window that was chosen last */
	uint32_t delay_windows;            /* so paid, without those that tokens paid */
	uint32_t idle_windows;             /* in a row without a miss */
	uint32_t expected_windows;         /* of the usual length, in a row that told nothing new */
	uint32_t news_windows; /* so many more on credit, since one contradicted those before */
	uint32_t long_credits; /* long windows that may be had on credit */
	double unresolved;     /* of the last windows, fading mean */
	uint32_t disturbed_samples;        /* in a row */
	double usual_share, usual_written; /* what they tell, fading means */
	double step_ns;                    /* what an interpreted instruction costs, fading mean */
};

void nve_budget_start(struct nve_budget *b, uint32_t run_ahead);

/* Length of a window 0, 1, 2 ... octaves above the usual one, instructions; each four times the one
 * before. */
uint32_t nve_budget_steps(const struct nve_budget *b, int octave);

/* What is known when a window may be taken. */
struct nve_budget_sample {
	uint64_t cpu_ns; /* CPU time of the program since the last sample */
	/* Have windows passed this instruction before? One that nothing is known of teaches most,
	 * and may be had on credit. */
	bool known;
	double label; /* what is believed of it: the share of its time that is misses, 0 to 1 */
	uint64_t delay_ns; /* what the program is delayed for that time */
	/* The thread has lost its core since the last sample. The kernel takes cores away at its
	 * tick, as it brings samples: the lines that such a window misses are those that another
	 * program has pushed out. So none is taken, unless there have been no others for long. */
	bool disturbed;
};

/* budget_ppm of the sample's time may be spent. Returns the octave of the window that may be taken
 * now, or -1 for none. */
int nve_budget_choose(struct nve_budget *b, const struct nve_budget_sample *sample,
		      uint64_t budget_ppm);

/* A window that was taken. */
struct nve_budget_window {
	int octave;
	uint32_t steps, misses, written; /* lines missed, and of them those that were written */
	double share;                    /* of its time that misses held it up for, 0 to 1 */
	/* of the lines missed those of which nobody knows whether they get written after the
	 * longest delay that windows have followed such lines for, 0 to 1 */
	double unresolved;
};

/* Returns whether the program does another thing than it did in the windows before. */
bool nve_budget_took(struct nve_budget *b, const struct nve_budget_window *window);

/* What the sample cost in all, savings subtracted. What is far beyond what was foreseen is not the
 * window's: the clock of a virtual machine goes on while its host runs something else. One without
 * a window is paid by what windows leave of the budget; where that is not enough, there are fewer
 * windows. */
void nve_budget_charge(struct nve_budget *b, int64_t cost_ns);

#endif
