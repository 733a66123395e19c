/*
 * Calls that change what the whole process may do: system-call filters, and namespaces that only a
 * process of one thread may enter.
 */
#include "preload/hook_process.h"

#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "preload/real.h"
#include "runtime.h"

/* Without either the kernel refuses a filter: programs ask so whether there are any. */
static bool may_filter(void)
{
	return geteuid() == 0 || nve_real.prctl(PR_GET_NO_NEW_PRIVS, 0ul, 0ul, 0ul, 0ul) == 1;
}

void nve_hook_before_seccomp(unsigned operation, unsigned long filter)
{
	bool strict = operation == SECCOMP_SET_MODE_STRICT && !filter;

	if (nve_runtime_follows_threads() &&
	    (strict || (operation == SECCOMP_SET_MODE_FILTER && filter && may_filter())))
		nve_runtime_before_filter();
}

void nve_hook_before_prctl(int option, unsigned long mode, unsigned long filter)
{
	/* We read the time stamp counter everywhere: without it, ours is the first fault. */
	if (option == PR_SET_TSC && mode == PR_TSC_SIGSEGV && nve_runtime_follows_threads())
		nve_runtime_before_filter();
	if (option != PR_SET_SECCOMP)
		return;
	if (mode == SECCOMP_MODE_STRICT)
		nve_hook_before_seccomp(SECCOMP_SET_MODE_STRICT, 0);
	else if (mode == SECCOMP_MODE_FILTER)
		nve_hook_before_seccomp(SECCOMP_SET_MODE_FILTER, filter);
}

NVE_EXPORT int prctl(int option, ...)
{
	unsigned long arg[4];
	va_list args;

	va_start(args, option);
	for (int i = 0; i < 4; i++)
		arg[i] = va_arg(args, unsigned long);
	va_end(args);
	nve_real_setup();
	nve_hook_before_prctl(option, arg[0], arg[1]);
	return nve_real.prctl(option, arg[0], arg[1], arg[2], arg[3]);
}

bool nve_hook_unshare_wants_one(unsigned long flags)
{
	return (flags & (CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM)) != 0;
}

NVE_EXPORT int unshare(int flags)
{
	bool alone = nve_hook_unshare_wants_one((unsigned)flags);
	int rc;

	nve_real_setup();
	if (alone)
		nve_runtime_alone(true);
	rc = nve_real.unshare(flags);
	if (alone)
		nve_runtime_alone(false);
	return rc;
}

NVE_EXPORT int setns(int fd, int type)
{
	int rc;

	nve_real_setup();
	nve_runtime_alone(true);
	rc = nve_real.setns(fd, type);
	nve_runtime_alone(false);
	return rc;
}
