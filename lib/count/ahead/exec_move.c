/* Moves, conditions, flags and control words. */
#include "count/ahead/exec.h"

int nve_exec_nop(struct nve_run *run, const struct nve_insn *insn)
{
	(void)run;
	(void)insn;
	return 0;
}

int nve_exec_syscall(struct nve_run *run, const struct nve_insn *insn)
{
	(void)run;
	(void)insn;
	return NVE_STOP_SYSCALL;
}

int nve_exec_trap(struct nve_run *run, const struct nve_insn *insn)
{
	(void)run;
	(void)insn;
	return NVE_STOP_TRAP;
}

int nve_exec_unsupported(struct nve_run *run, const struct nve_insn *insn)
{
	(void)run;
	(void)insn;
	return NVE_STOP_UNSUPPORTED;
}

int nve_exec_mov(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value value;
	int stop = nve_operand_read(run, insn, insn->operand[1], &value);

	return stop ? stop : nve_operand_write(run, insn->operand[0], value);
}

/* movsx, movsxd; movzx is a mov whose source is narrower. */
int nve_exec_movsx(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value value;
	int stop = nve_operand_read(run, insn, insn->operand[1], &value);

	value.v = nve_sign_extend(value.v, insn->operand[1].bytes);
	return stop ? stop : nve_operand_write(run, insn->operand[0], value);
}

int nve_exec_movbe(struct nve_run *run, const struct nve_insn *insn)
{
	unsigned bytes = insn->operand[0].bytes;
	struct nve_value value;
	unsigned from = insn->operand[1].kind == NVE_OPERAND_NONE ? 0 : 1; /* bswap has one */
	int stop = nve_operand_read(run, insn, insn->operand[from], &value);

	value.v = __builtin_bswap64(value.v) >> (64 - 8 * bytes);
	return stop ? stop : nve_operand_write(run, insn->operand[0], value);
}

int nve_exec_lea(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value value = {0, false};

	value.unknown = nve_mem_addr(run, insn, &value.v) != 0;
	nve_gpr_write(run->cpu, insn->operand[0], value);
	return 0;
}

int nve_exec_xchg(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value a, b;
	int stop = nve_operand_read(run, insn, insn->operand[0], &a);

	if (!stop)
		stop = nve_operand_read(run, insn, insn->operand[1], &b);
	if (!stop)
		stop = nve_operand_write(run, insn->operand[0], b);
	if (!stop)
		stop = nve_operand_write(run, insn->operand[1], a);
	return stop;
}

/* xlatb */
int nve_exec_xlat(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value value = {0, false};
	int stop;

	if (run->cpu->gpr_unknown & 9)
		return NVE_STOP_UNKNOWN_ADDRESS;
	run->mem_addr = run->cpu->gpr[3] + (run->cpu->gpr[0] & 0xff);
	if (insn->segment != NVE_SEGMENT_FLAT || insn->addr32)
		return NVE_STOP_UNSUPPORTED;
	stop = nve_mem_touch(run, run->mem_addr, 1, NVE_ACCESS_READ);
	if (!stop)
		stop = nve_mem_load(run, run->mem_addr, 1, &value.v, &value.unknown);
	if (!stop)
		nve_gpr_write(run->cpu, nve_gpr_operand(0, 1), value);
	return stop;
}

static const uint16_t condition_flags[8] = {
	NVE_FLAG_OF,
	NVE_FLAG_CF,
	NVE_FLAG_ZF,
	NVE_FLAG_CF | NVE_FLAG_ZF,
	NVE_FLAG_SF,
	NVE_FLAG_PF,
	NVE_FLAG_SF | NVE_FLAG_OF,
	NVE_FLAG_SF | NVE_FLAG_OF | NVE_FLAG_ZF,
};

struct nve_value nve_condition(const struct nve_run *run, unsigned code)
{
	uint64_t f = run->cpu->rflags;
	bool less = (f >> 7 ^ f >> 11) & 1;
	bool is_true;

	switch (code >> 1) {
	case 6: is_true = less; break;
	case 7: is_true = less || (f & NVE_FLAG_ZF); break;
	default: is_true = f & condition_flags[code >> 1]; break;
	}
	return (struct nve_value){is_true ^ (code & 1),
				  run->flags_unknown & condition_flags[code >> 1]};
}

int nve_exec_setcc(struct nve_run *run, const struct nve_insn *insn)
{
	return nve_operand_write(run, insn->operand[0], nve_condition(run, insn->op));
}

int nve_exec_cmov(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value is_true = nve_condition(run, insn->op), src, dst;
	int stop = nve_operand_read(run, insn, insn->operand[1], &src);

	if (stop)
		return stop;
	nve_operand_read(run, insn, insn->operand[0], &dst);
	if (is_true.v)
		dst = src;
	dst.unknown |= is_true.unknown;
	nve_gpr_write(run->cpu, insn->operand[0], dst);
	return 0;
}

/* cbw, cwde, cdqe, cwd, cdq, cqo */
int nve_exec_extend(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_cpu *cpu = run->cpu;
	struct nve_value value = nve_gpr_read(cpu, 0);
	unsigned bytes = insn->op; /* of the result */

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_CBW:
	case ZYDIS_MNEMONIC_CWDE:
	case ZYDIS_MNEMONIC_CDQE:
		value.v = nve_sign_extend(value.v, bytes / 2);
		nve_gpr_write(cpu, nve_gpr_operand(0, bytes), value);
		return 0;
	default:
		value.v = value.v >> (8 * bytes - 1) & 1 ? ~0ull : 0;
		nve_gpr_write(cpu, nve_gpr_operand(2, bytes), value);
		return 0;
	}
}

/* clc, stc, cmc, cld, std */
int nve_exec_flag(struct nve_run *run, const struct nve_insn *insn)
{
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_CLC: nve_flags_write(run, NVE_FLAG_CF, 0, false); break;
	case ZYDIS_MNEMONIC_STC: nve_flags_write(run, NVE_FLAG_CF, NVE_FLAG_CF, false); break;
	case ZYDIS_MNEMONIC_CMC: run->cpu->rflags ^= NVE_FLAG_CF; break;
	case ZYDIS_MNEMONIC_CLD: nve_flags_write(run, NVE_FLAG_DF, 0, false); break;
	default: nve_flags_write(run, NVE_FLAG_DF, NVE_FLAG_DF, false); break;
	}
	return 0;
}

int nve_exec_lahf(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_operand ah = {NVE_OPERAND_REG, 0, 8, 1};
	struct nve_value flags = {(run->cpu->rflags & 0xd5) | 2, run->flags_unknown & 0xd5};

	(void)insn;
	nve_gpr_write(run->cpu, ah, flags);
	return 0;
}

int nve_exec_sahf(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value ax = nve_gpr_read(run->cpu, 0);

	(void)insn;
	nve_flags_write(run, 0xd5, ax.v >> 8, ax.unknown);
	return 0;
}

/* rdfsbase, rdgsbase, wrfsbase, wrgsbase */
int nve_exec_segbase(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_cpu *cpu = run->cpu;
	bool is_fs = insn->mnemonic == ZYDIS_MNEMONIC_RDFSBASE ||
		     insn->mnemonic == ZYDIS_MNEMONIC_WRFSBASE;
	uint64_t *base = is_fs ? &cpu->fs_base : &cpu->gs_base;
	struct nve_value value;

	if (insn->mnemonic == ZYDIS_MNEMONIC_RDFSBASE ||
	    insn->mnemonic == ZYDIS_MNEMONIC_RDGSBASE) {
		nve_gpr_write(cpu, insn->operand[0], (struct nve_value){*base, false});
		return 0;
	}
	nve_operand_read(run, insn, insn->operand[0], &value);
	if (value.unknown)
		return NVE_STOP_UNKNOWN_ADDRESS;
	*base = value.v;
	return 0;
}

/* fnstcw, fldcw, stmxcsr, ldmxcsr */
int nve_exec_fp_control(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_cpu *cpu = run->cpu;
	bool is_x87 = insn->operand[0].bytes == 2;
	struct nve_value value = {is_x87 ? cpu->x87_control : nve_mxcsr_now(cpu), false};
	int stop;

	if (insn->mem_kind & NVE_ACCESS_WRITE)
		return nve_operand_write(run, insn->operand[0], value);
	stop = nve_operand_read(run, insn, insn->operand[0], &value);
	if (stop || value.unknown)
		return stop;
	if (is_x87) {
		cpu->x87_control = (uint16_t)value.v;
	} else {
		cpu->mxcsr = (uint32_t)value.v;
		nve_mxcsr_load(cpu->mxcsr);
	}
	return 0;
}

/* rdtsc, rdtscp; the number of the processor that the latter tells is not known beforehand. */
int nve_exec_rdtsc(struct nve_run *run, const struct nve_insn *insn)
{
	bool unknown = !run->world->tsc;
	uint64_t now = unknown ? 0 : run->world->tsc(run->world->ctx);

	if (insn->mnemonic == ZYDIS_MNEMONIC_RDTSCP)
		run->cpu->gpr_unknown |= 1u << 1;
	nve_gpr_write(run->cpu, nve_gpr_operand(0, 4), (struct nve_value){now, unknown});
	nve_gpr_write(run->cpu, nve_gpr_operand(2, 4), (struct nve_value){now >> 32, unknown});
	return 0;
}
