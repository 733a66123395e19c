/*
 * Interrupts the program's threads and injects delay: the signal, the timers, the handler.
 *
 * The signal is SIGURG: its default action is to be ignored, so that a program that resets all
 * handlers is not killed by a timer on its way. Every handler run samples the thread, looks ahead,
 * and serves delay that is owed. All of its work is done on thread CPU time.
 */
#ifndef NVE_EMU_INJECT_H
#define NVE_EMU_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "emu/action.h"
#include "emu/thread.h"
#include "emu/tick.h"

struct nve_inject_config {
	uint64_t epoch_ns;
	int mode;           /* enum nve_option_inject */
	uint64_t signal_ns; /* what a signal costs outside of the handler */
	uint64_t tsc_khz;
	const struct nve_replay *replay;       /* epochs come from there; NULL: from look-ahead */
	nve_sigaction_fn *sigaction;           /* libc's own, not the hook */
	const struct nve_tiers_process *tiers; /* of memory that is placed; NULL: all is on NVM */
	enum nve_tier usual;                   /* then: what no line names is there */
};

enum { NVE_INJECT_SIGNAL = NVE_TICK_SIGNAL };

/* Installs the handler. Once. 0 or -errno. */
int nve_inject_setup(const struct nve_inject_config *config);

/* Cost of one signal to the calling thread and back, ns, less the handler. After setup. */
uint32_t nve_inject_measure_signal(void);

void nve_inject_set_signal_cost(uint64_t signal_ns);

/* The calling thread has fetched a tick by sigwait() or the like: the timer is started again. */
void nve_inject_tick_swallowed(void);

/* Starts the calling thread's ticks. 0, or -errno as nve_tick_start(). */
int nve_inject_start(struct nve_thread *t);

/* Ends the calling thread's last epoch; its timer is stopped. */
void nve_inject_end_epoch(struct nve_thread *t);

/* What is owed beyond what was injected and what the tool's own cost has already delayed, ns. */
int64_t nve_inject_due_ns(const struct nve_thread *t);

/* Delays the calling thread by delay_ns, from the moment on at which its CPU clock showed *cpu_ns;
 * afterwards that is what it shows now. Returns the delay really served, ns. */
uint64_t nve_inject_serve(uint64_t delay_ns, uint64_t *cpu_ns);

/* Serves what the calling thread still owes, unless injection is off. Its timer is stopped. */
void nve_inject_serve_rest(struct nve_thread *t);

#endif
