/*
 * The program's view of the signals that we use: SIGURG for our ticks, SIGSEGV and SIGBUS while the
 * program's memory is looked at. It sets and gets its own actions, and never sees a tick.
 */
#include "preload/hook_signal.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "emu/guard.h"
#include "emu/inject.h"
#include "preload/real.h"
#include "runtime.h"

/* As the kernel has it. */
struct nve_kernel_sigaction {
	void *handler;
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static bool is_shared(int sig)
{
	if (sig != NVE_INJECT_SIGNAL && sig != SIGSEGV && sig != SIGBUS)
		return false;
	return nve_runtime_hides_signals();
}

static int change(int sig, const struct sigaction *act, struct sigaction *old)
{
	return sig == NVE_INJECT_SIGNAL ? nve_action_change(act, old)
					: nve_guard_change(sig, act, old);
}

NVE_EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	nve_real_setup();
	return is_shared(sig) ? change(sig, act, old) : nve_real.sigaction(sig, act, old);
}

static nve_signal_handler set_handler(int sig, nve_signal_handler handler, int flags)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = flags}, old;

	if (!(flags & SA_RESETHAND))
		sigaddset(&act.sa_mask, sig);
	return change(sig, &act, &old) ? SIG_ERR : old.sa_handler;
}

NVE_EXPORT nve_signal_handler signal(int sig, nve_signal_handler handler)
{
	nve_real_setup();
	return is_shared(sig) ? set_handler(sig, handler, SA_RESTART)
			      : nve_real.signal(sig, handler);
}

/* Declared by <signal.h> for old standards only, or with a warning. */
nve_signal_handler bsd_signal(int sig, nve_signal_handler handler);
nve_signal_handler sigset(int sig, nve_signal_handler handler);
int sigignore(int sig);
int siginterrupt(int sig, int interrupt);

NVE_EXPORT nve_signal_handler bsd_signal(int sig, nve_signal_handler handler)
{
	return signal(sig, handler);
}

NVE_EXPORT nve_signal_handler ssignal(int sig, nve_signal_handler handler)
{
	return signal(sig, handler);
}

NVE_EXPORT nve_signal_handler sysv_signal(int sig, nve_signal_handler handler)
{
	nve_real_setup();
	return is_shared(sig) ? set_handler(sig, handler, (int)SA_RESETHAND | SA_NODEFER)
			      : nve_real.sysv_signal(sig, handler);
}

NVE_EXPORT nve_signal_handler __sysv_signal(int sig, nve_signal_handler handler)
{
	return sysv_signal(sig, handler);
}

NVE_EXPORT int sigignore(int sig)
{
	struct sigaction act = {.sa_handler = SIG_IGN};

	return sigaction(sig, &act, NULL);
}

/* SIG_HOLD blocks; anything else unblocks. The former action, or SIG_HOLD where it was blocked. */
NVE_EXPORT nve_signal_handler sigset(int sig, nve_signal_handler handler)
{
	struct sigaction act = {.sa_handler = handler}, old;
	sigset_t set, before;

	sigemptyset(&set);
	if (sigaddset(&set, sig) || sigaction(sig, handler == SIG_HOLD ? NULL : &act, &old) ||
	    sigprocmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &set, &before))
		return SIG_ERR;
	return sigismember(&before, sig) == 1 ? SIG_HOLD : old.sa_handler;
}

NVE_EXPORT int siginterrupt(int sig, int interrupt)
{
	struct sigaction act;

	nve_real_setup();
	if (!is_shared(sig))
		return nve_real.siginterrupt(sig, interrupt);
	if (sigaction(sig, NULL, &act))
		return -1;
	act.sa_flags = interrupt ? act.sa_flags & ~SA_RESTART : act.sa_flags | SA_RESTART;
	return sigaction(sig, &act, NULL);
}

static void from_kernel(const struct nve_kernel_sigaction *in, struct sigaction *out)
{
	memset(out, 0, sizeof(*out));
	out->sa_handler = (nve_signal_handler)(uintptr_t)in->handler;
	out->sa_flags = (int)in->flags;
	out->sa_restorer = in->restorer;
	memcpy(&out->sa_mask, &in->mask, sizeof(in->mask));
}

static void to_kernel(const struct sigaction *in, struct nve_kernel_sigaction *out)
{
	out->handler = (void *)(uintptr_t)in->sa_handler;
	out->flags = (unsigned int)in->sa_flags;
	out->restorer = in->sa_restorer;
	memcpy(&out->mask, &in->sa_mask, sizeof(out->mask));
}

bool nve_hook_rt_sigaction(int sig, const struct nve_kernel_sigaction *act,
			   struct nve_kernel_sigaction *old, long *result)
{
	struct sigaction in, out;

	if (!is_shared(sig))
		return false;
	if (act)
		from_kernel(act, &in);
	*result = change(sig, act ? &in : NULL, &out);
	if (*result == 0 && old)
		to_kernel(&out, old);
	return true;
}

/* sigtimedwait() that does not return for a tick; timeout NULL: for ever. */
static int wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	uint64_t end_ns = 0, now_ns = 0;
	struct timespec left;
	siginfo_t got;
	int sig;

	if (timeout) {
		left = *timeout;
		end_ns = nve_clock_ns(CLOCK_MONOTONIC) + (uint64_t)left.tv_sec * 1000000000u +
			 (uint64_t)left.tv_nsec;
	}
	for (;;) {
		sig = nve_real.sigtimedwait(set, &got, timeout ? &left : NULL);
		if (sig != NVE_INJECT_SIGNAL || nve_tick_kind(&got) == NVE_TICK_NONE)
			break;
		nve_inject_tick_swallowed();
		if (!timeout)
			continue;
		now_ns = nve_clock_ns(CLOCK_MONOTONIC);
		now_ns = now_ns < end_ns ? end_ns - now_ns : 0;
		left = (struct timespec){(time_t)(now_ns / 1000000000),
					 (long)(now_ns % 1000000000)};
	}
	if (sig > 0 && info)
		*info = got;
	return sig;
}

static bool may_meet_tick(const sigset_t *set)
{
	return set && sigismember(set, NVE_INJECT_SIGNAL) == 1 && nve_runtime_hides_signals();
}

NVE_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	nve_real_setup();
	return may_meet_tick(set) ? wait_for(set, info, timeout)
				  : nve_real.sigtimedwait(set, info, timeout);
}

NVE_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	nve_real_setup();
	return may_meet_tick(set) ? wait_for(set, info, NULL) : nve_real.sigwaitinfo(set, info);
}

NVE_EXPORT int sigwait(const sigset_t *set, int *sig)
{
	int rc;

	nve_real_setup();
	if (!may_meet_tick(set))
		return nve_real.sigwait(set, sig);
	do
		rc = wait_for(set, NULL, NULL);
	while (rc < 0 && errno == EINTR);
	if (rc < 0)
		return errno;
	*sig = rc;
	return 0;
}
