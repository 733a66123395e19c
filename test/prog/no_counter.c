/* For the rest of its life, the process and its children have no time-stamp counter (x86-64). */
#include <setjmp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static sigjmp_buf back;

static void jump_back(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static int counter_faults(void)
{
	if (sigsetjmp(back, 1))
		return 0;
	__builtin_ia32_rdtsc();
	return 1;
}

int main(void)
{
	int status;
	pid_t child;

	CHECK(signal(SIGSEGV, jump_back) != SIG_ERR);
	CHECK(!prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0));
	CHECK(counter_faults() == 0);
	work_ms(100);
	child = fork();
	if (!child) {
		work_ms(30);
		_exit(counter_faults());
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	return counter_faults();
}
