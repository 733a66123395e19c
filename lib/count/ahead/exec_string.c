/* movs, stos, lods, cmps, scas, with and without a repeat prefix. */
#include "count/ahead/exec.h"

#include "base/base.h"
#include "count/ahead/alu.h"

enum { RAX, RCX, RSI = 6, RDI = 7 };

/* What one round of a string instruction works on. */
struct round {
	uint32_t bytes; /* of the round: one element, or a piece of a line */
	uint32_t element;
	bool stop_repeat;
};

static bool reads_si(unsigned op)
{
	return op != NVE_STRING_STOS && op != NVE_STRING_SCAS;
}

static bool uses_di(unsigned op)
{
	return op != NVE_STRING_LODS;
}

unsigned nve_string_register(const struct nve_insn *insn, bool writes)
{
	return writes || !reads_si(insn->op) ? RDI : RSI;
}

static uint64_t source(const struct nve_run *run, const struct nve_insn *insn)
{
	uint64_t at = run->cpu->gpr[RSI];

	if (insn->segment == NVE_SEGMENT_FS)
		at += run->cpu->fs_base;
	else if (insn->segment == NVE_SEGMENT_GS)
		at += run->cpu->gs_base;
	return at;
}

/*
 * Bytes that a repeated movs or stos may do at once: up to the ends of both lines, and never so
 * many that a later element would read what an earlier one stored.
 */
static uint32_t piece_bytes(const struct nve_run *run, const struct nve_insn *insn)
{
	const struct nve_cpu *cpu = run->cpu;
	uint32_t element = insn->mem_bytes;
	uint64_t bytes = 64 - (cpu->gpr[RDI] & 63);

	if (insn->rep == NVE_REP_NONE || (cpu->rflags & NVE_FLAG_DF) || insn->op > NVE_STRING_STOS)
		return element;
	if (insn->op == NVE_STRING_MOVS) {
		uint64_t from = source(run, insn), ahead = cpu->gpr[RDI] - from;

		bytes = NVE_MIN(bytes, 64 - (from & 63));
		if (ahead && ahead < bytes)
			bytes = ahead;
	}
	if (cpu->gpr[RCX] < bytes / element)
		bytes = cpu->gpr[RCX] * element;
	bytes -= bytes % element;
	return bytes ? (uint32_t)bytes : element;
}

static int copy_round(struct nve_run *run, const struct nve_insn *insn, struct round *round)
{
	uint8_t data[64];
	uint64_t from = source(run, insn), to = run->cpu->gpr[RDI];
	bool unknown;
	int stop = nve_mem_touch(run, from, round->bytes, NVE_ACCESS_READ);

	if (!stop)
		stop = nve_mem_load(run, from, round->bytes, data, &unknown);
	if (!stop)
		stop = nve_mem_touch(run, to, round->bytes, NVE_ACCESS_WRITE);
	return stop ? stop : nve_mem_store(run, to, round->bytes, data, unknown);
}

static int fill_round(struct nve_run *run, const struct nve_insn *insn, struct round *round)
{
	uint8_t data[64];
	uint64_t to = run->cpu->gpr[RDI];
	int stop = nve_mem_touch(run, to, round->bytes, NVE_ACCESS_WRITE);

	(void)insn;
	for (uint32_t i = 0; i < round->bytes; i += round->element)
		__builtin_memcpy(data + i, &run->cpu->gpr[RAX], round->element);
	return stop ? stop
		    : nve_mem_store(run, to, round->bytes, data, run->cpu->gpr_unknown >> RAX & 1);
}

static int load_element(struct nve_run *run, uint64_t from, uint32_t bytes, struct nve_value *value)
{
	int stop = nve_mem_touch(run, from, bytes, NVE_ACCESS_READ);

	value->v = 0;
	return stop ? stop : nve_mem_load(run, from, bytes, &value->v, &value->unknown);
}

static int load_round(struct nve_run *run, const struct nve_insn *insn, struct round *round)
{
	struct nve_value value;
	int stop = load_element(run, source(run, insn), round->element, &value);

	if (!stop)
		nve_gpr_write(run->cpu, nve_gpr_operand(RAX, round->element), value);
	return stop;
}

static int compare_round(struct nve_run *run, const struct nve_insn *insn, struct round *round)
{
	struct nve_value a, b;
	uint64_t flags = run->cpu->rflags;
	int stop = 0;

	if (insn->op == NVE_STRING_CMPS)
		stop = load_element(run, source(run, insn), round->element, &a);
	else
		a = nve_gpr_read(run->cpu, RAX);
	if (!stop)
		stop = load_element(run, run->cpu->gpr[RDI], round->element, &b);
	if (stop)
		return stop;
	bool unknown = a.unknown || b.unknown;

	if (unknown && insn->rep != NVE_REP_NONE)
		return NVE_STOP_UNKNOWN_BRANCH;
	nve_alu(NVE_ALU_SUB, round->element, a.v, b.v, &flags);
	nve_flags_write(run, NVE_ARITH_FLAGS, flags, unknown);
	bool equal = flags & NVE_FLAG_ZF;

	round->stop_repeat = equal != (insn->rep == NVE_REP_EQUAL);
	return 0;
}

static int do_round(struct nve_run *run, const struct nve_insn *insn, struct round *round)
{
	switch (insn->op) {
	case NVE_STRING_MOVS: return copy_round(run, insn, round);
	case NVE_STRING_STOS: return fill_round(run, insn, round);
	case NVE_STRING_LODS: return load_round(run, insn, round);
	default: return compare_round(run, insn, round);
	}
}

static void advance(struct nve_run *run, const struct nve_insn *insn, const struct round *round)
{
	struct nve_cpu *cpu = run->cpu;
	uint64_t by = cpu->rflags & NVE_FLAG_DF ? -(uint64_t)round->bytes : round->bytes;

	if (reads_si(insn->op))
		cpu->gpr[RSI] += by;
	if (uses_di(insn->op))
		cpu->gpr[RDI] += by;
	if (insn->rep != NVE_REP_NONE)
		cpu->gpr[RCX] -= round->bytes / round->element;
}

static int check_inputs(const struct nve_run *run, const struct nve_insn *insn)
{
	uint32_t unknown = run->cpu->gpr_unknown;

	if (insn->addr32)
		return NVE_STOP_UNSUPPORTED;
	if (insn->rep != NVE_REP_NONE && (unknown >> RCX & 1))
		return NVE_STOP_UNKNOWN_BRANCH;
	if ((reads_si(insn->op) && (unknown >> RSI & 1)) ||
	    (uses_di(insn->op) && (unknown >> RDI & 1)))
		return NVE_STOP_UNKNOWN_ADDRESS;
	return 0;
}

/*
 * Each round counts as one instruction. A run that reaches its limit between two rounds stays at
 * the instruction, with the registers as an interrupt would leave them.
 */
int nve_exec_string(struct nve_run *run, const struct nve_insn *insn)
{
	struct round round = {.element = insn->mem_bytes};
	int stop = check_inputs(run, insn);

	while (!stop && (insn->rep == NVE_REP_NONE || run->cpu->gpr[RCX])) {
		round.bytes = piece_bytes(run, insn);
		stop = do_round(run, insn, &round);
		if (stop)
			break;
		advance(run, insn, &round);
		if (insn->rep == NVE_REP_NONE || round.stop_repeat || !run->cpu->gpr[RCX])
			break;
		if (run->step + 1 >= run->limit) {
			run->next = run->ip;
			break;
		}
		run->step++;
	}
	return stop;
}
