/* Which lanes of memory an instruction touches: masks, gathers, scatters. */
#include "count/ahead/exec.h"

#include "base/base.h"

/* Exception classes in which a lane that is masked out cannot fault. */
static const uint16_t suppressing[] = {
	ZYDIS_EXCEPTION_CLASS_E1,  ZYDIS_EXCEPTION_CLASS_E2, ZYDIS_EXCEPTION_CLASS_E3,
	ZYDIS_EXCEPTION_CLASS_E4,  ZYDIS_EXCEPTION_CLASS_E5, ZYDIS_EXCEPTION_CLASS_E6,
	ZYDIS_EXCEPTION_CLASS_E11,
};

/* The mask of vdbpsadbw is of words that each come from several bytes. */
static bool suppresses_faults(const ZydisDecodedInstruction *raw)
{
	if (raw->mnemonic == ZYDIS_MNEMONIC_VDBPSADBW)
		return false;
	return nve_decode_is_one_of(raw->meta.exception_class, suppressing,
				    NVE_ARRAY_SIZE(suppressing));
}

/* True if lane i of the memory operand belongs to lane i of another operand, mask or not. */
static bool has_equal_lanes(const struct nve_decoder *decoder, const ZydisDecodedOperand *mem)
{
	for (unsigned i = 0; i < decoder->raw.operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &decoder->operand[i];

		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		switch (ZydisRegisterGetClass(op->reg.value)) {
		case ZYDIS_REGCLASS_XMM:
		case ZYDIS_REGCLASS_YMM:
		case ZYDIS_REGCLASS_ZMM:
			if (op->element_count == mem->element_count)
				return true;
			break;
		default: break;
		}
	}
	return false;
}

static void fill_sign_lanes(const struct nve_decoder *decoder, struct nve_insn *insn)
{
	switch (decoder->raw.mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		insn->lanes = NVE_LANES_SIGN;
		insn->lane_reg = (uint8_t)ZydisRegisterGetId(decoder->operand[1].reg.value);
		break;
	default: break;
	}
}

void nve_decode_lanes(const struct nve_decoder *decoder, struct nve_insn *insn)
{
	const ZydisDecodedInstruction *raw = &decoder->raw;
	const ZydisDecodedOperand *mem = nve_decode_memory(decoder);
	ZydisRegister mask = raw->avx.mask.reg;

	if (!mem)
		return;
	fill_sign_lanes(decoder, insn);
	if (mask < ZYDIS_REGISTER_K1 || mask > ZYDIS_REGISTER_K7 || raw->avx.broadcast.mode)
		return;
	/* A store never writes the lanes left out; a load may read them. */
	if (!(insn->mem_kind & NVE_ACCESS_WRITE) &&
	    (!suppresses_faults(raw) || !has_equal_lanes(decoder, mem)))
		return;
	insn->lane_reg = (uint8_t)(mask - ZYDIS_REGISTER_K0);
	insn->lanes = raw->meta.category == ZYDIS_CATEGORY_COMPRESS ||
				      raw->meta.category == ZYDIS_CATEGORY_EXPAND
			      ? NVE_LANES_COMPRESS
			      : NVE_LANES_K;
}

/* Gathers and scatters by 64-bit indices. */
static const uint16_t wide_indices[] = {
	ZYDIS_MNEMONIC_VGATHERQPS,  ZYDIS_MNEMONIC_VGATHERQPD,  ZYDIS_MNEMONIC_VPGATHERQD,
	ZYDIS_MNEMONIC_VPGATHERQQ,  ZYDIS_MNEMONIC_VSCATTERQPS, ZYDIS_MNEMONIC_VSCATTERQPD,
	ZYDIS_MNEMONIC_VPSCATTERQD, ZYDIS_MNEMONIC_VPSCATTERQQ,
};

nve_exec_fn *nve_decode_gather(const struct nve_decoder *decoder, struct nve_insn *insn)
{
	const ZydisDecodedOperand *op = decoder->operand, *mem = nve_decode_memory(decoder);
	bool is_gather = !(mem->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
	bool is_evex = decoder->raw.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	unsigned data = is_gather ? 0 : 2, lanes;

	if (decoder->raw.operand_count_visible != 3 || op[data].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return nve_exec_unsupported;
	insn->index_bytes = nve_decode_is_one_of(decoder->raw.mnemonic, wide_indices,
						 NVE_ARRAY_SIZE(wide_indices))
				    ? 8
				    : 4;
	lanes = NVE_MIN(op[data].size / 8u / insn->lane_bytes,
			ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, mem->mem.index) / 8u /
				insn->index_bytes);
	insn->mem_bytes = (uint16_t)(lanes * insn->lane_bytes);
	insn->op = (uint8_t)ZydisRegisterGetId(op[data].reg.value);
	insn->lanes = is_evex ? NVE_LANES_K : NVE_LANES_SIGN;
	insn->lane_reg = (uint8_t)(ZydisRegisterGetId(op[is_evex ? 1 : 2].reg.value));
	return is_gather ? nve_exec_gather : nve_exec_scatter;
}
