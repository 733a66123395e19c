#include "preload/hook_syscall.h"

#define HOOKED(number) "	cmp $" NVE_SYSCALL_NUMBER(number) ", %rdi\n	je 1f\n"

/* clang-format off */
__asm__(".text\n"
	".p2align 4\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	NVE_SYSCALL_EACH_HOOKED(HOOKED)
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
