#include "count/ahead/touch.h"

#include <sys/platform/x86.h>
#include <errno.h>

/*
 * In assembly, since the handler of a fault must know the exact instructions that may fault and
 * where to go on. lfence keeps the load between the two rdtsc: it neither starts before the first
 * reading nor is it outstanding at the second.
 */
__asm__(".text\n"
	".p2align 6\n"
	".type nve_touch_timed, @function\n"
	".hidden nve_touch_timed\n"
	".globl nve_touch_timed\n"
	"nve_touch_timed:\n"
	"	lfence\n"
	"	rdtsc\n"
	"	shl $32, %rdx\n"
	"	lea (%rax,%rdx), %rcx\n"
	"	lfence\n"
	"nve_touch_timed_load:\n"
	"	movzbl (%rdi), %eax\n"
	"nve_touch_timed_end:\n"
	"	lfence\n"
	"	rdtsc\n"
	"	shl $32, %rdx\n"
	"	or %rdx, %rax\n"
	"	lfence\n"
	"	sub %rcx, %rax\n"
	"	ret\n"
	".size nve_touch_timed, .-nve_touch_timed\n"

	".p2align 4\n"
	".type touch_translate, @function\n"
	"touch_translate:\n"
	"	clwb (%rdi)\n"
	"touch_translate_end:\n"
	"	mfence\n"
	"	xor %eax, %eax\n"
	"	ret\n"

	".p2align 4\n"
	".type touch_copy, @function\n"
	"touch_copy:\n"
	"	mov %rdx, %rcx\n"
	"touch_copy_load:\n"
	"	rep movsb\n"
	"touch_copy_end:\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	".size touch_copy, .-touch_copy\n"

	".p2align 4\n"
	".type touch_word, @function\n"
	"touch_word:\n"
	"	mov (%rsi), %rax\n"
	"touch_word_end:\n"
	"	mov %rax, (%rdi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	".size touch_word, .-touch_word\n"

	".p2align 4\n"
	".type touch_pair, @function\n"
	"touch_pair:\n"
	"	movups (%rsi), %xmm0\n"
	"touch_pair_end:\n"
	"	movups %xmm0, (%rdi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"

	"touch_failed:\n"
	"	mov $-1, %rax\n"
	"	ret\n");

extern const char nve_touch_timed_load[] __asm__("nve_touch_timed_load");
extern const char nve_touch_timed_end[] __asm__("nve_touch_timed_end");
extern const char touch_translate_end[] __asm__("touch_translate_end");
extern const char touch_copy_load[] __asm__("touch_copy_load");
extern const char touch_copy_end[] __asm__("touch_copy_end");
extern const char touch_word_end[] __asm__("touch_word_end");
extern const char touch_pair_end[] __asm__("touch_pair_end");
extern const char touch_failed[] __asm__("touch_failed");
int touch_translate(uint64_t addr) __asm__("touch_translate");
int touch_copy(void *dst, uint64_t addr, size_t size) __asm__("touch_copy");
int touch_word(void *dst, uint64_t addr) __asm__("touch_word");
int touch_pair(void *dst, uint64_t addr) __asm__("touch_pair");

bool nve_touch_can_translate(void)
{
	return CPU_FEATURE_PRESENT(CLWB);
}

int nve_touch_translate(uint64_t addr)
{
	return touch_translate(addr) ? -EFAULT : 0;
}

int nve_touch_copy(void *dst, uint64_t addr, size_t size)
{
	int failed;

	/* The common sizes without the start-up cost of a string instruction. */
	if (size == 8)
		failed = touch_word(dst, addr);
	else if (size == 16)
		failed = touch_pair(dst, addr);
	else
		failed = touch_copy(dst, addr, size);
	return failed ? -EFAULT : 0;
}

static bool within(uint64_t ip, const void *start, const void *end)
{
	return ip >= (uintptr_t)start && ip < (uintptr_t)end;
}

bool nve_touch_fixup(ucontext_t *uc)
{
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];

	if (!within(ip, nve_touch_timed_load, nve_touch_timed_end) &&
	    !within(ip, (const void *)(uintptr_t)touch_translate, touch_translate_end) &&
	    !within(ip, touch_copy_load, touch_copy_end) &&
	    !within(ip, (const void *)(uintptr_t)touch_word, touch_word_end) &&
	    !within(ip, (const void *)(uintptr_t)touch_pair, touch_pair_end))
		return false;
	uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)touch_failed;
	return true;
}
