#include "count/ahead/decode.h"

#include <string.h>

#include "base/base.h"
#include "count/ahead/exec.h"
#include "count/ahead/host.h"
#include "count/ahead/native.h"

void nve_decoder_init(struct nve_decoder *decoder)
{
	ZydisDecoderInit(&decoder->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

static struct nve_operand gpr_operand(ZydisRegister reg)
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
	default:
		op.kind = NVE_OPERAND_NONE;
		return op;
	}
}

static uint8_t address_reg(ZydisRegister reg)
{
	struct nve_operand op = gpr_operand(reg);

	return op.kind == NVE_OPERAND_REG ? op.reg : NVE_NO_REG;
}

static void fill_visible(const struct nve_decoder *decoder, struct nve_insn *insn)
{
	unsigned count = NVE_MIN(decoder->raw.operand_count_visible, 3u);

	for (unsigned i = 0; i < count; i++) {
		const ZydisDecodedOperand *op = &decoder->operand[i];
		struct nve_operand *to = &insn->operand[i];

		switch (op->type) {
		case ZYDIS_OPERAND_TYPE_REGISTER: *to = gpr_operand(op->reg.value); break;
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

/* The visible memory operand, else the hidden one (of a string instruction: its source). */
static const ZydisDecodedOperand *memory_operand(const struct nve_decoder *decoder)
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

static bool is_streaming(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MOVNTI:
	case ZYDIS_MNEMONIC_MOVNTDQ:
	case ZYDIS_MNEMONIC_MOVNTPS:
	case ZYDIS_MNEMONIC_MOVNTPD:
	case ZYDIS_MNEMONIC_MOVNTQ:
	case ZYDIS_MNEMONIC_MOVNTSS:
	case ZYDIS_MNEMONIC_MOVNTSD:
	case ZYDIS_MNEMONIC_VMOVNTDQ:
	case ZYDIS_MNEMONIC_VMOVNTPS:
	case ZYDIS_MNEMONIC_VMOVNTPD:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
	case ZYDIS_MNEMONIC_MASKMOVQ: return true;
	default: return false;
	}
}

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
	const ZydisDecodedOperand *op = memory_operand(decoder);

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
	if (is_streaming(decoder->raw.mnemonic))
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
	case ZYDIS_REGCLASS_GPR16:
		read = true;
		__attribute__((fallthrough));
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		bit = 1u << gpr_operand(op->reg.value).reg;
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

/* Instructions whose result does not depend on the register that all their sources name. */
static bool is_idiom(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
#define BOTH(name) case ZYDIS_MNEMONIC_##name: case ZYDIS_MNEMONIC_V##name
	BOTH(PXOR): BOTH(XORPS): BOTH(XORPD):
	BOTH(PSUBB): BOTH(PSUBW): BOTH(PSUBD): BOTH(PSUBQ):
	BOTH(PCMPEQB): BOTH(PCMPEQW): BOTH(PCMPEQD): BOTH(PCMPEQQ):
	BOTH(PCMPGTB): BOTH(PCMPGTW): BOTH(PCMPGTD): BOTH(PCMPGTQ):
	BOTH(PANDN): BOTH(ANDNPS): BOTH(ANDNPD):
#undef BOTH
	case ZYDIS_MNEMONIC_VPXORD: case ZYDIS_MNEMONIC_VPXORQ:
	case ZYDIS_MNEMONIC_KXORB: case ZYDIS_MNEMONIC_KXORW:
	case ZYDIS_MNEMONIC_KXORD: case ZYDIS_MNEMONIC_KXORQ:
	case ZYDIS_MNEMONIC_KXNORB: case ZYDIS_MNEMONIC_KXNORW:
	case ZYDIS_MNEMONIC_KXNORD: case ZYDIS_MNEMONIC_KXNORQ: return true;
	default: return false;
	}
}

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
	if (!is_idiom(decoder->raw.mnemonic) || last < 2 ||
	    op[last - 1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
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
		insn->flags_write = (flags->modified | flags->set_0 | flags->set_1 |
				     flags->undefined) & NVE_ARITH_FLAGS;
	}
	forget_idiom_inputs(decoder, insn);
}

/* The mask of vdbpsadbw is of words that each come from several bytes. */
static bool suppresses_faults(const ZydisDecodedInstruction *raw)
{
	if (raw->mnemonic == ZYDIS_MNEMONIC_VDBPSADBW)
		return false;
	switch (raw->meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_E1:
	case ZYDIS_EXCEPTION_CLASS_E2:
	case ZYDIS_EXCEPTION_CLASS_E3:
	case ZYDIS_EXCEPTION_CLASS_E4:
	case ZYDIS_EXCEPTION_CLASS_E5:
	case ZYDIS_EXCEPTION_CLASS_E6:
	case ZYDIS_EXCEPTION_CLASS_E11: return true;
	default: return false;
	}
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

static void fill_lanes(const struct nve_decoder *decoder, struct nve_insn *insn)
{
	const ZydisDecodedInstruction *raw = &decoder->raw;
	const ZydisDecodedOperand *mem = memory_operand(decoder);
	ZydisRegister mask = raw->avx.mask.reg;

	if (!mem)
		return;
	fill_sign_lanes(decoder, insn);
	if (mask < ZYDIS_REGISTER_K1 || mask > ZYDIS_REGISTER_K7 || raw->avx.broadcast.mode ||
	    !suppresses_faults(raw) || !has_equal_lanes(decoder, mem))
		return;
	insn->lane_reg = (uint8_t)(mask - ZYDIS_REGISTER_K0);
	insn->lanes = raw->meta.category == ZYDIS_CATEGORY_COMPRESS ||
				      raw->meta.category == ZYDIS_CATEGORY_EXPAND
			      ? NVE_LANES_COMPRESS
			      : NVE_LANES_K;
}

static bool is_index_64(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_VGATHERQPS:
	case ZYDIS_MNEMONIC_VGATHERQPD:
	case ZYDIS_MNEMONIC_VPGATHERQD:
	case ZYDIS_MNEMONIC_VPGATHERQQ:
	case ZYDIS_MNEMONIC_VSCATTERQPS:
	case ZYDIS_MNEMONIC_VSCATTERQPD:
	case ZYDIS_MNEMONIC_VPSCATTERQD:
	case ZYDIS_MNEMONIC_VPSCATTERQQ: return true;
	default: return false;
	}
}

/* op: the vector register of the data; mem_bytes: of all lanes together. */
static nve_exec_fn *decode_gather(const struct nve_decoder *decoder, struct nve_insn *insn)
{
	const ZydisDecodedOperand *op = decoder->operand, *mem = memory_operand(decoder);
	bool is_gather = !(mem->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
	bool is_evex = decoder->raw.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
	unsigned data = is_gather ? 0 : 2, lanes;

	if (decoder->raw.operand_count_visible != 3 || op[data].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return nve_exec_unsupported;
	insn->index_bytes = is_index_64(decoder->raw.mnemonic) ? 8 : 4;
	lanes = NVE_MIN(op[data].size / 8u / insn->lane_bytes,
			ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, mem->mem.index) / 8u /
				insn->index_bytes);
	insn->mem_bytes = (uint16_t)(lanes * insn->lane_bytes);
	insn->op = (uint8_t)ZydisRegisterGetId(op[data].reg.value);
	insn->lanes = is_evex ? NVE_LANES_K : NVE_LANES_SIGN;
	insn->lane_reg = (uint8_t)(ZydisRegisterGetId(op[is_evex ? 1 : 2].reg.value));
	return is_gather ? nve_exec_gather : nve_exec_scatter;
}

static bool is_vector_or_mask(ZydisRegisterClass class)
{
	return class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM ||
	       class == ZYDIS_REGCLASS_ZMM || class == ZYDIS_REGCLASS_MASK;
}

static bool is_native_register(ZydisRegister reg)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(reg);

	return is_vector_or_mask(class) || class == ZYDIS_REGCLASS_FLAGS ||
	       gpr_operand(reg).kind == NVE_OPERAND_REG || reg == ZYDIS_REGISTER_MXCSR;
}

bool nve_decode_is_native(const struct nve_decoder *decoder)
{
	const ZydisDecodedInstruction *raw = &decoder->raw;

	if (!nve_host_has(raw->meta.isa_set) && raw->mnemonic != ZYDIS_MNEMONIC_SHLD &&
	    raw->mnemonic != ZYDIS_MNEMONIC_SHRD)
		return false;
	for (unsigned i = 0; i < raw->operand_count; i++) {
		const ZydisDecodedOperand *op = &decoder->operand[i];

		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && !is_native_register(op->reg.value))
			return false;
		if (op->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (op->mem.type != ZYDIS_MEMOP_TYPE_MEM || op->size > 512 ||
		     op->encoding != ZYDIS_OPERAND_ENCODING_MODRM_RM))
			return false;
	}
	return true;
}

/* Instructions whose results nobody knows beforehand, or nobody here keeps: x87 and MMX state. */
static bool is_opaque(const ZydisDecodedInstruction *raw)
{
	switch (raw->meta.isa_ext) {
	case ZYDIS_ISA_EXT_X87: case ZYDIS_ISA_EXT_MMX: case ZYDIS_ISA_EXT_AMD3DNOW:
	case ZYDIS_ISA_EXT_SSE: case ZYDIS_ISA_EXT_SSE2: case ZYDIS_ISA_EXT_SSE3:
	case ZYDIS_ISA_EXT_SSSE3: case ZYDIS_ISA_EXT_SSE4: case ZYDIS_ISA_EXT_SSE4A:
	case ZYDIS_ISA_EXT_AVX: case ZYDIS_ISA_EXT_AVX2: case ZYDIS_ISA_EXT_AVX512EVEX:
	case ZYDIS_ISA_EXT_AVX512VEX: case ZYDIS_ISA_EXT_FMA: case ZYDIS_ISA_EXT_F16C:
	case ZYDIS_ISA_EXT_FMA4: case ZYDIS_ISA_EXT_XOP: case ZYDIS_ISA_EXT_TBM:
	case ZYDIS_ISA_EXT_BMI1: case ZYDIS_ISA_EXT_BMI2: case ZYDIS_ISA_EXT_ADOX_ADCX:
	case ZYDIS_ISA_EXT_AES: case ZYDIS_ISA_EXT_AVXAES: case ZYDIS_ISA_EXT_PCLMULQDQ:
	case ZYDIS_ISA_EXT_SHA: case ZYDIS_ISA_EXT_GFNI: case ZYDIS_ISA_EXT_VAES:
	case ZYDIS_ISA_EXT_VPCLMULQDQ: case ZYDIS_ISA_EXT_AVX_VNNI: case ZYDIS_ISA_EXT_MOVBE:
	case ZYDIS_ISA_EXT_RDRAND: case ZYDIS_ISA_EXT_RDSEED: case ZYDIS_ISA_EXT_RDPID:
	case ZYDIS_ISA_EXT_RDTSCP: case ZYDIS_ISA_EXT_LZCNT: return true;
	default: break;
	}
	switch (raw->mnemonic) {
	case ZYDIS_MNEMONIC_CPUID: case ZYDIS_MNEMONIC_XGETBV:
	case ZYDIS_MNEMONIC_SHLD: case ZYDIS_MNEMONIC_SHRD: case ZYDIS_MNEMONIC_RDPKRU:
		return true;
	default: return false;
	}
}

static nve_exec_fn *decode_xsave(const ZydisDecodedInstruction *raw, struct nve_insn *insn)
{
	switch (raw->mnemonic) {
	case ZYDIS_MNEMONIC_FXSAVE: case ZYDIS_MNEMONIC_FXSAVE64:
		insn->op = NVE_XSAVE_FX;
		return nve_exec_xsave;
	case ZYDIS_MNEMONIC_FXRSTOR: case ZYDIS_MNEMONIC_FXRSTOR64:
		insn->op = NVE_XSAVE_FX;
		return nve_exec_xrstor;
	case ZYDIS_MNEMONIC_XSAVE: case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEC: case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT: case ZYDIS_MNEMONIC_XSAVEOPT64:
		insn->op = NVE_XSAVE_EXTENDED;
		return nve_exec_xsave;
	case ZYDIS_MNEMONIC_XRSTOR: case ZYDIS_MNEMONIC_XRSTOR64:
		insn->op = NVE_XSAVE_EXTENDED;
		return nve_exec_xrstor;
	default: return NULL;
	}
}

static nve_exec_fn *decode_stop(const ZydisDecodedInstruction *raw)
{
	switch (raw->mnemonic) {
	case ZYDIS_MNEMONIC_INT3: case ZYDIS_MNEMONIC_INT1: case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1: case ZYDIS_MNEMONIC_UD2: return nve_exec_trap;
	default: break;
	}
	switch (raw->meta.category) {
	case ZYDIS_CATEGORY_SYSCALL: case ZYDIS_CATEGORY_INTERRUPT: case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_IO: case ZYDIS_CATEGORY_IOSTRINGOP: case ZYDIS_CATEGORY_SYSRET:
		return nve_exec_syscall;
	default: return nve_exec_unsupported;
	}
}

static bool is_gather_or_scatter(ZydisInstructionCategory category)
{
	return category == ZYDIS_CATEGORY_GATHER || category == ZYDIS_CATEGORY_AVX2GATHER ||
	       category == ZYDIS_CATEGORY_SCATTER;
}

static nve_exec_fn *choose_exec(const struct nve_decoder *decoder, struct nve_insn *insn)
{
	const ZydisDecodedInstruction *raw = &decoder->raw;
	nve_exec_fn *exec = nve_decode_integer(decoder, insn);

	if (!exec)
		exec = decode_xsave(raw, insn);
	if (exec)
		return exec;
	if (raw->mnemonic == ZYDIS_MNEMONIC_VZEROUPPER || raw->mnemonic == ZYDIS_MNEMONIC_VZEROALL)
		return nve_exec_vzero;
	if (is_gather_or_scatter(raw->meta.category))
		return decode_gather(decoder, insn);
	if (nve_decode_is_native(decoder)) {
		fill_lanes(decoder, insn);
		insn->stub = nve_native_stub(decoder, insn);
		return nve_exec_native;
	}
	return is_opaque(raw) ? nve_exec_opaque : decode_stop(raw);
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
	insn->exec = choose_exec(decoder, insn);
	return 0;
}
