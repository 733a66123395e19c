/* Stack and branches. */
#include "count/ahead/exec.h"

#define RSP 4u
#define RBP 5u

static int push(struct nve_run *run, unsigned bytes, struct nve_value value)
{
	struct nve_cpu *cpu = run->cpu;
	uint64_t to = cpu->gpr[RSP] - bytes;
	int stop;

	if (cpu->gpr_unknown >> RSP & 1)
		return NVE_STOP_UNKNOWN_ADDRESS;
	stop = nve_mem_touch(run, to, bytes, NVE_ACCESS_WRITE | NVE_ACCESS_STACK);
	if (!stop)
		stop = nve_mem_store(run, to, bytes, &value.v, value.unknown);
	if (!stop)
		cpu->gpr[RSP] = to;
	return stop;
}

static int pop(struct nve_run *run, unsigned bytes, struct nve_value *value)
{
	struct nve_cpu *cpu = run->cpu;
	uint64_t from = cpu->gpr[RSP];
	int stop;

	if (cpu->gpr_unknown >> RSP & 1)
		return NVE_STOP_UNKNOWN_ADDRESS;
	value->v = 0;
	stop = nve_mem_touch(run, from, bytes, NVE_ACCESS_READ | NVE_ACCESS_STACK);
	if (!stop)
		stop = nve_mem_load(run, from, bytes, &value->v, &value->unknown);
	if (!stop)
		cpu->gpr[RSP] = from + bytes;
	return stop;
}

int nve_exec_push(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value value;
	int stop = nve_operand_read(run, insn, insn->operand[0], &value);

	return stop ? stop : push(run, insn->operand[0].bytes, value);
}

/* The address of a memory operand is computed with the stack pointer already moved. */
int nve_exec_pop(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value value;
	uint64_t rsp = run->cpu->gpr[RSP];
	int stop = pop(run, insn->operand[0].bytes, &value);

	if (!stop && insn->operand[0].kind == NVE_OPERAND_MEM)
		stop = nve_mem_open(run, insn);
	if (!stop)
		stop = nve_operand_write(run, insn->operand[0], value);
	if (stop)
		run->cpu->gpr[RSP] = rsp;
	return stop;
}

int nve_exec_pushf(struct nve_run *run, const struct nve_insn *insn)
{
	uint64_t flags = run->cpu->rflags & 0xfcffff;

	return push(run, insn->mem_bytes, (struct nve_value){flags, run->flags_unknown != 0});
}

int nve_exec_popf(struct nve_run *run, const struct nve_insn *insn)
{
	const uint32_t user = NVE_ARITH_FLAGS | NVE_FLAG_DF | 0x244000; /* NT, AC, ID */
	struct nve_value value;
	int stop = pop(run, insn->mem_bytes, &value);

	if (!stop)
		nve_flags_write(run, insn->mem_bytes == 2 ? user & 0xffff : user, value.v,
				value.unknown);
	return stop;
}

int nve_exec_leave(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_cpu *cpu = run->cpu;
	uint64_t rsp = cpu->gpr[RSP];
	struct nve_value value;
	int stop;

	(void)insn;
	if (cpu->gpr_unknown >> RBP & 1)
		return NVE_STOP_UNKNOWN_ADDRESS;
	cpu->gpr[RSP] = cpu->gpr[RBP];
	stop = pop(run, 8, &value);
	if (stop) {
		cpu->gpr[RSP] = rsp;
		return stop;
	}
	cpu->gpr_unknown &= ~(1u << RSP);
	nve_gpr_write(cpu, nve_gpr_operand(RBP, 8), value);
	return 0;
}

int nve_exec_jcc(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value taken = nve_condition(run, insn->op);

	if (taken.unknown)
		return NVE_STOP_UNKNOWN_BRANCH;
	if (taken.v)
		run->next = insn->imm;
	return 0;
}

static int jump_to(struct nve_run *run, struct nve_value target)
{
	if (target.unknown)
		return NVE_STOP_UNKNOWN_BRANCH;
	run->next = target.v;
	return 0;
}

int nve_exec_jmp(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value target;
	int stop = nve_operand_read(run, insn, insn->operand[0], &target);

	return stop ? stop : jump_to(run, target);
}

int nve_exec_jrcxz(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value count = nve_gpr_read(run->cpu, 1);

	if (count.unknown)
		return NVE_STOP_UNKNOWN_BRANCH;
	if (!nve_truncate(count.v, insn->mnemonic == ZYDIS_MNEMONIC_JECXZ ? 4 : 8))
		run->next = insn->imm;
	return 0;
}

int nve_exec_loop(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value count = nve_gpr_read(run->cpu, 1);
	bool zero = run->cpu->rflags & NVE_FLAG_ZF;

	if (insn->addr32)
		return NVE_STOP_UNSUPPORTED;
	if (count.unknown ||
	    (insn->mnemonic != ZYDIS_MNEMONIC_LOOP && (run->flags_unknown & NVE_FLAG_ZF)))
		return NVE_STOP_UNKNOWN_BRANCH;
	run->cpu->gpr[1] = --count.v;
	if (count.v && (insn->mnemonic == ZYDIS_MNEMONIC_LOOP ||
			zero == (insn->mnemonic == ZYDIS_MNEMONIC_LOOPE)))
		run->next = insn->imm;
	return 0;
}

int nve_exec_call(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value target;
	int stop = nve_operand_read(run, insn, insn->operand[0], &target);

	if (!stop && target.unknown)
		stop = NVE_STOP_UNKNOWN_BRANCH;
	if (!stop)
		stop = push(run, 8, (struct nve_value){run->next, false});
	return stop ? stop : jump_to(run, target);
}

int nve_exec_ret(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value target;
	int stop = pop(run, 8, &target);

	if (stop)
		return stop;
	run->cpu->gpr[RSP] += insn->imm;
	return jump_to(run, target);
}
