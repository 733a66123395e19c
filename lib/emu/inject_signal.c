/* What it costs to be interrupted by the tick's signal. */
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/sigmask.h"
#include "emu/inject.h"

enum { SIGNAL_ROUNDS = 16 };

uint32_t nve_inject_measure_signal(void)
{
	int pid = getpid(), tid = (int)syscall(SYS_gettid);
	uint64_t best = UINT64_MAX;
	sigset_t ours, mask;

	/* The program may have been started with it blocked. */
	sigemptyset(&ours);
	sigaddset(&ours, NVE_INJECT_SIGNAL);
	nve_sigmask(SIG_UNBLOCK, &ours, &mask);
	for (int i = 0; i < SIGNAL_ROUNDS; i++) {
		uint64_t start = nve_clock_ns(CLOCK_THREAD_CPUTIME_ID);

		syscall(SYS_tgkill, pid, tid, NVE_INJECT_SIGNAL);
		best = NVE_MIN(best, nve_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start);
	}
	nve_sigmask(SIG_SETMASK, &mask, NULL);
	return (uint32_t)best;
}
