#include "emu/guard.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <ucontext.h>

#include "base/base.h"
#include "count/ahead/touch.h"

static const int fault_signals[] = {SIGSEGV, SIGBUS};

static struct {
	_Atomic bool locked;
	unsigned looking;                                        /* threads; under locked */
	struct sigaction program[NVE_ARRAY_SIZE(fault_signals)]; /* its actions while ours are in */
} state;

/* Held for a few system calls only, and never across an interruption: all signals are blocked in
 * the handlers that come here. */
static void lock(void)
{
	while (atomic_exchange_explicit(&state.locked, true, memory_order_acquire))
		__builtin_ia32_pause();
}

static void unlock(void)
{
	atomic_store_explicit(&state.locked, false, memory_order_release);
}

static const struct sigaction *program_action(int sig)
{
	return &state.program[sig == SIGBUS];
}

/* As the kernel would have done without us. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	const struct sigaction *action = program_action(sig);

	if (action->sa_flags & SA_SIGINFO) {
		action->sa_sigaction(sig, info, context);
	} else if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN) {
		/* The faulting instruction runs again and meets the program's action. */
		sigaction(sig, action, NULL);
	} else {
		action->sa_handler(sig);
	}
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	if (!nve_touch_fixup(context))
		pass_on(sig, info, context);
}

static void install(void)
{
	struct sigaction action = {
		.sa_sigaction = on_fault,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(fault_signals); i++)
		sigaction(fault_signals[i], &action, &state.program[i]);
}

static void restore(void)
{
	for (size_t i = 0; i < NVE_ARRAY_SIZE(fault_signals); i++)
		sigaction(fault_signals[i], &state.program[i], NULL);
}

void nve_guard(bool enter)
{
	lock();
	if (enter && state.looking++ == 0)
		install();
	if (!enter && --state.looking == 0)
		restore();
	unlock();
}

void nve_guard_after_fork(void)
{
	if (state.looking)
		restore();
	state.looking = 0;
	unlock();
}
