/* What the context that a tick has interrupted tells by itself. */
#ifndef NVE_COUNT_AHEAD_CONTEXT_H
#define NVE_COUNT_AHEAD_CONTEXT_H

#include <stdbool.h>
#include <ucontext.h>

/*
 * A tick that fell into a system call is delivered at its return: just after `syscall`, which
 * leaves that address in rcx. The code is read only then, and under the guard: it may be
 * execute-only. In the handler.
 */
bool nve_context_is_after_syscall(const ucontext_t *uc, void (*guard)(bool enter));

#endif
