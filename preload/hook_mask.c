/*
 * The signal mask. Many programs block all signals in their worker threads, and ours would never
 * reach them: in a thread that is emulated it is never really blocked, and the program is told what
 * it set.
 */
#include "preload/hook_mask.h"

#include <signal.h>
#include <string.h>

#include "base/sigmask.h"
#include "emu/inject.h"
#include "heap/unwind.h"
#include "preload/real.h"
#include "runtime.h"

/* Declared by <signal.h> with a warning, or not at all. */
int sigblock(int mask);
int sigsetmask(int mask);
int siggetmask(void);
int sighold(int sig);
int sigrelse(int sig);

/* A process by vfork that has set the mask itself; it shares our memory, but not the mask. */
static __thread int own_child;

static bool is_emulated(void)
{
	const struct nve_thread *t = nve_thread_self;

	return t && t->has_timer && nve_runtime_hides_signals();
}

void nve_hook_mask_begin(bool inherited)
{
	sigset_t now;

	if (!nve_runtime_follows_threads())
		return;
	nve_sigmask(SIG_BLOCK, NULL, &now);
	nve_action_blocked = inherited || sigismember(&now, NVE_INJECT_SIGNAL);
	if (!sigismember(&now, NVE_INJECT_SIGNAL) || !is_emulated())
		return;
	nve_hook_mask_hide();
}

static void note(bool blocked)
{
	if (nve_runtime_hides_signals())
		nve_action_blocked = blocked;
	else
		own_child = getpid();
}

/* The program's view after the call. */
static bool blocked_after(int how, bool contains)
{
	if (how == SIG_SETMASK)
		return contains;
	return contains ? how == SIG_BLOCK : nve_action_blocked;
}

static sigset_t ours_alone(void)
{
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, NVE_INJECT_SIGNAL);
	return ours;
}

bool nve_hook_mask_show(void)
{
	sigset_t ours = ours_alone(), before;

	if (!nve_action_blocked || !nve_runtime_follows_threads() || own_child == getpid())
		return false;
	nve_sigmask(SIG_BLOCK, &ours, &before);
	return !sigismember(&before, NVE_INJECT_SIGNAL);
}

void nve_hook_mask_hide(void)
{
	sigset_t ours = ours_alone();

	nve_sigmask(SIG_UNBLOCK, &ours, NULL);
}

static bool is_of_program(void)
{
	return nve_runtime_follows_threads() && !nve_unwind_running();
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
		if (!rc && (ours || before != after))
			note(after);
	}
	if (!rc && old && before)
		sigaddset(old, NVE_INJECT_SIGNAL);
	return rc;
}

NVE_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	nve_real_setup();
	return is_of_program() ? change(nve_real.pthread_sigmask, how, set, old)
			       : nve_real.pthread_sigmask(how, set, old);
}

NVE_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	nve_real_setup();
	return is_of_program() ? change(nve_real.sigprocmask, how, set, old)
			       : nve_real.sigprocmask(how, set, old);
}

/* The older forms, each for the first signals or for one. They are the same call to the kernel. */

static sigset_t first_signals(int mask)
{
	sigset_t set;

	sigemptyset(&set);
	memcpy(&set, &mask, sizeof(mask));
	return set;
}

static int change_first(int how, int mask)
{
	sigset_t set = first_signals(mask), old;
	int rc = sigprocmask(how, &set, &old);

	if (!rc)
		memcpy(&rc, &old, sizeof(rc));
	return rc;
}

static int change_one(int how, int sig)
{
	sigset_t set;

	sigemptyset(&set);
	return sigaddset(&set, sig) ? -1 : sigprocmask(how, &set, NULL);
}

NVE_EXPORT int sigblock(int mask)
{
	return change_first(SIG_BLOCK, mask);
}

NVE_EXPORT int sigsetmask(int mask)
{
	return change_first(SIG_SETMASK, mask);
}

NVE_EXPORT int siggetmask(void)
{
	return change_first(SIG_BLOCK, 0);
}

NVE_EXPORT int sighold(int sig)
{
	return change_one(SIG_BLOCK, sig);
}

NVE_EXPORT int sigrelse(int sig)
{
	return change_one(SIG_UNBLOCK, sig);
}
