#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "count/ahead/touch.h"
#include "emu/guard.h"
#include "emu/restart.h"

enum {
	RESTART_BYTES = 7, /* mov $number, %eax; syscall */
	SYSCALL_BYTES = 2,
};

/* Signals of the program that wait to be delivered once our handler is done. */
static bool program_signal_waits(const ucontext_t *uc)
{
	uint64_t pending = 0, blocked;

	memcpy(&blocked, &uc->uc_sigmask, sizeof(blocked));
	syscall(SYS_rt_sigpending, &pending, sizeof(pending));
	return (pending & ~blocked) != 0;
}

/*
 * Arguments are still in their registers; the number, whose place the result took, is read from the
 * instruction before; where the code looks otherwise the result stays. It stays, too, where a
 * signal of the program's own interrupts the call as well, and for the two calls that may not be
 * made twice.
 */
void nve_restart_call(ucontext_t *uc)
{
	greg_t *regs = uc->uc_mcontext.gregs;
	uint8_t code[RESTART_BYTES];
	uint32_t number;
	int failed;

	if (regs[REG_RAX] != -EINTR)
		return;
	nve_guard(true);
	failed = nve_touch_copy(code, (uint64_t)regs[REG_RIP] - RESTART_BYTES, RESTART_BYTES);
	nve_guard(false);
	if (failed || code[0] != 0xb8 || code[5] != 0x0f || code[6] != 0x05)
		return;
	memcpy(&number, code + 1, sizeof(number));
	if (number == SYS_close || number == SYS_connect || program_signal_waits(uc))
		return;
	regs[REG_RIP] -= RESTART_BYTES;
}

/* The instruction leaves the address behind it in rcx. For another go the kernel goes back to it.
 */
enum nve_restart nve_restart_kind(const ucontext_t *uc)
{
	const greg_t *regs = uc->uc_mcontext.gregs;

	if (regs[REG_RCX] == regs[REG_RIP] + SYSCALL_BYTES)
		return NVE_RESTART_BY_KERNEL;
	if (regs[REG_RCX] == regs[REG_RIP] && regs[REG_RAX] == -EINTR)
		return NVE_RESTART_EINTR;
	return NVE_RESTART_NONE;
}
