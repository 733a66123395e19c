/*
 * Alternate signal stacks. Our handler runs on the program's, as runtimes with small stacks want
 * it. One too small for the kernel's frame and our handler is replaced by a larger one of ours, and
 * the program is shown its own.
 */
#include "preload/hook_altstack.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/arch.h"
#include "preload/real.h"
#include "runtime.h"

enum { HANDLER_BYTES = 4096, STACK_BYTES = 65536 };

/* Of the calling thread. */
static __thread struct {
	void *stack; /* ours; NULL: none */
	stack_t program;
} self;

static bool is_small(const stack_t *stack)
{
	return !(stack->ss_flags & SS_DISABLE) &&
	       stack->ss_size < getauxval(AT_MINSIGSTKSZ) + HANDLER_BYTES &&
	       stack->ss_size >= NVE_ARCH_SIGSTACK_BYTES;
}

/* Shows the program its own stack instead of ours. */
static void translate(stack_t *old)
{
	int flags = old->ss_flags;

	if (!self.stack || old->ss_sp != self.stack)
		return;
	*old = self.program;
	old->ss_flags |= flags & SS_ONSTACK;
}

static int replace(const stack_t *stack, stack_t *old)
{
	stack_t larger = *stack;
	int rc;

	if (!self.stack) {
		void *mem = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

		if (mem == MAP_FAILED)
			return nve_real.sigaltstack(stack, old);
		self.stack = mem;
	}
	larger.ss_sp = self.stack;
	larger.ss_size = STACK_BYTES;
	rc = nve_real.sigaltstack(&larger, old);
	if (rc)
		return rc;
	if (old)
		translate(old);
	self.program = *stack;
	return 0;
}

NVE_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	stack_t given;
	int rc;

	nve_real_setup();
	if (!nve_runtime_hides_signals())
		return nve_real.sigaltstack(stack, old);
	if (stack) {
		given = *stack;
		if (is_small(&given))
			return replace(&given, old);
	}
	rc = nve_real.sigaltstack(stack, old);
	if (!rc && old)
		translate(old);
	return rc;
}

void nve_hook_altstack_end(void)
{
	stack_t now;

	if (!self.stack || !nve_runtime_hides_signals())
		return;
	if (!nve_real.sigaltstack(NULL, &now) && now.ss_sp == self.stack &&
	    nve_real.sigaltstack(&self.program, NULL))
		return; /* the thread stands on it */
	munmap(self.stack, STACK_BYTES);
	self.stack = NULL;
}
