/* The calling thread's signal mask, by the system call itself: libc's functions may be hooked, and
 * then show and set what the program means. */
#ifndef NVE_BASE_SIGMASK_H
#define NVE_BASE_SIGMASK_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void nve_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	if (old)
		sigemptyset(old);
	syscall(SYS_rt_sigprocmask, how, set, old, sizeof(uint64_t));
}

#endif
