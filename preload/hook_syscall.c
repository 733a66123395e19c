/*
 * syscall(): the calls that are hooked by name are so by number. All others jump on to the C
 * library's function, so that even those that return twice, or on another stack, see no difference.
 */
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/hook_process.h"
#include "preload/hook_signal.h"
#include "preload/real.h"
#include "runtime.h"

/* The jump below reads it without a name for the offset. */
_Static_assert(offsetof(struct nve_real, syscall) == 0, "not the first member");

#define STRING(x)      #x
#define NUMBER(x)      STRING(x)
#define HOOKED(number) "	cmp $" NUMBER(number) ", %rdi\n	je 1f\n"

/* clang-format off */
__asm__(".text\n"
	".p2align 4\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	HOOKED(SYS_rt_sigaction)
	HOOKED(SYS_prctl)
	HOOKED(SYS_seccomp)
	HOOKED(SYS_unshare)
	HOOKED(SYS_setns)
	HOOKED(SYS_exit_group)
	"	mov nve_real(%rip), %rax\n"
	"	test %rax, %rax\n"
	"	je 1f\n"
	"	jmp *%rax\n"
	"1:	sub $56, %rsp\n"
	"	mov %rdi, (%rsp)\n"
	"	mov %rsi, 8(%rsp)\n"
	"	mov %rdx, 16(%rsp)\n"
	"	mov %rcx, 24(%rsp)\n"
	"	mov %r8, 32(%rsp)\n"
	"	mov %r9, 40(%rsp)\n"
	"	mov 64(%rsp), %rax\n"
	"	mov %rax, 48(%rsp)\n"
	"	mov %rsp, %rdi\n"
	"	call nve_hook_syscall\n"
	"	add $56, %rsp\n"
	"	ret\n"
	".size syscall, .-syscall\n");
/* clang-format on */

/* arg: the number and six arguments. */
long nve_hook_syscall(const long *arg) __attribute__((visibility("hidden")));

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
	case SYS_unshare:
		if (!nve_hook_unshare_wants_one((unsigned long)arg[1]))
			break;
		return call_alone(arg);
	case SYS_setns: return call_alone(arg);
	}
	return call(arg);
}
