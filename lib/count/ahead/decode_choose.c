/* Which function executes an instruction. */
#include "count/ahead/exec.h"

#include "base/base.h"
#include "count/ahead/host.h"
#include "count/ahead/native.h"

static bool is_vector_or_mask(ZydisRegisterClass class)
{
	return class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM ||
	       class == ZYDIS_REGCLASS_ZMM || class == ZYDIS_REGCLASS_MASK;
}

static bool is_native_register(ZydisRegister reg)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(reg);

	return is_vector_or_mask(class) || class == ZYDIS_REGCLASS_FLAGS ||
	       nve_decode_gpr(reg).kind == NVE_OPERAND_REG || reg == ZYDIS_REGISTER_MXCSR;
}

/* True if the processor has what the instruction needs and a copy of it is safe to run. */
static bool is_native(const struct nve_decoder *decoder)
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
static const uint16_t opaque_sets[] = {
	ZYDIS_ISA_EXT_X87,        ZYDIS_ISA_EXT_MMX,      ZYDIS_ISA_EXT_AMD3DNOW,
	ZYDIS_ISA_EXT_SSE,        ZYDIS_ISA_EXT_SSE2,     ZYDIS_ISA_EXT_SSE3,
	ZYDIS_ISA_EXT_SSSE3,      ZYDIS_ISA_EXT_SSE4,     ZYDIS_ISA_EXT_SSE4A,
	ZYDIS_ISA_EXT_AVX,        ZYDIS_ISA_EXT_AVX2,     ZYDIS_ISA_EXT_AVX512EVEX,
	ZYDIS_ISA_EXT_AVX512VEX,  ZYDIS_ISA_EXT_FMA,      ZYDIS_ISA_EXT_F16C,
	ZYDIS_ISA_EXT_FMA4,       ZYDIS_ISA_EXT_XOP,      ZYDIS_ISA_EXT_TBM,
	ZYDIS_ISA_EXT_BMI1,       ZYDIS_ISA_EXT_BMI2,     ZYDIS_ISA_EXT_ADOX_ADCX,
	ZYDIS_ISA_EXT_AES,        ZYDIS_ISA_EXT_AVXAES,   ZYDIS_ISA_EXT_PCLMULQDQ,
	ZYDIS_ISA_EXT_SHA,        ZYDIS_ISA_EXT_GFNI,     ZYDIS_ISA_EXT_VAES,
	ZYDIS_ISA_EXT_VPCLMULQDQ, ZYDIS_ISA_EXT_AVX_VNNI, ZYDIS_ISA_EXT_MOVBE,
	ZYDIS_ISA_EXT_RDRAND,     ZYDIS_ISA_EXT_RDSEED,   ZYDIS_ISA_EXT_RDPID,
	ZYDIS_ISA_EXT_RDTSCP,     ZYDIS_ISA_EXT_LZCNT,
};

static const uint16_t opaque[] = {
	ZYDIS_MNEMONIC_CPUID, ZYDIS_MNEMONIC_XGETBV, ZYDIS_MNEMONIC_SHLD,
	ZYDIS_MNEMONIC_SHRD,  ZYDIS_MNEMONIC_RDPKRU,
};

static bool is_opaque(const ZydisDecodedInstruction *raw)
{
	return nve_decode_is_one_of(raw->meta.isa_ext, opaque_sets, NVE_ARRAY_SIZE(opaque_sets)) ||
	       nve_decode_is_one_of(raw->mnemonic, opaque, NVE_ARRAY_SIZE(opaque));
}

#define BOTH(name) ZYDIS_MNEMONIC_##name, ZYDIS_MNEMONIC_##name##64

static const uint16_t saves[] = {BOTH(FXSAVE), BOTH(XSAVE), BOTH(XSAVEC), BOTH(XSAVEOPT)};
static const uint16_t restores[] = {BOTH(FXRSTOR), BOTH(XRSTOR)};

static nve_exec_fn *decode_xsave(const ZydisDecodedInstruction *raw, struct nve_insn *insn)
{
	bool is_fx = raw->meta.isa_ext == ZYDIS_ISA_EXT_SSE;

	insn->op = is_fx ? NVE_XSAVE_FX : NVE_XSAVE_EXTENDED;
	if (nve_decode_is_one_of(raw->mnemonic, saves, NVE_ARRAY_SIZE(saves)))
		return nve_exec_xsave;
	if (nve_decode_is_one_of(raw->mnemonic, restores, NVE_ARRAY_SIZE(restores)))
		return nve_exec_xrstor;
	return NULL;
}

static const uint16_t traps[] = {
	ZYDIS_MNEMONIC_INT3, ZYDIS_MNEMONIC_INT1, ZYDIS_MNEMONIC_UD0,
	ZYDIS_MNEMONIC_UD1,  ZYDIS_MNEMONIC_UD2,
};

static const uint16_t system_categories[] = {
	ZYDIS_CATEGORY_SYSCALL, ZYDIS_CATEGORY_INTERRUPT,  ZYDIS_CATEGORY_SYSTEM,
	ZYDIS_CATEGORY_IO,      ZYDIS_CATEGORY_IOSTRINGOP, ZYDIS_CATEGORY_SYSRET,
};

static nve_exec_fn *decode_stop(const ZydisDecodedInstruction *raw)
{
	if (nve_decode_is_one_of(raw->mnemonic, traps, NVE_ARRAY_SIZE(traps)))
		return nve_exec_trap;
	if (nve_decode_is_one_of(raw->meta.category, system_categories,
				 NVE_ARRAY_SIZE(system_categories)))
		return nve_exec_syscall;
	return nve_exec_unsupported;
}

static bool is_gather_or_scatter(ZydisInstructionCategory category)
{
	return category == ZYDIS_CATEGORY_GATHER || category == ZYDIS_CATEGORY_AVX2GATHER ||
	       category == ZYDIS_CATEGORY_SCATTER;
}

nve_exec_fn *nve_decode_choose(const struct nve_decoder *decoder, struct nve_insn *insn)
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
		return nve_decode_gather(decoder, insn);
	if (is_native(decoder)) {
		nve_decode_lanes(decoder, insn);
		insn->stub = nve_native_stub(decoder, insn);
		return nve_exec_native;
	}
	return is_opaque(raw) ? nve_exec_opaque : decode_stop(raw);
}
