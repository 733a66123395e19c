/*
 * heap_frames: allocates through a function whose frame is told by an expression, as that of
 * hand-written code that aligns its stack is: where the caller's frame begins stands in memory.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

enum { BLOCKS = 20000, SIZE = 24 };

void *through_expression(void *(*allocate)(size_t size), size_t size);

__asm__(".text\n"
	".type through_expression, @function\n"
	".globl through_expression\n"
	"through_expression:\n"
	"	.cfi_startproc\n"
	"	mov %rsp, %rax\n"
	"	.cfi_def_cfa_register %rax\n"
	"	sub $64, %rsp\n"
	"	and $-64, %rsp\n"
	"	mov %rax, 24(%rsp)\n"
	"	.cfi_escape 0x0f, 0x05, 0x77, 0x18, 0x06, 0x23, 0x08\n" /* *(rsp + 24) + 8 */
	"	mov %rdi, %rdx\n"
	"	mov %rsi, %rdi\n"
	"	call *%rdx\n"
	"	mov 24(%rsp), %rsi\n"
	"	.cfi_def_cfa %rsi, 8\n"
	"	mov %rsi, %rsp\n"
	"	.cfi_def_cfa_register %rsp\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size through_expression, .-through_expression\n");

static __attribute__((noinline)) void *allocate(size_t size)
{
	void *p = malloc(size);

	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}

static __attribute__((noinline)) void *outer(size_t size)
{
	void *p = through_expression(allocate, size);

	__asm__ volatile("" : : "r"(p) : "memory");
	return p;
}

int main(void)
{
	static void *block[BLOCKS];

	for (int i = 0; i < BLOCKS; i++)
		CHECK(block[i] = outer(SIZE));
	for (int i = 0; i < BLOCKS; i++)
		free(block[i]);
	puts("done");
	return 0;
}
