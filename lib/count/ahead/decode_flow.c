/*
 * How long results take, by kinds of instruction. The figures are those of recent x86 cores (AMD
 * Zen 2 to 5, Intel Skylake to Golden Cove differ by a cycle or two), as their makers' optimisation
 * guides give them; they serve to tell how much of a program's work runs in the shadow of a miss.
 */
#include "count/ahead/decode.h"

enum {
	CYCLES_MOVE = 0, /* register moves are renamed away */
	CYCLES_SIMPLE = 1,
	CYCLES_MULTIPLY = 3,
	CYCLES_DIVIDE = 14,
	CYCLES_ATOMIC = 18,
	CYCLES_FP = 4,
	CYCLES_FP_DIVIDE = 13,
	CYCLES_FP_ROOT = 18,
	CYCLES_CROSS = 3, /* between register files, between lanes */
	STACK_POINTER = 4,
};

static bool is_register_move(const ZydisDecodedInstruction *raw, const struct nve_insn *insn)
{
	return raw->meta.category == ZYDIS_CATEGORY_DATAXFER && !insn->has_mem &&
	       (raw->mnemonic == ZYDIS_MNEMONIC_MOV || insn->gpr_read == 0) && insn->k_read == 0;
}

static uint8_t integer_cycles(const ZydisDecodedInstruction *raw)
{
	switch (raw->mnemonic) {
	case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_MUL:
	case ZYDIS_MNEMONIC_MULX:
	case ZYDIS_MNEMONIC_CRC32:
	case ZYDIS_MNEMONIC_PDEP:
	case ZYDIS_MNEMONIC_PEXT: return CYCLES_MULTIPLY;
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV: return CYCLES_DIVIDE;
	default: break;
	}
	return raw->attributes & ZYDIS_ATTRIB_HAS_LOCK ? CYCLES_ATOMIC : CYCLES_SIMPLE;
}

static bool is_floating(const ZydisDecodedOperand *op)
{
	return op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
	       op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT64;
}

static uint8_t vector_cycles(const struct nve_decoder *decoder, const struct nve_insn *insn)
{
	const ZydisDecodedInstruction *raw = &decoder->raw;

	switch (raw->mnemonic) {
	case ZYDIS_MNEMONIC_DIVSS:
	case ZYDIS_MNEMONIC_DIVSD:
	case ZYDIS_MNEMONIC_DIVPS:
	case ZYDIS_MNEMONIC_DIVPD:
	case ZYDIS_MNEMONIC_VDIVSS:
	case ZYDIS_MNEMONIC_VDIVSD:
	case ZYDIS_MNEMONIC_VDIVPS:
	case ZYDIS_MNEMONIC_VDIVPD: return CYCLES_FP_DIVIDE;
	case ZYDIS_MNEMONIC_SQRTSS:
	case ZYDIS_MNEMONIC_SQRTSD:
	case ZYDIS_MNEMONIC_SQRTPD:
	case ZYDIS_MNEMONIC_VSQRTSD:
	case ZYDIS_MNEMONIC_VSQRTPD: return CYCLES_FP_ROOT;
	default: break;
	}
	if (insn->gpr_read | insn->gpr_write)
		return CYCLES_CROSS;
	switch (raw->meta.category) {
	case ZYDIS_CATEGORY_DATAXFER: return CYCLES_MOVE;
	case ZYDIS_CATEGORY_LOGICAL:
	case ZYDIS_CATEGORY_LOGICAL_FP:
	case ZYDIS_CATEGORY_BLEND: return CYCLES_SIMPLE;
	case ZYDIS_CATEGORY_AES:
	case ZYDIS_CATEGORY_VFMA: return CYCLES_FP;
	default: break;
	}
	return is_floating(&decoder->operand[0]) ? CYCLES_FP : CYCLES_SIMPLE;
}

/* xor and sub of a register with itself: a constant. */
static bool is_zeroing(const struct nve_decoder *decoder)
{
	const ZydisDecodedOperand *op = decoder->operand;

	return (decoder->raw.mnemonic == ZYDIS_MNEMONIC_XOR ||
		decoder->raw.mnemonic == ZYDIS_MNEMONIC_SUB) &&
	       op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       op[1].type == ZYDIS_OPERAND_TYPE_REGISTER && op[0].reg.value == op[1].reg.value;
}

/* The stack pointer's steps are kept by an engine of its own: nobody waits for them. */
static bool is_stack_step(const ZydisDecodedInstruction *raw)
{
	switch (raw->meta.category) {
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_POP:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET: return true;
	default: return false;
	}
}

/* As makers' optimisation guides list them. */
static bool is_fusible(const ZydisDecodedInstruction *raw, const struct nve_insn *insn)
{
	switch (raw->mnemonic) {
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_TEST: return true;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC: return !insn->has_mem;
	default: return false;
	}
}

void nve_decode_flow(const struct nve_decoder *decoder, struct nve_insn *insn)
{
	bool vector = insn->vec_read || insn->vec_write || insn->k_read || insn->k_write;

	if (is_zeroing(decoder))
		insn->flow |= NVE_FLOW_CONSTANT;
	if (is_stack_step(&decoder->raw))
		insn->flow |= NVE_FLOW_STACK;
	if (decoder->raw.meta.category == ZYDIS_CATEGORY_COND_BR)
		insn->flow |= NVE_FLOW_CONDITION;
	if (is_fusible(&decoder->raw, insn))
		insn->flow |= NVE_FLOW_FUSES;
	if (is_register_move(&decoder->raw, insn))
		insn->latency_cycles = CYCLES_MOVE;
	else
		insn->latency_cycles =
			vector ? vector_cycles(decoder, insn) : integer_cycles(&decoder->raw);
}

static uint64_t all_registers(uint16_t gpr, uint32_t vec, uint8_t k, bool flags)
{
	return (uint64_t)gpr | (uint64_t)vec << 16 | (uint64_t)k << 48 | (uint64_t)flags << 56;
}

struct nve_flow nve_insn_flow(const struct nve_insn *insn)
{
	struct nve_flow flow = {
		.reads = all_registers(insn->gpr_read, insn->vec_read, insn->k_read,
				       insn->flags_read != 0),
		.writes = all_registers(insn->gpr_write, insn->vec_write, insn->k_write,
					insn->flags_write != 0),
		.latency_cycles = insn->latency_cycles,
		.is_conditional_branch = insn->flow & NVE_FLOW_CONDITION,
		.may_fuse = insn->flow & NVE_FLOW_FUSES,
	};

	if (insn->base < NVE_NO_REG)
		flow.reads |= 1ull << insn->base;
	if (insn->index < NVE_NO_REG && !insn->index_bytes)
		flow.reads |= 1ull << insn->index;
	if (insn->flow & NVE_FLOW_CONSTANT)
		flow.reads = 0;
	if (insn->flow & NVE_FLOW_STACK) {
		flow.reads &= ~(1ull << STACK_POINTER);
		flow.writes &= ~(1ull << STACK_POINTER);
	}
	return flow;
}
