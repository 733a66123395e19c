/* Copied instructions, those whose results stay unknown, gathers and scatters. */
#include "count/ahead/exec.h"

#include <string.h>

#include "base/base.h"

/* The bytes of a memory operand that are touched, and which of its lanes. */
struct span {
	uint32_t first, bytes;
	uint64_t lanes;
	bool unknown; /* the mask is: then all lanes are taken */
};

static uint64_t low_bits(unsigned count)
{
	return count >= 64 ? ~0ull : (1ull << count) - 1;
}

static uint64_t sign_lanes(const uint64_t *reg, unsigned lane_bytes, unsigned count)
{
	const uint8_t *bytes = (const uint8_t *)reg;
	uint64_t lanes = 0;

	for (unsigned i = 0; i < count; i++)
		lanes |= (uint64_t)(bytes[(i + 1) * lane_bytes - 1] >> 7) << i;
	return lanes;
}

static struct span active_span(const struct nve_run *run, const struct nve_insn *insn)
{
	unsigned count = insn->lane_bytes ? insn->mem_bytes / insn->lane_bytes : 1;
	struct span span = {0, insn->mem_bytes, low_bits(count), false};
	const struct nve_cpu *cpu = run->cpu;
	uint64_t lanes;

	if (insn->lanes == NVE_LANES_ALL)
		return span;
	if (insn->lanes == NVE_LANES_SIGN) {
		span.unknown = cpu->vec_unknown >> insn->lane_reg & 1;
		lanes = sign_lanes(cpu->zmm[insn->lane_reg], insn->lane_bytes, count);
	} else {
		span.unknown = cpu->k_unknown >> insn->lane_reg & 1;
		lanes = cpu->k[insn->lane_reg] & span.lanes;
	}
	if (span.unknown)
		return span;
	if (insn->lanes == NVE_LANES_COMPRESS)
		lanes = low_bits((unsigned)__builtin_popcountll(lanes));
	span.lanes = lanes;
	span.bytes = 0;
	if (lanes) {
		unsigned first = (unsigned)__builtin_ctzll(lanes);
		unsigned last = 63u - (unsigned)__builtin_clzll(lanes);

		span.first = first * insn->lane_bytes;
		span.bytes = (last + 1 - first) * insn->lane_bytes;
	}
	return span;
}

static bool inputs_unknown(const struct nve_run *run, const struct nve_insn *insn)
{
	const struct nve_cpu *cpu = run->cpu;

	return (cpu->vec_unknown & insn->vec_read) || (cpu->gpr_unknown & insn->gpr_read) ||
	       (cpu->k_unknown & insn->k_read) || (run->flags_unknown & insn->flags_read);
}

static void mark_outputs(struct nve_run *run, const struct nve_insn *insn, bool unknown)
{
	struct nve_cpu *cpu = run->cpu;
	uint32_t flags = insn->flags_write & NVE_ARITH_FLAGS;

	if (unknown) {
		cpu->vec_unknown |= insn->vec_write;
		cpu->gpr_unknown |= insn->gpr_write;
		cpu->k_unknown |= insn->k_write;
		run->flags_unknown |= flags;
	} else {
		cpu->vec_unknown &= ~insn->vec_write;
		cpu->gpr_unknown &= ~(uint32_t)insn->gpr_write;
		cpu->k_unknown &= (uint8_t)~insn->k_write;
		run->flags_unknown &= ~flags;
	}
	cpu->flags_unknown = run->flags_unknown != 0;
}

/* Stores the active lanes, run by run. */
static int store_lanes(struct nve_run *run, const struct nve_insn *insn, const struct span *span,
		       bool unknown)
{
	uint64_t lanes = span->lanes;
	uint32_t lane = insn->lane_bytes;
	int stop = 0;

	if (insn->lanes == NVE_LANES_ALL || span->unknown)
		return nve_mem_store(run, run->mem_addr, insn->mem_bytes, run->scratch, unknown);
	while (lanes && !stop) {
		unsigned first = (unsigned)__builtin_ctzll(lanes);
		uint64_t rest = ~(lanes >> first);
		unsigned count = rest ? (unsigned)__builtin_ctzll(rest) : 64;

		stop = nve_mem_store(run, run->mem_addr + first * lane, (size_t)count * lane,
				     run->scratch + first * lane, unknown);
		lanes &= ~(low_bits(count) << first);
	}
	return stop;
}

int nve_exec_native(struct nve_run *run, const struct nve_insn *insn)
{
	bool unknown = inputs_unknown(run, insn) || !insn->stub;
	struct span span = {0};
	int stop = 0;

	if (insn->has_mem) {
		span = active_span(run, insn);
		stop = nve_mem_addr(run, insn, &run->mem_addr);
		if (!stop && span.bytes)
			stop = nve_mem_touch(run, run->mem_addr + span.first, span.bytes,
					     insn->mem_kind);
		if (!stop && span.bytes && (insn->mem_kind & NVE_ACCESS_READ)) {
			bool mem_unknown;

			stop = nve_mem_load(run, run->mem_addr + span.first, span.bytes,
					    run->scratch + span.first, &mem_unknown);
			unknown |= mem_unknown;
		}
		if (stop)
			return stop;
	}
	if (!unknown)
		insn->stub(run->cpu, run->scratch);
	mark_outputs(run, insn, unknown);
	if (insn->mem_kind & NVE_ACCESS_WRITE)
		stop = store_lanes(run, insn, &span, unknown);
	return stop;
}

/* An operand of the size of a register is one access. */
static int touch_opaque(struct nve_run *run, const struct nve_insn *insn)
{
	static const uint8_t nothing[64];
	int stop;

	if (insn->mem_bytes > 64)
		return nve_mem_touch_long(run, run->mem_addr, insn->mem_bytes, insn->mem_kind);
	stop = nve_mem_touch(run, run->mem_addr, insn->mem_bytes, insn->mem_kind);
	if (!stop && (insn->mem_kind & NVE_ACCESS_WRITE))
		stop = nve_mem_store(run, run->mem_addr, insn->mem_bytes, nothing, true);
	return stop;
}

/* Makes its accesses; whatever it writes becomes unknown. */
int nve_exec_opaque(struct nve_run *run, const struct nve_insn *insn)
{
	int stop = 0;

	if (insn->has_mem) {
		stop = nve_mem_addr(run, insn, &run->mem_addr);
		if (!stop)
			stop = touch_opaque(run, insn);
	}
	if (!stop)
		mark_outputs(run, insn, true);
	return stop;
}

/* vzeroupper, vzeroall: they reach the first 16 registers alone. */
int nve_exec_vzero(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_cpu *cpu = run->cpu;
	unsigned keep = insn->mnemonic == ZYDIS_MNEMONIC_VZEROUPPER ? 2 : 0;

	for (unsigned i = 0; i < 16; i++)
		memset(&cpu->zmm[i][keep], 0, sizeof(cpu->zmm[i]) - 8 * keep);
	if (!keep)
		cpu->vec_unknown &= 0xffff0000;
	return 0;
}

static uint64_t lane_index(const struct nve_cpu *cpu, const struct nve_insn *insn, unsigned lane)
{
	const uint8_t *reg = (const uint8_t *)cpu->zmm[insn->index];
	uint64_t index = 0;

	memcpy(&index, reg + lane * insn->index_bytes, insn->index_bytes);
	return nve_sign_extend(index, insn->index_bytes) * insn->scale;
}

static int lane_base(const struct nve_run *run, const struct nve_insn *insn, uint64_t *base)
{
	struct nve_insn plain = *insn;

	plain.index = NVE_NO_REG;
	if (insn->addr32)
		return NVE_STOP_UNSUPPORTED;
	if (run->cpu->vec_unknown >> insn->index & 1)
		return NVE_STOP_UNKNOWN_ADDRESS;
	return nve_mem_addr(run, &plain, base);
}

/* Clears the mask of a gather or scatter, as it does when all lanes are done. */
static void clear_lane_mask(struct nve_cpu *cpu, const struct nve_insn *insn)
{
	if (insn->lanes == NVE_LANES_K)
		cpu->k[insn->lane_reg] = 0;
	else
		memset(cpu->zmm[insn->lane_reg], 0, sizeof(cpu->zmm[0]));
}

int nve_exec_gather(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_cpu *cpu = run->cpu;
	struct span span = active_span(run, insn);
	uint32_t lane = insn->lane_bytes;
	bool unknown = cpu->vec_unknown >> insn->op & 1;
	uint64_t base;
	int stop = lane_base(run, insn, &base);

	if (!stop && span.unknown)
		stop = NVE_STOP_UNKNOWN_ADDRESS;
	memcpy(run->scratch, cpu->zmm[insn->op], 64);
	memset(run->scratch + insn->mem_bytes, 0, 64u - insn->mem_bytes);
	for (unsigned i = 0; i * lane < insn->mem_bytes && !stop; i++) {
		uint64_t addr = base + lane_index(cpu, insn, i);
		bool lane_unknown;

		if (!(span.lanes >> i & 1))
			continue;
		stop = nve_mem_touch(run, addr, lane, NVE_ACCESS_READ);
		if (!stop)
			stop = nve_mem_load(run, addr, lane, run->scratch + i * lane,
					    &lane_unknown);
		unknown |= !stop && lane_unknown;
	}
	if (stop)
		return stop;
	memcpy(cpu->zmm[insn->op], run->scratch, 64);
	clear_lane_mask(cpu, insn);
	mark_outputs(run, insn, false);
	if (unknown)
		cpu->vec_unknown |= 1u << insn->op;
	return 0;
}

int nve_exec_scatter(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_cpu *cpu = run->cpu;
	struct span span = active_span(run, insn);
	const uint8_t *from = (const uint8_t *)cpu->zmm[insn->op];
	uint32_t lane = insn->lane_bytes;
	uint64_t base;
	int stop = lane_base(run, insn, &base);

	if (!stop && span.unknown)
		stop = NVE_STOP_UNKNOWN_ADDRESS;
	for (unsigned i = 0; i * lane < insn->mem_bytes && !stop; i++) {
		uint64_t addr = base + lane_index(cpu, insn, i);

		if (!(span.lanes >> i & 1))
			continue;
		stop = nve_mem_touch(run, addr, lane, NVE_ACCESS_WRITE);
		if (!stop)
			stop = nve_mem_store(run, addr, lane, from + i * lane,
					     cpu->vec_unknown >> insn->op & 1);
	}
	if (!stop)
		clear_lane_mask(cpu, insn);
	return stop;
}
