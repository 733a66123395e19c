#include "emu/guard.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/base.h"
#include "count/ahead/touch.h"

static const int fault_signals[] = {SIGSEGV, SIGBUS};

static struct {
	nve_sigaction_fn *change;
	_Atomic bool locked;
	unsigned looking;                                        /* threads; under locked */
	struct sigaction program[NVE_ARRAY_SIZE(fault_signals)]; /* its actions while ours are in */
} state;

/* Of the calling thread. */
static __thread struct {
	bool looking, held;
	siginfo_t info; /* of the signal that is held */
} self;

/* Held for a few system calls only, and never across an interruption: all signals but faults are
 * blocked wherever it is taken. */
static void lock(void)
{
	while (atomic_exchange_explicit(&state.locked, true, memory_order_acquire))
		__builtin_ia32_pause();
}

static void unlock(void)
{
	atomic_store_explicit(&state.locked, false, memory_order_release);
}

static struct sigaction *program_action(int sig)
{
	return &state.program[sig == SIGBUS];
}

static bool is_sent(const siginfo_t *info)
{
	return info->si_code <= 0;
}

static void send_again(siginfo_t *info)
{
	syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), info->si_signo, info);
}

static void wait_until_free(void)
{
	unsigned looking;

	for (;;) {
		lock();
		looking = state.looking;
		unlock();
		if (!looking)
			return;
		sched_yield();
	}
}

/* A signal of the program: a fault happens again by itself, one that was sent is sent again. */
static void pass_on(siginfo_t *info)
{
	if (!self.looking) {
		wait_until_free();
		if (is_sent(info))
			send_again(info);
	} else if (is_sent(info)) {
		self.held = true;
		self.info = *info;
	} else {
		/* A fault in this library: it must show, not hang. */
		state.change(info->si_signo, program_action(info->si_signo), NULL);
	}
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	int saved_errno = errno;

	(void)sig;
	if (is_sent(info) || !nve_touch_fixup(context))
		pass_on(info);
	errno = saved_errno;
}

static void install(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(fault_signals); i++)
		state.change(fault_signals[i], &action, &state.program[i]);
}

static void restore(void)
{
	for (size_t i = 0; i < NVE_ARRAY_SIZE(fault_signals); i++)
		state.change(fault_signals[i], &state.program[i], NULL);
}

void nve_guard_setup(nve_sigaction_fn *change)
{
	state.change = change;
}

static void leave(void)
{
	lock();
	if (--state.looking == 0)
		restore();
	unlock();
	self.looking = false;
	if (self.held) {
		self.held = false;
		send_again(&self.info);
	}
}

void nve_guard(bool enter)
{
	if (!enter) {
		leave();
		return;
	}
	self.looking = true;
	lock();
	if (state.looking++ == 0)
		install();
	unlock();
}

int nve_guard_change(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction wanted, had;
	sigset_t all, mask;
	int rc = 0, error;

	if (act)
		wanted = *act;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	lock();
	if (state.looking) {
		had = *program_action(sig);
		if (act)
			*program_action(sig) = wanted;
	} else {
		rc = state.change(sig, act ? &wanted : NULL, &had);
	}
	error = errno;
	unlock();
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (!rc && old)
		*old = had;
	errno = error;
	return rc;
}

void nve_guard_before_fork(void)
{
	lock();
}

void nve_guard_after_fork(bool child)
{
	if (child && state.looking) {
		restore();
		state.looking = 0;
	}
	unlock();
}
