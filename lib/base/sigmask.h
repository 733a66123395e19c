/* The calling thread's signal mask, by the system call itself: libc's functions may be hooked, and
 * then show and set what the program means. */
#ifndef NVE_BASE_SIGMASK_H
#define NVE_BASE_SIGMASK_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * All signals, also the two that the C library keeps for itself, which sigfillset() leaves out: a
 * thread that is cancelled in the midst of our work would leave our locks taken. Not for threads
 * that live on with this mask: setuid() and its kin wait for each to take such a signal.
 */
static inline void nve_sigmask_fill(sigset_t *set)
{
	memset(set, 0xff, sizeof(*set));
}

static inline void nve_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	if (old)
		sigemptyset(old);
	syscall(SYS_rt_sigprocmask, how, set, old, sizeof(uint64_t));
}

#endif
