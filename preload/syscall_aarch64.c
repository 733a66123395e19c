#include "preload/hook_syscall.h"

#define HOOKED(number) "	cmp x0, #" NVE_SYSCALL_NUMBER(number) "\n	b.eq 1f\n"

/* clang-format off */
__asm__(".text\n"
	".p2align 4\n"
	".globl syscall\n"
	".type syscall, %function\n"
	"syscall:\n"
	NVE_SYSCALL_EACH_HOOKED(HOOKED)
	"	adrp x16, nve_real\n"
	"	ldr x16, [x16, :lo12:nve_real]\n"
	"	cbz x16, 1f\n"
	"	br x16\n"
	"1:	stp x29, x30, [sp, #-80]!\n"
	"	mov x29, sp\n"
	"	stp x0, x1, [sp, #16]\n"
	"	stp x2, x3, [sp, #32]\n"
	"	stp x4, x5, [sp, #48]\n"
	"	stp x6, x30, [sp, #64]\n"
	"	add x0, sp, #16\n"
	"	bl nve_hook_syscall\n"
	"	ldp x29, x30, [sp], #80\n"
	"	ret\n"
	".size syscall, .-syscall\n");
/* clang-format on */
