/* Which function executes which instruction of the integer core. */
#include "count/ahead/exec.h"

#include "base/base.h"
#include "count/ahead/alu.h"

struct row {
	uint16_t mnemonic;
	uint8_t op;
	bool opens; /* a memory operand is one plain access */
	nve_exec_fn *exec;
};

#define M(name)              ZYDIS_MNEMONIC_##name
#define ALU(name, exec)      M(name), NVE_ALU_##name, true, exec
#define PLAIN(name, exec)    M(name), 0, true, exec
#define SELF(name, op, exec) M(name), op, false, exec /* announces its accesses itself */
#define NOP(name)            M(name), 0, false, nve_exec_nop

static const struct row rows[] = {
	{PLAIN(MOV, nve_exec_mov)},
	{PLAIN(MOVZX, nve_exec_mov)},
	{PLAIN(MOVNTI, nve_exec_mov)},
	{PLAIN(MOVSX, nve_exec_movsx)},
	{PLAIN(MOVSXD, nve_exec_movsx)},
	{SELF(LEA, 0, nve_exec_lea)},
	{ALU(ADD, nve_exec_alu)},
	{ALU(SUB, nve_exec_alu)},
	{ALU(AND, nve_exec_alu)},
	{ALU(OR, nve_exec_alu)},
	{ALU(XOR, nve_exec_alu)},
	{ALU(ADC, nve_exec_alu)},
	{ALU(SBB, nve_exec_alu)},
	{M(CMP), NVE_ALU_SUB, true, nve_exec_compare},
	{M(TEST), NVE_ALU_AND, true, nve_exec_compare},
	{PLAIN(PUSH, nve_exec_push)},
	{SELF(POP, 0, nve_exec_pop)},
	{PLAIN(CALL, nve_exec_call)},
	{SELF(RET, 0, nve_exec_ret)},
	{PLAIN(JMP, nve_exec_jmp)},
	{SELF(LEAVE, 0, nve_exec_leave)},
	{SELF(PUSHFQ, 0, nve_exec_pushf)},
	{SELF(PUSHF, 0, nve_exec_pushf)},
	{SELF(POPFQ, 0, nve_exec_popf)},
	{SELF(POPF, 0, nve_exec_popf)},
	{SELF(JRCXZ, 0, nve_exec_jrcxz)},
	{SELF(JECXZ, 0, nve_exec_jrcxz)},
	{SELF(LOOP, 0, nve_exec_loop)},
	{SELF(LOOPE, 0, nve_exec_loop)},
	{SELF(LOOPNE, 0, nve_exec_loop)},
	{ALU(INC, nve_exec_unary)},
	{ALU(DEC, nve_exec_unary)},
	{ALU(NEG, nve_exec_unary)},
	{PLAIN(NOT, nve_exec_unary)},
	{ALU(SHL, nve_exec_shift)},
	{ALU(SHR, nve_exec_shift)},
	{ALU(SAR, nve_exec_shift)},
	{ALU(ROL, nve_exec_shift)},
	{ALU(ROR, nve_exec_shift)},
	{ALU(RCL, nve_exec_shift)},
	{ALU(RCR, nve_exec_shift)},
	{PLAIN(SHLX, nve_exec_shift_free)},
	{PLAIN(SHRX, nve_exec_shift_free)},
	{PLAIN(SARX, nve_exec_shift_free)},
	{PLAIN(RORX, nve_exec_shift_free)},
	{ALU(BSF, nve_exec_scan)},
	{ALU(BSR, nve_exec_scan)},
	{ALU(TZCNT, nve_exec_scan)},
	{ALU(LZCNT, nve_exec_scan)},
	{PLAIN(POPCNT, nve_exec_scan)},
	{SELF(BT, NVE_ALU_BT, nve_exec_bits)},
	{SELF(BTS, NVE_ALU_BTS, nve_exec_bits)},
	{SELF(BTR, NVE_ALU_BTR, nve_exec_bits)},
	{SELF(BTC, NVE_ALU_BTC, nve_exec_bits)},
	{ALU(IMUL, nve_exec_imul)},
	{PLAIN(MUL, nve_exec_mul)},
	{PLAIN(DIV, nve_exec_div)},
	{PLAIN(IDIV, nve_exec_div)},
	{PLAIN(XCHG, nve_exec_xchg)},
	{M(XADD), NVE_ALU_ADD, true, nve_exec_xadd},
	{M(CMPXCHG), NVE_ALU_SUB, true, nve_exec_cmpxchg},
	{PLAIN(CMPXCHG8B, nve_exec_cmpxchg_wide)},
	{PLAIN(CMPXCHG16B, nve_exec_cmpxchg_wide)},
	{PLAIN(BSWAP, nve_exec_movbe)},
	{PLAIN(MOVBE, nve_exec_movbe)},
	{SELF(XLAT, 0, nve_exec_xlat)},
	{SELF(CBW, 2, nve_exec_extend)},
	{SELF(CWDE, 4, nve_exec_extend)},
	{SELF(CDQE, 8, nve_exec_extend)},
	{SELF(CWD, 2, nve_exec_extend)},
	{SELF(CDQ, 4, nve_exec_extend)},
	{SELF(CQO, 8, nve_exec_extend)},
	{SELF(CLC, 0, nve_exec_flag)},
	{SELF(STC, 0, nve_exec_flag)},
	{SELF(CMC, 0, nve_exec_flag)},
	{SELF(CLD, 0, nve_exec_flag)},
	{SELF(STD, 0, nve_exec_flag)},
	{SELF(LAHF, 0, nve_exec_lahf)},
	{SELF(SAHF, 0, nve_exec_sahf)},
	{SELF(RDTSC, 0, nve_exec_rdtsc)},
	{SELF(RDTSCP, 0, nve_exec_rdtsc)},
	{SELF(RDFSBASE, 0, nve_exec_segbase)},
	{SELF(RDGSBASE, 0, nve_exec_segbase)},
	{SELF(WRFSBASE, 0, nve_exec_segbase)},
	{SELF(WRGSBASE, 0, nve_exec_segbase)},
	{PLAIN(FNSTCW, nve_exec_fp_control)},
	{PLAIN(FLDCW, nve_exec_fp_control)},
	{PLAIN(STMXCSR, nve_exec_fp_control)},
	{PLAIN(LDMXCSR, nve_exec_fp_control)},
	{PLAIN(VSTMXCSR, nve_exec_fp_control)},
	{PLAIN(VLDMXCSR, nve_exec_fp_control)},
	{NOP(NOP)},
	{NOP(ENDBR64)},
	{NOP(ENDBR32)},
	{NOP(PAUSE)},
	{NOP(LFENCE)},
	{NOP(MFENCE)},
	{NOP(SFENCE)},
	{NOP(PREFETCH)},
	{NOP(PREFETCHNTA)},
	{NOP(PREFETCHT0)},
	{NOP(PREFETCHT1)},
	{NOP(PREFETCHT2)},
	{NOP(PREFETCHW)},
	{NOP(PREFETCHWT1)},
	{NOP(CLFLUSH)},
	{NOP(CLFLUSHOPT)},
	{NOP(CLWB)},
	{NOP(CLDEMOTE)},
	{NOP(RDSSPD)},
	{NOP(RDSSPQ)},
	{NOP(SERIALIZE)},
};

static const struct row strings[] = {
	{SELF(MOVSB, NVE_STRING_MOVS, nve_exec_string)},
	{SELF(MOVSW, NVE_STRING_MOVS, nve_exec_string)},
	{SELF(MOVSD, NVE_STRING_MOVS, nve_exec_string)},
	{SELF(MOVSQ, NVE_STRING_MOVS, nve_exec_string)},
	{SELF(STOSB, NVE_STRING_STOS, nve_exec_string)},
	{SELF(STOSW, NVE_STRING_STOS, nve_exec_string)},
	{SELF(STOSD, NVE_STRING_STOS, nve_exec_string)},
	{SELF(STOSQ, NVE_STRING_STOS, nve_exec_string)},
	{SELF(LODSB, NVE_STRING_LODS, nve_exec_string)},
	{SELF(LODSW, NVE_STRING_LODS, nve_exec_string)},
	{SELF(LODSD, NVE_STRING_LODS, nve_exec_string)},
	{SELF(LODSQ, NVE_STRING_LODS, nve_exec_string)},
	{SELF(CMPSB, NVE_STRING_CMPS, nve_exec_string)},
	{SELF(CMPSW, NVE_STRING_CMPS, nve_exec_string)},
	{SELF(CMPSD, NVE_STRING_CMPS, nve_exec_string)},
	{SELF(CMPSQ, NVE_STRING_CMPS, nve_exec_string)},
	{SELF(SCASB, NVE_STRING_SCAS, nve_exec_string)},
	{SELF(SCASW, NVE_STRING_SCAS, nve_exec_string)},
	{SELF(SCASD, NVE_STRING_SCAS, nve_exec_string)},
	{SELF(SCASQ, NVE_STRING_SCAS, nve_exec_string)},
};

/* By condition code: its branch, set and move. */
static const uint16_t conditions[16][3] = {
#define CONDITION(cc) M(J##cc), M(SET##cc), M(CMOV##cc)
	{CONDITION(O)}, {CONDITION(NO)}, {CONDITION(B)},  {CONDITION(NB)},
	{CONDITION(Z)}, {CONDITION(NZ)}, {CONDITION(BE)}, {CONDITION(NBE)},
	{CONDITION(S)}, {CONDITION(NS)}, {CONDITION(P)},  {CONDITION(NP)},
	{CONDITION(L)}, {CONDITION(NL)}, {CONDITION(LE)}, {CONDITION(NLE)},
};

/* In the index: 0 nothing, then the rows, from FIRST_CONDITION on the conditions. */
#define FIRST_CONDITION 128u

void nve_decode_integer_init(struct nve_decoder *decoder)
{
	_Static_assert(NVE_ARRAY_SIZE(rows) < FIRST_CONDITION, "rows do not fit the index");
	for (unsigned i = 0; i < NVE_ARRAY_SIZE(rows); i++)
		decoder->integer[rows[i].mnemonic] = (uint8_t)(i + 1);
	for (unsigned i = 0; i < 16 * 3; i++)
		decoder->integer[conditions[i / 3][i % 3]] = (uint8_t)(FIRST_CONDITION + i);
}

static nve_exec_fn *decode_condition(const struct nve_decoder *decoder, struct nve_insn *insn)
{
	static nve_exec_fn *const exec[3] = {nve_exec_jcc, nve_exec_setcc, nve_exec_cmov};
	unsigned at = decoder->integer[decoder->raw.mnemonic];

	if (at < FIRST_CONDITION)
		return NULL;
	insn->op = (uint8_t)((at - FIRST_CONDITION) / 3);
	return exec[(at - FIRST_CONDITION) % 3];
}

/* Segment, control and other registers are not of the core. */
static bool has_plain_operands(const struct nve_decoder *decoder)
{
	for (unsigned i = 0; i < decoder->raw.operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &decoder->operand[i];

		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		switch (ZydisRegisterGetClass(op->reg.value)) {
		case ZYDIS_REGCLASS_GPR8:
		case ZYDIS_REGCLASS_GPR16:
		case ZYDIS_REGCLASS_GPR32:
		case ZYDIS_REGCLASS_GPR64: break;
		default: return false;
		}
	}
	return true;
}

static bool has_visible_mem(const struct nve_decoder *decoder)
{
	for (unsigned i = 0; i < decoder->raw.operand_count_visible; i++)
		if (decoder->operand[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return true;
	return false;
}

static bool is_far(const struct nve_decoder *decoder)
{
	return decoder->raw.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
}

/* An operand size prefix on a branch or leave: processors differ, programs have none. */
static bool is_short_stack(const ZydisDecodedInstruction *raw)
{
	return raw->operand_width == 16 && (raw->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE ||
					    raw->mnemonic == ZYDIS_MNEMONIC_LEAVE);
}

/* f3 41 90 exchanges rax and r8 on processors, but decodes as pause. */
static bool is_exchange(const ZydisDecodedInstruction *raw)
{
	return raw->mnemonic == ZYDIS_MNEMONIC_PAUSE && (raw->attributes & ZYDIS_ATTRIB_HAS_REX) &&
	       raw->raw.rex.B;
}

static const struct row *find_string(ZydisMnemonic mnemonic)
{
	for (unsigned i = 0; i < NVE_ARRAY_SIZE(strings); i++)
		if (strings[i].mnemonic == (uint16_t)mnemonic)
			return &strings[i];
	return NULL;
}

/* movsd and cmpsd are names of string and of vector instructions. */
static const struct row *find_row(const struct nve_decoder *decoder)
{
	unsigned at = decoder->integer[decoder->raw.mnemonic];

	if (decoder->raw.meta.category == ZYDIS_CATEGORY_STRINGOP)
		return find_string(decoder->raw.mnemonic);
	return at && at < FIRST_CONDITION ? &rows[at - 1] : NULL;
}

nve_exec_fn *nve_decode_integer(const struct nve_decoder *decoder, struct nve_insn *insn)
{
	const ZydisDecodedInstruction *raw = &decoder->raw;
	const struct row *row = find_row(decoder);
	nve_exec_fn *exec = decode_condition(decoder, insn);

	if (is_far(decoder) || is_short_stack(raw) || is_exchange(raw) ||
	    !has_plain_operands(decoder))
		return NULL;
	if (exec) {
		insn->opens = has_visible_mem(decoder);
		return exec;
	}
	if (!row)
		return NULL;
	insn->op = row->op;
	insn->opens = row->opens && has_visible_mem(decoder);
	if (raw->mnemonic == ZYDIS_MNEMONIC_IMUL && raw->operand_count_visible == 1)
		return nve_exec_mul;
	if (raw->mnemonic == ZYDIS_MNEMONIC_BSWAP && insn->operand[0].bytes == 2)
		return nve_exec_opaque;
	if (row->exec == nve_exec_push || row->exec == nve_exec_pop)
		insn->operand[0].bytes = raw->operand_width / 8;
	return row->exec;
}
