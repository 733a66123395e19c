#include "count/ahead/decode.h"

#include <string.h>

#include "base/base.h"
#include "count/ahead/exec.h"

bool nve_decode_is_one_of(unsigned what, const uint16_t *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == what)
			return true;
	return false;
}

void nve_decoder_init(struct nve_decoder *decoder)
{
	ZydisDecoderInit(&decoder->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	nve_decode_integer_init(decoder);
}

struct nve_operand nve_decode_gpr(ZydisRegister reg)
{
	struct nve_operand op = {.kind = NVE_OPERAND_REG};

	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR64:
		op.reg = (uint8_t)(reg - ZYDIS_REGISTER_RAX);
		op.bytes = 8;
		return op;
	case ZYDIS_REGCLASS_GPR32:
		op.reg = (uint8_t)(reg - ZYDIS_REGISTER_EAX);
		op.bytes = 4;
		return op;
	case ZYDIS_REGCLASS_GPR16:
		op.reg = (uint8_t)(reg - ZYDIS_REGISTER_AX);
		op.bytes = 2;
		return op;
	case ZYDIS_REGCLASS_GPR8:
		op.bytes = 1;
		if (reg >= ZYDIS_REGISTER_SPL) {
			op.reg = (uint8_t)(reg - ZYDIS_REGISTER_SPL + 4);
		} else if (reg >= ZYDIS_REGISTER_AH) {
			op.reg = (uint8_t)(reg - ZYDIS_REGISTER_AH);
			op.shift = 8;
		} else {
			op.reg = (uint8_t)(reg - ZYDIS_REGISTER_AL);
		}
		return op;
	default: op.kind = NVE_OPERAND_NONE; return op;
	}
}

static uint8_t address_reg(ZydisRegister reg)
{
	struct nve_operand op = nve_decode_gpr(reg);

	return op.kind == NVE_OPERAND_REG ? op.reg : NVE_NO_REG;
}

static void fill_visible(const struct nve_decoder *decoder, struct nve_insn *insn)
{
	unsigned count = NVE_MIN(decoder->raw.operand_count_visible, 3u);

	for (unsigned i = 0; i < count; i++) {
		const ZydisDecodedOperand *op = &decoder->operand[i];
		struct nve_operand *to = &insn->operand[i];

		switch (op->type) {
		case ZYDIS_OPERAND_TYPE_REGISTER: *to = nve_decode_gpr(op->reg.value); break;
		case ZYDIS_OPERAND_TYPE_MEMORY:
			to->kind = NVE_OPERAND_MEM;
			to->bytes = (uint8_t)NVE_MIN(op->size / 8u, 255u);
			break;
		case ZYDIS_OPERAND_TYPE_IMMEDIATE:
			to->kind = NVE_OPERAND_IMM;
			to->bytes = (uint8_t)(op->size / 8u);
			insn->imm = op->imm.value.u;
			if (op->imm.is_relative)
				ZydisCalcAbsoluteAddress(&decoder->raw, op, insn->ip, &insn->imm);
			break;
		default: break;
		}
	}
}

const ZydisDecodedOperand *nve_decode_memory(const struct nve_decoder *decoder)
{
	const ZydisDecodedOperand *found = NULL;

	for (unsigned i = 0; i < decoder->raw.operand_count; i++) {
		const ZydisDecodedOperand *op = &decoder->operand[i];

		if (op->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (i < decoder->raw.operand_count_visible)
			return op;
		if (!found || op->mem.base == ZYDIS_REGISTER_RSI)
			found = op;
	}
	return found;
}

static const uint16_t streaming[] = {
	ZYDIS_MNEMONIC_MOVNTI,   ZYDIS_MNEMONIC_MOVNTDQ,    ZYDIS_MNEMONIC_MOVNTPS,
	ZYDIS_MNEMONIC_MOVNTPD,  ZYDIS_MNEMONIC_MOVNTQ,     ZYDIS_MNEMONIC_MOVNTSS,
	ZYDIS_MNEMONIC_MOVNTSD,  ZYDIS_MNEMONIC_VMOVNTDQ,   ZYDIS_MNEMONIC_VMOVNTPS,
	ZYDIS_MNEMONIC_VMOVNTPD, ZYDIS_MNEMONIC_MASKMOVDQU, ZYDIS_MNEMONIC_VMASKMOVDQU,
	ZYDIS_MNEMONIC_MASKMOVQ,
};

static void fill_address(const struct nve_decoder *decoder, const ZydisDecodedOperand *op,
			 struct nve_insn *insn)
{
	insn->disp = (uint64_t)op->mem.disp.value;
	insn->base = address_reg(op->mem.base);
	if (op->mem.base == ZYDIS_REGISTER_RIP || op->mem.base == ZYDIS_REGISTER_EIP)
		insn->disp += insn->ip + insn->length;
	insn->scale = op->mem.scale;
	insn->index = op->mem.type == ZYDIS_MEMOP_TYPE_VSIB
			      ? (uint8_t)ZydisRegisterGetId(op->mem.index)
			      : address_reg(op->mem.index);
	insn->addr32 = decoder->raw.address_width == 32;
	if (op->mem.segment == ZYDIS_REGISTER_FS)
		insn->segment = NVE_SEGMENT_FS;
	else if (op->mem.segment == ZYDIS_REGISTER_GS)
		insn->segment = NVE_SEGMENT_GS;
}

static void fill_memory(const struct nve_decoder *decoder, struct nve_insn *insn)
{
	const ZydisDecodedOperand *op = nve_decode_memory(decoder);

	insn->base = insn->index = NVE_NO_REG;
	if (!op)
		return;
	fill_address(decoder, op, insn);
	insn->has_mem = op->mem.type == ZYDIS_MEMOP_TYPE_MEM;
	insn->mem_bytes = op->size / 8u;
	insn->lane_bytes = (uint8_t)(op->element_size / 8u);
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		insn->mem_kind |= NVE_ACCESS_READ;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		insn->mem_kind |= NVE_ACCESS_WRITE;
	if (nve_decode_is_one_of(decoder->raw.mnemonic, streaming, NVE_ARRAY_SIZE(streaming)))
		insn->mem_kind |= NVE_ACCESS_STREAMING;
}

static void add_register(const struct nve_decoder *decoder, const ZydisDecodedOperand *op,
			 struct nve_insn *insn)
{
	bool read = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	bool write = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	uint32_t bit = 1u << (ZydisRegisterGetId(op->reg.value) & 31);

	/* What is written in part only keeps the rest, and is therefore an input too. */
	read |= (op->actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0;
	switch (ZydisRegisterGetClass(op->reg.value)) {
	case ZYDIS_REGCLASS_GPR8:
	case ZYDIS_REGCLASS_GPR16: read = true; __attribute__((fallthrough));
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		bit = 1u << nve_decode_gpr(op->reg.value).reg;
		insn->gpr_read |= read ? (uint16_t)bit : 0;
		insn->gpr_write |= write ? (uint16_t)bit : 0;
		break;
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		read |= decoder->raw.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
			op->size < 128;
		insn->vec_read |= read ? bit : 0;
		insn->vec_write |= write ? bit : 0;
		break;
	case ZYDIS_REGCLASS_MASK:
		insn->k_read |= read ? (uint8_t)bit : 0;
		insn->k_write |= write ? (uint8_t)bit : 0;
		break;
	default: break;
	}
}

#define BOTH(name) ZYDIS_MNEMONIC_##name, ZYDIS_MNEMONIC_V##name

/* Instructions whose result does not depend on the register that all their sources name. */
static const uint16_t idioms[] = {
	BOTH(PXOR),
	BOTH(XORPS),
	BOTH(XORPD),
	BOTH(PSUBB),
	BOTH(PSUBW),
	BOTH(PSUBD),
	BOTH(PSUBQ),
	BOTH(PCMPEQB),
	BOTH(PCMPEQW),
	BOTH(PCMPEQD),
	BOTH(PCMPEQQ),
	BOTH(PCMPGTB),
	BOTH(PCMPGTW),
	BOTH(PCMPGTD),
	BOTH(PCMPGTQ),
	BOTH(PANDN),
	BOTH(ANDNPS),
	BOTH(ANDNPD),
	ZYDIS_MNEMONIC_VPXORD,
	ZYDIS_MNEMONIC_VPXORQ,
	ZYDIS_MNEMONIC_KXORB,
	ZYDIS_MNEMONIC_KXORW,
	ZYDIS_MNEMONIC_KXORD,
	ZYDIS_MNEMONIC_KXORQ,
	ZYDIS_MNEMONIC_KXNORB,
	ZYDIS_MNEMONIC_KXNORW,
	ZYDIS_MNEMONIC_KXNORD,
	ZYDIS_MNEMONIC_KXNORQ,
};

static void forget_idiom_inputs(const struct nve_decoder *decoder, struct nve_insn *insn)
{
	const ZydisDecodedOperand *op = decoder->operand;
	unsigned last = decoder->raw.operand_count_visible;
	bool masked = decoder->raw.avx.mask.reg != ZYDIS_REGISTER_NONE &&
		      decoder->raw.avx.mask.reg != ZYDIS_REGISTER_K0;

	if (masked)
		return;
	if (decoder->raw.mnemonic == ZYDIS_MNEMONIC_VPTERNLOGD ||
	    decoder->raw.mnemonic == ZYDIS_MNEMONIC_VPTERNLOGQ) {
		uint8_t table = (uint8_t)decoder->raw.raw.imm[0].value.u;

		if (table == 0 || table == 0xff)
			insn->vec_read = 0;
		return;
	}
	if (!nve_decode_is_one_of(decoder->raw.mnemonic, idioms, NVE_ARRAY_SIZE(idioms)) ||
	    last < 2 || op[last - 1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    op[last - 2].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    op[last - 1].reg.value != op[last - 2].reg.value)
		return;
	insn->vec_read = 0;
	insn->k_read = 0;
}

static void fill_masks(const struct nve_decoder *decoder, struct nve_insn *insn)
{
	const ZydisAccessedFlags *flags = decoder->raw.cpu_flags;

	for (unsigned i = 0; i < decoder->raw.operand_count; i++)
		if (decoder->operand[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			add_register(decoder, &decoder->operand[i], insn);
	if (flags) {
		insn->flags_read = flags->tested & NVE_ARITH_FLAGS;
		insn->flags_write =
			(flags->modified | flags->set_0 | flags->set_1 | flags->undefined) &
			NVE_ARITH_FLAGS;
	}
	forget_idiom_inputs(decoder, insn);
	/* The second result is in the other mask register of the pair. */
	if (decoder->raw.mnemonic == ZYDIS_MNEMONIC_VP2INTERSECTD ||
	    decoder->raw.mnemonic == ZYDIS_MNEMONIC_VP2INTERSECTQ)
		insn->k_write |=
			(uint8_t)((insn->k_write & 0x55) << 1 | (insn->k_write & 0xaa) >> 1);
}

static enum nve_rep repeat_prefix(const ZydisDecodedInstruction *raw)
{
	if (raw->attributes & ZYDIS_ATTRIB_HAS_REPNE)
		return NVE_REP_NOT_EQUAL;
	if (raw->attributes & ZYDIS_ATTRIB_HAS_REPE)
		return NVE_REP_EQUAL;
	return raw->attributes & ZYDIS_ATTRIB_HAS_REP ? NVE_REP_ALWAYS : NVE_REP_NONE;
}

int nve_decode(struct nve_decoder *decoder, uint64_t ip, const uint8_t code[16], size_t size,
	       struct nve_insn *insn)
{
	ZyanStatus status = ZydisDecoderDecodeFull(&decoder->zydis, code, NVE_MIN(size, 15u),
						   &decoder->raw, decoder->operand);

	memset(insn, 0, sizeof(*insn));
	if (!ZYAN_SUCCESS(status))
		return status == ZYDIS_STATUS_NO_MORE_DATA && size < 15 ? NVE_STOP_UNMAPPED
									: NVE_STOP_TRAP;
	insn->ip = ip;
	insn->length = decoder->raw.length;
	insn->mnemonic = (uint16_t)decoder->raw.mnemonic;
	memcpy(insn->code, code, insn->length);
	insn->rep = (uint8_t)repeat_prefix(&decoder->raw);
	fill_memory(decoder, insn);
	fill_visible(decoder, insn);
	fill_masks(decoder, insn);
	insn->exec = nve_decode_choose(decoder, insn);
	nve_decode_flow(decoder, insn);
	return 0;
}
