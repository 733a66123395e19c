/* Integer arithmetic, logic, shifts, bit operations and the atomic forms of them. */
#include "count/ahead/exec.h"

#include "count/ahead/alu.h"

static bool reads_unknown_flags(const struct nve_run *run, const struct nve_insn *insn)
{
	return run->flags_unknown & insn->flags_read;
}

static bool is_same_register(const struct nve_insn *insn)
{
	const struct nve_operand *op = insn->operand;

	return op[0].kind == NVE_OPERAND_REG && op[1].kind == NVE_OPERAND_REG &&
	       op[0].reg == op[1].reg && op[0].shift == op[1].shift;
}

/* Result and flags of op a, b; they are unknown where an input is, save for x ^ x and x - x. */
static struct nve_value compute(struct nve_run *run, const struct nve_insn *insn,
				struct nve_value a, struct nve_value b)
{
	bool unknown = a.unknown || b.unknown;
	uint64_t flags = run->cpu->rflags;
	unsigned op = insn->op;

	if (unknown && is_same_register(insn) &&
	    (op == NVE_ALU_XOR || op == NVE_ALU_SUB || op == NVE_ALU_SBB))
		unknown = false;
	unknown |= reads_unknown_flags(run, insn);
	struct nve_value result = {nve_alu(op, insn->operand[0].bytes, a.v, b.v, &flags), unknown};

	nve_flags_write(run, insn->flags_write, flags, unknown);
	return result;
}

int nve_exec_alu(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value a, b;
	int stop = nve_operand_read(run, insn, insn->operand[0], &a);

	if (!stop)
		stop = nve_operand_read(run, insn, insn->operand[1], &b);
	if (stop)
		return stop;
	return nve_operand_write(run, insn->operand[0], compute(run, insn, a, b));
}

int nve_exec_compare(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value a, b;
	int stop = nve_operand_read(run, insn, insn->operand[0], &a);

	if (!stop)
		stop = nve_operand_read(run, insn, insn->operand[1], &b);
	if (!stop)
		compute(run, insn, a, b);
	return stop;
}

int nve_exec_unary(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value a;
	int stop = nve_operand_read(run, insn, insn->operand[0], &a);

	if (stop)
		return stop;
	if (insn->mnemonic == ZYDIS_MNEMONIC_NOT) {
		a.v = ~a.v;
		return nve_operand_write(run, insn->operand[0], a);
	}
	return nve_operand_write(run, insn->operand[0],
				 compute(run, insn, a, (struct nve_value){0, false}));
}

int nve_exec_shift(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value a, count;
	int stop = nve_operand_read(run, insn, insn->operand[0], &a);

	if (!stop)
		stop = nve_operand_read(run, insn, insn->operand[1], &count);
	if (stop)
		return stop;
	count.v &= insn->operand[0].bytes == 8 ? 63 : 31;
	/* A shift by nothing leaves the flags and writes its operand back. */
	if (count.v || count.unknown)
		a = compute(run, insn, a, count);
	return nve_operand_write(run, insn->operand[0], a);
}

static struct nve_value shift_free(unsigned mnemonic, unsigned bits, struct nve_value a,
				   unsigned count)
{
	count &= bits - 1;
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_SHLX: a.v <<= count; break;
	case ZYDIS_MNEMONIC_SHRX: a.v >>= count; break;
	case ZYDIS_MNEMONIC_SARX:
		a.v = (uint64_t)((int64_t)nve_sign_extend(a.v, bits / 8) >> count);
		break;
	default: a.v = count ? a.v >> count | a.v << (bits - count) : a.v; break;
	}
	return a;
}

/* shlx, shrx, sarx, rorx: no flags. */
int nve_exec_shift_free(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_value a, count;
	int stop = nve_operand_read(run, insn, insn->operand[1], &a);

	if (!stop)
		stop = nve_operand_read(run, insn, insn->operand[2], &count);
	if (stop)
		return stop;
	bool unknown = a.unknown || count.unknown;

	a = shift_free(insn->mnemonic, 8u * insn->operand[0].bytes, a, (unsigned)count.v);
	a.unknown = unknown;
	nve_gpr_write(run->cpu, insn->operand[0], a);
	return 0;
}

static struct nve_value count_ones(struct nve_run *run, struct nve_value a)
{
	nve_flags_write(run, NVE_ARITH_FLAGS, a.v ? 0 : NVE_FLAG_ZF, a.unknown);
	a.v = (uint64_t)__builtin_popcountll(a.v);
	return a;
}

int nve_exec_scan(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_operand to = insn->operand[0];
	struct nve_value dst, src;
	int stop = nve_operand_read(run, insn, insn->operand[1], &src);

	if (stop)
		return stop;
	if (insn->mnemonic == ZYDIS_MNEMONIC_POPCNT) {
		nve_gpr_write(run->cpu, to, count_ones(run, src));
		return 0;
	}
	dst = nve_gpr_read(run->cpu, to.reg);
	/* Only bsf and bsr of 0 leave the destination as it was. */
	if (src.v && !src.unknown)
		dst.unknown = false;
	if (insn->op == NVE_ALU_TZCNT || insn->op == NVE_ALU_LZCNT)
		dst.unknown = false;
	/* bsf and bsr of 0 may keep the upper half too: the register is taken as it came out. */
	dst = compute(run, insn, dst, src);
	nve_gpr_write(run->cpu, nve_gpr_operand(to.reg, to.bytes == 4 ? 8 : to.bytes), dst);
	return 0;
}

/* bt, bts, btr, btc; a register offset reaches beyond the operand in memory. */
int nve_exec_bits(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_operand to = insn->operand[0];
	struct nve_value a, bit;
	int stop = nve_operand_read(run, insn, insn->operand[1], &bit);

	if (!stop && to.kind == NVE_OPERAND_MEM) {
		if (bit.unknown)
			return NVE_STOP_UNKNOWN_ADDRESS;
		stop = nve_mem_addr(run, insn, &run->mem_addr);
		if (insn->operand[1].kind == NVE_OPERAND_REG) {
			int64_t offset = (int64_t)nve_sign_extend(bit.v, to.bytes);
			int64_t units = offset >> (3 + __builtin_ctz(to.bytes));

			run->mem_addr += (uint64_t)(units * to.bytes);
		}
		if (!stop)
			stop = nve_mem_touch(run, run->mem_addr, to.bytes, insn->mem_kind);
	}
	if (!stop)
		stop = nve_operand_read(run, insn, to, &a);
	if (stop)
		return stop;
	bit.v &= 8u * to.bytes - 1;
	a = compute(run, insn, a, bit);
	return insn->op == NVE_ALU_BT ? 0 : nve_operand_write(run, to, a);
}

/* imul with two or three operands. */
int nve_exec_imul(struct nve_run *run, const struct nve_insn *insn)
{
	bool three = insn->operand[2].kind != NVE_OPERAND_NONE;
	struct nve_value a, b;
	int stop = nve_operand_read(run, insn, insn->operand[three ? 1 : 0], &a);

	if (!stop)
		stop = nve_operand_read(run, insn, insn->operand[three ? 2 : 1], &b);
	if (stop)
		return stop;
	nve_gpr_write(run->cpu, insn->operand[0], compute(run, insn, a, b));
	return 0;
}

/* The register pair of multiplication and division: rdx:rax, or ax for bytes. */
static void write_pair(struct nve_cpu *cpu, unsigned bytes, uint64_t low, uint64_t high,
		       bool unknown)
{
	nve_gpr_write(cpu, nve_gpr_operand(0, bytes), (struct nve_value){low, unknown});
	nve_gpr_write(cpu, nve_gpr_operand(2, bytes), (struct nve_value){high, unknown});
}

int nve_exec_mul(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_cpu *cpu = run->cpu;
	unsigned bytes = insn->operand[0].bytes;
	uint64_t low = cpu->gpr[0], high = cpu->gpr[2], flags = cpu->rflags;
	struct nve_value b;
	int stop = nve_operand_read(run, insn, insn->operand[0], &b);

	if (stop)
		return stop;
	bool unknown = b.unknown || (cpu->gpr_unknown & 1);

	nve_alu_multiply(insn->mnemonic == ZYDIS_MNEMONIC_IMUL, bytes, b.v, &low, &high, &flags);
	nve_flags_write(run, insn->flags_write, flags, unknown);
	if (bytes == 1)
		nve_gpr_write(cpu, nve_gpr_operand(0, 2), (struct nve_value){low, unknown});
	else
		write_pair(cpu, bytes, low, high, unknown);
	return 0;
}

int nve_exec_div(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_cpu *cpu = run->cpu;
	unsigned bytes = insn->operand[0].bytes, half = bytes == 1 ? 2 : bytes;
	bool is_signed = insn->mnemonic == ZYDIS_MNEMONIC_IDIV;
	uint64_t low = nve_truncate(cpu->gpr[0], half), high = nve_truncate(cpu->gpr[2], bytes);
	uint64_t flags = cpu->rflags;
	struct nve_value b;
	int stop = nve_operand_read(run, insn, insn->operand[0], &b);

	if (stop)
		return stop;
	bool unknown = b.unknown || (cpu->gpr_unknown & (bytes == 1 ? 1 : 5));

	if (!unknown && !nve_alu_divide(is_signed, bytes, b.v, &low, &high, &flags))
		return NVE_STOP_TRAP;
	nve_flags_write(run, NVE_ARITH_FLAGS, flags, unknown);
	if (bytes == 1)
		nve_gpr_write(cpu, nve_gpr_operand(0, 2), (struct nve_value){low, unknown});
	else
		write_pair(cpu, bytes, low, high, unknown);
	return 0;
}

int nve_exec_xadd(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_operand to = insn->operand[0], from = insn->operand[1];
	struct nve_value a, b;
	int stop = nve_operand_read(run, insn, to, &a);

	if (!stop)
		stop = nve_operand_read(run, insn, from, &b);
	if (stop)
		return stop;
	struct nve_value sum = compute(run, insn, a, b);

	if (to.kind == NVE_OPERAND_REG)
		nve_gpr_write(run->cpu, from, a);
	stop = nve_operand_write(run, to, sum);
	if (!stop && to.kind == NVE_OPERAND_MEM)
		nve_gpr_write(run->cpu, from, a);
	return stop;
}

int nve_exec_cmpxchg(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_operand to = insn->operand[0], acc = nve_gpr_operand(0, to.bytes);
	struct nve_value old, expected, src;
	int stop = nve_operand_read(run, insn, to, &old);

	if (!stop)
		stop = nve_operand_read(run, insn, insn->operand[1], &src);
	if (stop)
		return stop;
	nve_operand_read(run, insn, acc, &expected);
	bool unknown = old.unknown || expected.unknown;
	bool equal = old.v == expected.v;
	struct nve_value result = equal ? src : old;

	compute(run, insn, expected, old);
	result.unknown |= unknown;
	/* Memory is written back in any case, a register only if equal. */
	if (equal || unknown || to.kind == NVE_OPERAND_MEM)
		stop = nve_operand_write(run, to, result);
	if (!stop && (!equal || unknown))
		nve_gpr_write(run->cpu, acc, (struct nve_value){old.v, unknown});
	return stop;
}

/* cmpxchg8b, cmpxchg16b: rdx:rax against memory, rcx:rbx to store. */
int nve_exec_cmpxchg_wide(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_cpu *cpu = run->cpu;
	unsigned half = insn->mem_bytes / 2u;
	uint8_t old[16], store[16];
	uint64_t low = 0, high = 0;
	bool unknown;
	int stop = nve_mem_load(run, run->mem_addr, insn->mem_bytes, old, &unknown);

	if (stop)
		return stop;
	__builtin_memcpy(&low, old, half);
	__builtin_memcpy(&high, old + half, half);
	__builtin_memcpy(store, &cpu->gpr[3], half);
	__builtin_memcpy(store + half, &cpu->gpr[1], half);
	bool equal =
		low == nve_truncate(cpu->gpr[0], half) && high == nve_truncate(cpu->gpr[2], half);

	unknown |= (cpu->gpr_unknown & 5) != 0;
	stop = nve_mem_store(run, run->mem_addr, insn->mem_bytes, equal ? store : old,
			     unknown || (equal && (cpu->gpr_unknown & 10)));
	if (stop)
		return stop;
	nve_flags_write(run, NVE_FLAG_ZF, equal ? NVE_FLAG_ZF : 0, unknown);
	if (!equal || unknown)
		write_pair(cpu, half, low, high, unknown);
	return 0;
}
