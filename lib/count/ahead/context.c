#include "count/ahead/context.h"

#include <stdint.h>

#include "count/ahead/touch.h"

bool nve_context_is_after_syscall(const ucontext_t *uc, void (*guard)(bool enter))
{
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	uint8_t code[2];
	int failed;

	if ((uint64_t)uc->uc_mcontext.gregs[REG_RCX] != ip)
		return false;
	guard(true);
	failed = nve_touch_copy(code, ip - sizeof(code), sizeof(code));
	guard(false);
	return !failed && code[0] == 0x0f && code[1] == 0x05;
}
