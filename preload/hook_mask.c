/*
 * The signal mask. Many programs block all signals in their worker threads, and ours would never
 * reach them: in a thread that is emulated it is never really blocked, and the program is told what
 * it set.
 */
#include "preload/hook_mask.h"

#include <signal.h>

#include "base/sigmask.h"
#include "emu/inject.h"
#include "preload/real.h"
#include "runtime.h"

static bool is_emulated(void)
{
	const struct nve_thread *t = nve_thread_self;

	return t && t->has_timer && nve_runtime_hides_signals();
}

void nve_hook_mask_begin(bool inherited)
{
	sigset_t now, ours;

	if (!nve_runtime_follows_threads())
		return;
	nve_sigmask(SIG_BLOCK, NULL, &now);
	nve_action_blocked = inherited || sigismember(&now, NVE_INJECT_SIGNAL);
	if (!sigismember(&now, NVE_INJECT_SIGNAL) || !is_emulated())
		return;
	sigemptyset(&ours);
	sigaddset(&ours, NVE_INJECT_SIGNAL);
	nve_sigmask(SIG_UNBLOCK, &ours, NULL);
}

/* The program's view after the call. */
static bool blocked_after(int how, bool contains)
{
	if (how == SIG_SETMASK)
		return contains;
	return contains ? how == SIG_BLOCK : nve_action_blocked;
}

static int change(int (*real)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set,
		  sigset_t *old)
{
	bool before = nve_action_blocked, after, ours;
	sigset_t kernel;
	int rc;

	if (!set) {
		rc = real(how, set, old);
	} else {
		after = blocked_after(how, sigismember(set, NVE_INJECT_SIGNAL) == 1);
		/* A child by vfork has a mask of its own, but not a view. */
		ours = (before || after) && is_emulated();
		kernel = *set;
		if (ours && how != SIG_UNBLOCK)
			sigdelset(&kernel, NVE_INJECT_SIGNAL);
		rc = real(how, &kernel, old);
		if (!rc && (ours || before != after) && nve_runtime_hides_signals())
			nve_action_blocked = after;
	}
	if (!rc && old && before)
		sigaddset(old, NVE_INJECT_SIGNAL);
	return rc;
}

NVE_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	nve_real_setup();
	return nve_runtime_follows_threads() ? change(nve_real.pthread_sigmask, how, set, old)
					     : nve_real.pthread_sigmask(how, set, old);
}

NVE_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	nve_real_setup();
	return nve_runtime_follows_threads() ? change(nve_real.sigprocmask, how, set, old)
					     : nve_real.sigprocmask(how, set, old);
}
