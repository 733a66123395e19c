/*
 * What a thread owes since its last epoch, estimated: the delay to be served before it lets another
 * thread go on. Pure: time is passed in.
 *
 * The program's time is cut into stretches, each of which begins where a hooked call returned. A
 * sample tells the stall share of the stretch that it fell into; the delay estimated for a stretch
 * is its time, by the time-stamp counter, times the rate learned for it. Stretches are told apart
 * by the address that the call returned to, so that a critical section that waits for memory owes
 * while the computing before it does not.
 *
 * All of it belongs to the thread itself and its handler.
 */
#ifndef NVE_EMU_ESTIMATE_H
#define NVE_EMU_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

enum { NVE_ESTIMATE_STRETCHES = 64 };

/* Sums over samples, fading, ns of the thread's time; what is made of them. */
struct nve_estimate_rate {
	double time_ns, stall_ns;
	double rate; /* delay per time */
};

struct nve_estimate_stretch {
	uint64_t address;
	double factor; /* delay over stall time there, in parts of the thread's */
	struct nve_estimate_rate learned;
};

struct nve_estimate {
	double tick_ns;
	bool running; /* a stretch has begun and not ended */
	uint64_t since_tsc;
	/* by the time-stamp counter, since the CPU clock was read: time, and delay owed for it */
	double run_ns, run_delay_ns;
	uint64_t checked_cpu_ns; /* when that was */
	uint64_t decided_cpu_ns; /* when the last payment was decided on */
	double fresh_ns;         /* delay of stretches since the last payment */
	double epoch_ns;         /* since the last epoch ended */
	double epoch_raw_ns;     /* the same before gain */
	bool paid_in_epoch;
	double gain; /* what the model made of past estimates, over these */
	struct nve_estimate_rate all;
	struct nve_estimate_stretch *stretch; /* that runs, or ran last */
	struct nve_estimate_stretch stretches[NVE_ESTIMATE_STRETCHES];
};

/* Forgets what was estimated, not what was learned. tsc_khz: of the time-stamp counter. */
void nve_estimate_clear(struct nve_estimate *e, uint64_t tsc_khz, uint64_t cpu_ns);

/* A stretch begins, after the call that returned to address. */
void nve_estimate_begin(struct nve_estimate *e, uint64_t address, uint64_t tsc);

/* It ends, if one runs. Returns the delay estimated since the CPU clock was read, ns: an upper
 * bound, since the thread may have slept or lost its core. */
double nve_estimate_end(struct nve_estimate *e, uint64_t tsc);

/* The CPU clock was read: the thread has not run for longer than that says. */
void nve_estimate_check(struct nve_estimate *e, uint64_t cpu_ns);

/*
 * What to pay now, ns; after nve_estimate_check(). booked_ns: what the model says of the epochs
 * that have ended, less what has been served. A rest between estimate and model is made good over
 * some tenths of a second, where delay is owed anyway.
 */
double nve_estimate_due(struct nve_estimate *e, double booked_ns);

/* The same where delay is kept account of in regions: the one that runs is owed rest_ns besides
 * what was estimated since the last payment, and rate of its time in general. */
double nve_estimate_due_in_region(struct nve_estimate *e, double rest_ns, double rate);

/* What was estimated since the last payment. */
double nve_estimate_fresh_ns(const struct nve_estimate *e);

/* So much was paid, and the CPU clock shows cpu_ns. */
void nve_estimate_paid(struct nve_estimate *e, uint64_t cpu_ns);

/* Does the thread hand over often enough, so that ticks need not serve? */
bool nve_estimate_is_active(const struct nve_estimate *e, uint64_t cpu_ns);

/* A tick has served all that is owed until now. */
void nve_estimate_served(struct nve_estimate *e);

/*
 * A sample: so much of time_ns was stall. in_stretch: it fell into e->stretch, else into a wait or
 * a hook. delay_per_stall: what the model makes of the thread's stall time, and this many times as
 * much of the sample's (factor). Returns whether delay is owed at a
 * rate worth estimating.
 */
bool nve_estimate_learn(struct nve_estimate *e, bool in_stretch, double time_ns, double stall_ns,
			double delay_per_stall, double factor);

/* The epoch has ended: the model says what it owes. Returns what was estimated, before gain, if it
 * had payments; else 0. */
double nve_estimate_end_epoch(struct nve_estimate *e);

/* What the model has said of such epochs, over what was estimated for them. */
void nve_estimate_set_gain(struct nve_estimate *e, double gain);

#endif
