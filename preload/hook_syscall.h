/*
 * syscall(): a few calls come to nve_hook_syscall(). All others jump on to the C library's
 * function, so that even those that return twice, or on another stack, see no difference: an entry
 * in assembly, syscall_NAME.c for each kind of processor.
 */
#ifndef NVE_PRELOAD_HOOK_SYSCALL_H
#define NVE_PRELOAD_HOOK_SYSCALL_H

#include <stddef.h>
#include <sys/syscall.h>

#include "preload/real.h"

/* The entry reads it without a name for the offset. */
_Static_assert(offsetof(struct nve_real, syscall) == 0, "not the first member");

#define NVE_SYSCALL_STRING(x) #x
#define NVE_SYSCALL_NUMBER(x) NVE_SYSCALL_STRING(x)

/* The calls that must come here: X(number), each number as the assembler reads it. */
#define NVE_SYSCALL_EACH_HOOKED(X)                                                                 \
	X(SYS_rt_sigaction)                                                                        \
	X(SYS_prctl)                                                                               \
	X(SYS_seccomp)                                                                             \
	X(SYS_unshare)                                                                             \
	X(SYS_setns)                                                                               \
	X(SYS_exit_group)                                                                          \
	X(SYS_execve)                                                                              \
	X(SYS_execveat)                                                                            \
	X(SYS_futex)

/* arg: the number and six arguments, and where the call returns to. */
long nve_hook_syscall(const long *arg) __attribute__((visibility("hidden")));

#endif
