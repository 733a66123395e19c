/*
 * What executing an instruction has at hand: the run, its registers, its memory.
 */
#ifndef NVE_AHEAD_EXEC_H
#define NVE_AHEAD_EXEC_H

#include "count/ahead/decode.h"
#include "count/ahead/exec_list.h"
#include "count/ahead/overlay.h"

struct nve_run {
	struct nve_interp *in;
	struct nve_overlay *overlay;
	uint8_t *scratch; /* 64-byte aligned, for the memory operand of a copied instruction */
	struct nve_xsave_image *xsaved;
	struct nve_cpu *cpu;
	const struct nve_interp_world *world;
	uint32_t step, limit;
	uint32_t flags_unknown; /* which arithmetic flags */
	uint64_t ip, next;      /* this instruction, the next one */
	uint64_t mem_addr;      /* of the memory operand, once opened */
};

/* Vector registers as an xsave wrote them, for the xrstor that takes them back. */
struct nve_xsave_image {
	alignas(64) uint64_t zmm[32][8];
	uint64_t k[8];
	uint64_t addr; /* 0: none */
	uint64_t mask;
	uint32_t vec_unknown;
	uint8_t k_unknown;
};

struct nve_value {
	uint64_t v;
	bool unknown;
};

/* Memory. Each returns 0 or the stop. */
int nve_mem_addr(const struct nve_run *run, const struct nve_insn *insn, uint64_t *addr);
int nve_mem_open(struct nve_run *run, const struct nve_insn *insn);
int nve_mem_touch(struct nve_run *run, uint64_t addr, uint32_t size, uint32_t kind);
int nve_mem_load(const struct nve_run *run, uint64_t addr, size_t size, void *dst, bool *unknown);
int nve_mem_store(struct nve_run *run, uint64_t addr, size_t size, const void *src, bool unknown);

/* The register with the address of what a string instruction reads, or writes. */
unsigned nve_string_register(const struct nve_insn *insn, bool writes);

/* Announces a long operand by lines; a written one becomes unknown. */
int nve_mem_touch_long(struct nve_run *run, uint64_t addr, uint32_t bytes, uint32_t kind);

/*
 * The program's rounding and denormal modes hold for copied instructions while a run lasts; what
 * they raise gathers in the status bits. Exceptions stay masked.
 */
#define NVE_MXCSR_MASKS 0x1f80u

static inline void nve_mxcsr_load(uint32_t mxcsr)
{
	__builtin_ia32_ldmxcsr((mxcsr & 0xffff) | NVE_MXCSR_MASKS);
}

static inline uint32_t nve_mxcsr_now(const struct nve_cpu *cpu)
{
	return (__builtin_ia32_stmxcsr() & ~NVE_MXCSR_MASKS) | (cpu->mxcsr & NVE_MXCSR_MASKS);
}

/* Condition of the low four bits of an opcode; unknown if a flag that it reads is. */
struct nve_value nve_condition(const struct nve_run *run, unsigned code);

static inline uint64_t nve_truncate(uint64_t v, unsigned bytes)
{
	return bytes >= 8 ? v : v & ((1ull << (8 * bytes)) - 1);
}

static inline uint64_t nve_sign_extend(uint64_t v, unsigned bytes)
{
	unsigned shift = 64 - 8 * bytes;

	return (uint64_t)((int64_t)(v << shift) >> shift);
}

static inline struct nve_value nve_gpr_read(const struct nve_cpu *cpu, unsigned reg)
{
	return (struct nve_value){cpu->gpr[reg], cpu->gpr_unknown >> reg & 1};
}

/* Writes the lowest bytes of a register as the processor does: 4 zero-extend, 1 and 2 merge. */
static inline void nve_gpr_write(struct nve_cpu *cpu, struct nve_operand op, struct nve_value value)
{
	uint64_t *reg = &cpu->gpr[op.reg];
	uint32_t bit = 1u << op.reg;

	if (op.bytes >= 4) {
		*reg = nve_truncate(value.v, op.bytes);
		cpu->gpr_unknown = value.unknown ? cpu->gpr_unknown | bit : cpu->gpr_unknown & ~bit;
		return;
	}
	uint64_t mask = nve_truncate(~0ull, op.bytes) << op.shift;

	*reg = (*reg & ~mask) | (value.v << op.shift & mask);
	if (value.unknown)
		cpu->gpr_unknown |= bit;
}

static inline struct nve_operand nve_gpr_operand(unsigned reg, unsigned bytes)
{
	return (struct nve_operand){NVE_OPERAND_REG, (uint8_t)reg, 0, (uint8_t)bytes};
}

static inline void nve_flags_write(struct nve_run *run, uint32_t mask, uint64_t flags, bool unknown)
{
	run->cpu->rflags = (run->cpu->rflags & ~(uint64_t)mask) | (flags & mask);
	mask &= NVE_ARITH_FLAGS;
	run->flags_unknown = unknown ? run->flags_unknown | mask : run->flags_unknown & ~mask;
	run->cpu->flags_unknown = run->flags_unknown != 0;
}

/* Value of an operand; one in memory must have been opened. */
static inline int nve_operand_read(const struct nve_run *run, const struct nve_insn *insn,
				   struct nve_operand op, struct nve_value *value)
{
	switch (op.kind) {
	case NVE_OPERAND_REG:
		*value = nve_gpr_read(run->cpu, op.reg);
		value->v = nve_truncate(value->v >> op.shift, op.bytes);
		return 0;
	case NVE_OPERAND_MEM:
		value->v = 0;
		return nve_mem_load(run, run->mem_addr, op.bytes, &value->v, &value->unknown);
	default: *value = (struct nve_value){insn->imm, false}; return 0;
	}
}

static inline int nve_operand_write(struct nve_run *run, struct nve_operand op,
				    struct nve_value value)
{
	if (op.kind == NVE_OPERAND_MEM)
		return nve_mem_store(run, run->mem_addr, op.bytes, &value.v, value.unknown);
	nve_gpr_write(run->cpu, op, value);
	return 0;
}

#endif
