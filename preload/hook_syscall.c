/* The calls that are hooked by name are so by number. */
#include "preload/hook_syscall.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/handover.h"
#include "preload/hook_exec.h"
#include "preload/hook_process.h"
#include "preload/hook_signal.h"
#include "preload/real.h"
#include "runtime.h"

static long call(const long *arg)
{
	return nve_real.syscall(arg[0], arg[1], arg[2], arg[3], arg[4], arg[5], arg[6]);
}

static long call_alone(const long *arg)
{
	long result;

	nve_runtime_alone(true);
	result = call(arg);
	nve_runtime_alone(false);
	return result;
}

/* Runtimes with locks of their own (Rust's, C++20's atomics) end here. */
static long call_futex(const long *arg)
{
	long result;

	if (!(nve_handover_armed & NVE_HANDOVER_SYNC))
		return call(arg);
	switch (arg[2] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_WAIT_REQUEUE_PI: break;
	default: nve_handover_pass((uint64_t)arg[7]); return call(arg);
	}
	nve_handover_before_wait();
	result = call(arg);
	nve_handover_after_wait((uint64_t)arg[7]);
	return result;
}

long nve_hook_syscall(const long *arg)
{
	long result;

	nve_real_setup();
	switch (arg[0]) {
	case SYS_exit_group: nve_runtime_stop(); break;
	case SYS_prctl:
		nve_hook_before_prctl((int)arg[1], (unsigned long)arg[2], (unsigned long)arg[3]);
		break;
	case SYS_seccomp: nve_hook_before_seccomp((unsigned)arg[1], (unsigned long)arg[3]); break;
	case SYS_rt_sigaction:
		if (nve_hook_rt_sigaction((int)arg[1], (const void *)arg[2], (void *)arg[3],
					  &result))
			return result;
		break;
	case SYS_execve:
		return nve_hook_execve((const char *)arg[1], (char *const *)arg[2],
				       (char *const *)arg[3]);
	case SYS_execveat:
		return nve_hook_execveat((int)arg[1], (const char *)arg[2], (char *const *)arg[3],
					 (char *const *)arg[4], (int)arg[5]);
	case SYS_unshare:
		if (!nve_hook_unshare_wants_one((unsigned long)arg[1]))
			break;
		return call_alone(arg);
	case SYS_setns: return call_alone(arg);
	case SYS_futex: return call_futex(arg);
	}
	return call(arg);
}
