/*
 * Integer arithmetic done by the processor itself: each function is one instruction, with the
 * arithmetic flags loaded before and taken after it, so that those which the manual leaves
 * undefined come out as on this machine too.
 */
#ifndef NVE_AHEAD_ALU_H
#define NVE_AHEAD_ALU_H

#include <stdbool.h>
#include <stdint.h>

enum nve_alu {
	NVE_ALU_ADD,
	NVE_ALU_ADC,
	NVE_ALU_SUB,
	NVE_ALU_SBB,
	NVE_ALU_AND,
	NVE_ALU_OR,
	NVE_ALU_XOR,
	NVE_ALU_INC,
	NVE_ALU_DEC,
	NVE_ALU_NEG,
	NVE_ALU_SHL,
	NVE_ALU_SHR,
	NVE_ALU_SAR,
	NVE_ALU_ROL,
	NVE_ALU_ROR,
	NVE_ALU_RCL,
	NVE_ALU_RCR,
	NVE_ALU_BSF,
	NVE_ALU_BSR,
	NVE_ALU_TZCNT,
	NVE_ALU_LZCNT,
	NVE_ALU_BT,
	NVE_ALU_BTS,
	NVE_ALU_BTR,
	NVE_ALU_BTC,
	NVE_ALU_IMUL,
	NVE_ALU_COUNT
};

/* First operand and flags in, result and flags out; result bits beyond the size are noise. */
uint64_t nve_alu(enum nve_alu op, unsigned bytes, uint64_t a, uint64_t b, uint64_t *flags);

/* rdx:rax (ax for one byte, in *low alone) = rax * b. */
void nve_alu_multiply(bool is_signed, unsigned bytes, uint64_t b, uint64_t *low, uint64_t *high,
		      uint64_t *flags);

/* Divides rdx:rax (ax for one byte, in *low alone) by b, as one of the size. False (nothing
 * changed) if the processor would fault. */
bool nve_alu_divide(bool is_signed, unsigned bytes, uint64_t b, uint64_t *low, uint64_t *high,
		    uint64_t *flags);

#endif
