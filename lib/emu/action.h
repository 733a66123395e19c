/*
 * The program's own action on the signal that is ours: what it sets it gets back, and foreign
 * signals of that number reach it as if our handler were not in between.
 *
 * Thread-safe; nve_action_change must not be interrupted by a handler that calls it, and sees to
 * that itself.
 */
#ifndef NVE_EMU_ACTION_H
#define NVE_EMU_ACTION_H

#include <signal.h>
#include <stdbool.h>

/* The program has the signal blocked in the calling thread, as it sees it. */
extern __thread bool nve_action_blocked;

typedef int nve_sigaction_fn(int sig, const struct sigaction *act, struct sigaction *old);

/* Installs handler for sig, with all of the program's signals but faults blocked while it runs.
 * change: libc's own sigaction, not the hook. 0 or -errno. */
int nve_action_setup(int sig, void (*handler)(int, siginfo_t *, void *), nve_sigaction_fn *change);

/* sigaction() for that signal, as the program means it. */
int nve_action_change(const struct sigaction *act, struct sigaction *old);

/*
 * Before a program takes this one's place, or in a child that is not emulated: where the program
 * ignores the signal, or in any case with all, its own action is put in. False: nothing was done.
 * Signal-safe, and fit for a child by vfork. The second makes it undone.
 */
bool nve_action_withdraw(bool all);
void nve_action_resume(void);

/* In the handler: a signal that is not ours goes to the program's action. */
void nve_action_pass_on(int sig, siginfo_t *info, void *context);

#endif
