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

#include "base/arch.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/sigmask.h"
#include "count/ahead/touch.h"

/* How long the program's faults keep looks away, TSC ticks: until one has happened again; and at
 * most, in case that it never does. */
enum { QUIET_TICKS = 200000, WAIT_TICKS = 10000000 };

static const int fault_signals[] = {SIGSEGV, SIGBUS};

static struct {
	nve_sigaction_fn *change;
	_Atomic bool locked;
	_Atomic unsigned waiting;     /* threads with a fault of the program's */
	_Atomic uint64_t quiet_until; /* TSC */
	unsigned looking;             /* threads; under locked */
	struct sigaction program[NVE_ARRAY_SIZE(fault_signals)]; /* its actions while ours are in */
} state;

/* Of the calling thread. */
static __thread struct {
	bool looking, held;
	bool blocked[NVE_ARRAY_SIZE(fault_signals)]; /* by the thread, outside of its looks */
	siginfo_t info;                              /* of the signal that is held */
} self;

/* Held for a few system calls only, and never across an interruption: all signals but faults are
 * blocked wherever it is taken. */
static void lock(void)
{
	while (atomic_exchange_explicit(&state.locked, true, memory_order_acquire))
		nve_arch_pause();
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

	atomic_fetch_add(&state.waiting, 1);
	for (;;) {
		lock();
		looking = state.looking;
		if (!looking)
			atomic_store(&state.quiet_until, nve_tsc() + QUIET_TICKS);
		unlock();
		if (!looking)
			break;
		sched_yield();
	}
	atomic_fetch_sub(&state.waiting, 1);
}

/* Threads that look by turns must not keep the program's faults waiting for ever. */
static void give_way(void)
{
	uint64_t start = nve_tsc();

	while ((atomic_load(&state.waiting) || nve_tsc() < atomic_load(&state.quiet_until)) &&
	       nve_tsc() - start < WAIT_TICKS)
		sched_yield();
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

	nve_sigmask_fill(&action.sa_mask);
	/* In two steps: whenever ours is in, the program's is known. A fork may come between. */
	for (size_t i = 0; i < NVE_ARRAY_SIZE(fault_signals); i++) {
		state.change(fault_signals[i], NULL, &state.program[i]);
		state.change(fault_signals[i], &action, NULL);
	}
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

/* With a fault signal blocked, a fault would kill the process whatever its action. */
static void unblock(void)
{
	sigset_t faults, before;

	sigemptyset(&faults);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(fault_signals); i++)
		sigaddset(&faults, fault_signals[i]);
	nve_sigmask(SIG_UNBLOCK, &faults, &before);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(fault_signals); i++)
		self.blocked[i] = sigismember(&before, fault_signals[i]);
}

static void block_again(void)
{
	sigset_t set;
	bool any = false;

	sigemptyset(&set);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(fault_signals); i++) {
		if (!self.blocked[i])
			continue;
		sigaddset(&set, fault_signals[i]);
		any = true;
	}
	if (any)
		nve_sigmask(SIG_BLOCK, &set, NULL);
}

static void enter(void)
{
	give_way();
	self.looking = true;
	lock();
	if (state.looking++ == 0)
		install();
	unlock();
	unblock();
}

static void leave(void)
{
	block_again();
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

void nve_guard(bool begin)
{
	if (begin)
		enter();
	else
		leave();
}

int nve_guard_change(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction wanted, had;
	sigset_t all, mask;
	int rc = 0, error;

	if (act)
		wanted = *act;
	nve_sigmask_fill(&all);
	nve_sigmask(SIG_BLOCK, &all, &mask);
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
	nve_sigmask(SIG_SETMASK, &mask, NULL);
	if (!rc && old)
		*old = had;
	errno = error;
	return rc;
}

void nve_guard_after_fork(void)
{
	struct sigaction action;

	for (size_t i = 0; i < NVE_ARRAY_SIZE(fault_signals); i++) {
		if (!state.change(fault_signals[i], NULL, &action) &&
		    action.sa_sigaction == on_fault)
			state.change(fault_signals[i], &state.program[i], NULL);
	}
	state.looking = 0;
	atomic_store(&state.waiting, 0);
	unlock();
}
