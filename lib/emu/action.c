#include "emu/action.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

#include "base/arch.h"
#include "base/base.h"
#include "base/sigmask.h"

__thread bool nve_action_blocked;

static struct {
	int sig;
	void (*handler)(int, siginfo_t *, void *);
	nve_sigaction_fn *change;
	_Atomic bool locked;        /* for writers */
	_Atomic unsigned current;   /* which of the two handlers may read */
	struct sigaction action[2]; /* the program's */
} state;

static bool has_handler(const struct sigaction *a)
{
	return (a->sa_flags & SA_SIGINFO) || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

/* Calls are restarted after our signals unless the program wants to see them interrupted by its
 * own: then the handler makes them again after ours. */
static int install(const struct sigaction *program, struct sigaction *old)
{
	static const int not_blocked[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	struct sigaction action = {.sa_sigaction = state.handler,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

	if (program && has_handler(program) && !(program->sa_flags & SA_RESTART))
		action.sa_flags &= ~SA_RESTART;
	nve_sigmask_fill(&action.sa_mask);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(not_blocked); i++)
		sigdelset(&action.sa_mask, not_blocked[i]);
	return state.change(state.sig, &action, old) ? -errno : 0;
}

int nve_action_setup(int sig, void (*handler)(int, siginfo_t *, void *), nve_sigaction_fn *change)
{
	state.sig = sig;
	state.handler = handler;
	state.change = change;
	return install(NULL, &state.action[0]);
}

int nve_action_change(const struct sigaction *act, struct sigaction *old)
{
	struct sigaction wanted, had;
	sigset_t all, mask;
	unsigned next;

	if (act)
		wanted = *act;
	nve_sigmask_fill(&all);
	nve_sigmask(SIG_BLOCK, &all, &mask);
	while (atomic_exchange_explicit(&state.locked, true, memory_order_acquire))
		nve_arch_pause();
	next = atomic_load(&state.current) ^ 1;
	had = state.action[next ^ 1];
	if (act) {
		state.action[next] = wanted;
		atomic_store(&state.current, next);
		install(&wanted, NULL);
	}
	atomic_store_explicit(&state.locked, false, memory_order_release);
	nve_sigmask(SIG_SETMASK, &mask, NULL);
	if (old)
		*old = had;
	return 0;
}

bool nve_action_withdraw(bool all)
{
	struct sigaction program = state.action[atomic_load(&state.current)], now;

	if (!all && ((program.sa_flags & SA_SIGINFO) || program.sa_handler != SIG_IGN))
		return false;
	if (state.change(state.sig, NULL, &now) || now.sa_sigaction != state.handler)
		return false;
	return state.change(state.sig, &program, NULL) == 0;
}

void nve_action_resume(void)
{
	struct sigaction program = state.action[atomic_load(&state.current)];

	install(&program, NULL);
}

static void call(const struct sigaction *a, int sig, siginfo_t *info, void *context)
{
	if (a->sa_flags & SA_SIGINFO)
		a->sa_sigaction(sig, info, context);
	else
		a->sa_handler(sig);
}

void nve_action_pass_on(int sig, siginfo_t *info, void *context)
{
	struct sigaction action = state.action[atomic_load(&state.current)];
	const ucontext_t *uc = context;
	sigset_t mask, ours;

	if (!has_handler(&action))
		return;
	if (action.sa_flags & SA_RESETHAND) {
		struct sigaction reset = {.sa_handler = SIG_DFL};

		nve_action_change(&reset, NULL);
	}
	sigorset(&mask, &uc->uc_sigmask, &action.sa_mask);
	if (!(action.sa_flags & SA_NODEFER))
		sigaddset(&mask, sig);
	nve_sigmask(SIG_SETMASK, &mask, &ours);
	call(&action, sig, info, context);
	nve_sigmask(SIG_SETMASK, &ours, NULL);
}
