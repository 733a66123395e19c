#include "lockstep.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPARED_FLAGS 0xcd5u /* arithmetic flags and DF */

struct window {
	struct tracee *t;
	struct nve_cpu cpu;
	struct nve_cpu *before; /* [i]: registers before instruction i; the last: at the end */
	uint64_t *step_of;      /* the step count announced with them */
	uint32_t count;
	struct nve_access *accesses;
	uint32_t access_count;
};

static struct window w;
static struct nve_interp *interp;

#define ACCESS_MAX (LOCKSTEP_MAX * 40u)

int lockstep_init(void)
{
	void *mem = aligned_alloc(64, (nve_interp_bytes() + 63) & ~63ul);

	w.before = aligned_alloc(64, (LOCKSTEP_MAX + 2) * sizeof(*w.before));
	w.step_of = calloc(LOCKSTEP_MAX + 2, sizeof(*w.step_of));
	w.accesses = calloc(ACCESS_MAX, sizeof(*w.accesses));
	if (!mem || !w.before || !w.step_of || !w.accesses)
		return -ENOMEM;
	memset(mem, 0, nve_interp_bytes());
	interp = nve_interp_init(mem);
	return 0;
}

static int on_access(void *ctx, const struct nve_access *access)
{
	struct window *window = ctx;
	uint8_t probe[64];

	if (window->access_count < ACCESS_MAX)
		window->accesses[window->access_count++] = *access;
	return tracee_read(window->t, access->addr, probe, access->size);
}

static int on_read(void *ctx, uint64_t addr, void *dst, size_t size)
{
	struct window *window = ctx;

	return tracee_read(window->t, addr, dst, size);
}

static int on_fetch(void *ctx, uint64_t addr, uint8_t dst[16])
{
	struct window *window = ctx;
	int rest = 4096 - (int)(addr & 4095);

	if (!tracee_read(window->t, addr, dst, 16))
		return 16;
	return rest < 16 ? (tracee_read(window->t, addr, dst, (size_t)rest) ? -EFAULT : rest)
			 : -EFAULT;
}

static void on_step(void *ctx, uint64_t ip, uint32_t step)
{
	struct window *window = ctx;

	(void)ip;
	window->step_of[window->count] = step;
	window->before[window->count++] = window->cpu;
}

static uint64_t on_tsc(void *ctx)
{
	(void)ctx;
	return __builtin_ia32_rdtsc();
}

static struct nve_interp_world world = {
	.access = on_access, .read = on_read, .fetch = on_fetch, .step = on_step, .ctx = &w};

static bool has_unknown(const struct nve_cpu *cpu)
{
	return cpu->gpr_unknown || cpu->vec_unknown || cpu->k_unknown || cpu->flags_unknown;
}

/* Mnemonic of the first instruction of the window that left something unknown, or "". */
static const char *source_of_unknown(void)
{
	static char name[24];
	static ZydisDisassembledInstruction insn;
	uint8_t code[16];

	name[0] = 0;
	for (uint32_t i = 0; i < w.count; i++) {
		if (!has_unknown(&w.before[i + 1]))
			continue;
		if (!tracee_read(w.t, w.before[i].rip, code, 15) &&
		    ZYAN_SUCCESS(
			    ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, 0, code, 15, &insn)))
			snprintf(name, sizeof(name), "%.23s", insn.text);
		break;
	}
	return name;
}

static void count_stop(struct lockstep_totals *totals, enum nve_stop stop)
{
	char name[sizeof(totals->reasons[0].name)];

	totals->stops[stop]++;
	if (stop == NVE_STOP_LIMIT || stop == NVE_STOP_SYSCALL)
		return;
	snprintf(name, sizeof(name), "%s < %s", nve_interp_stop_name(interp), source_of_unknown());
	for (unsigned i = 0; i < 32; i++) {
		if (!totals->reasons[i].count)
			snprintf(totals->reasons[i].name, sizeof(totals->reasons[i].name), "%s",
				 name);
		if (strcmp(totals->reasons[i].name, name))
			continue;
		totals->reasons[i].count++;
		return;
	}
}

static struct nve_interp_result interpret(struct tracee *t, uint32_t limit,
					  struct lockstep_totals *totals)
{
	struct nve_interp_result result;

	tracee_forget(t);
	tracee_get(t, &w.cpu);
	w.t = t;
	w.count = 0;
	w.access_count = 0;
	result = nve_interp_run(interp, &w.cpu, &world, limit);
	/* The instruction that stopped the run was announced but not interpreted. */
	while (w.count && w.step_of[w.count - 1] >= result.steps)
		w.count--;
	w.before[w.count] = w.cpu;
	totals->windows++;
	totals->steps += result.steps;
	totals->accesses += w.access_count;
	count_stop(totals, result.stop);
	return result;
}

void lockstep_ahead(struct tracee *t, uint32_t limit, struct lockstep_totals *totals)
{
	world.tsc = on_tsc;
	tracee_share_vvar(t);
	interpret(t, limit, totals);
}

static void print_instruction(const struct nve_cpu *cpu)
{
	ZydisDisassembledInstruction insn;
	uint8_t code[16];

	if (tracee_read(w.t, cpu->rip, code, 15))
		memset(code, 0, sizeof(code));
	ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, cpu->rip, code, 15, &insn);
	printf("  %llx: %s\n  code", (unsigned long long)cpu->rip, insn.text);
	for (unsigned i = 0; i < insn.info.length; i++)
		printf(" %02x", code[i]);
	printf("\n");
}

static unsigned differ(const char *name, unsigned i, uint64_t mine, uint64_t real)
{
	if (mine == real)
		return 0;
	printf("  %s%u: interpreted %016llx, processor %016llx\n", name, i,
	       (unsigned long long)mine, (unsigned long long)real);
	return 1;
}

/* Number of registers that are known and wrong. */
static unsigned compare(const struct nve_cpu *mine, const struct nve_cpu *real)
{
	unsigned wrong = differ("rip", 0, mine->rip, real->rip);

	for (unsigned i = 0; i < 16; i++)
		if (!(mine->gpr_unknown >> i & 1))
			wrong += differ("gpr", i, mine->gpr[i], real->gpr[i]);
	if (!mine->flags_unknown)
		wrong += differ("flags", 0, mine->rflags & COMPARED_FLAGS,
				real->rflags & COMPARED_FLAGS);
	if (memcmp(mine->zmm, real->zmm, sizeof(mine->zmm)))
		for (unsigned i = 0; i < 32; i++)
			for (unsigned j = 0; j < 8 && !(mine->vec_unknown >> i & 1); j++)
				wrong += differ("zmm", i, mine->zmm[i][j], real->zmm[i][j]);
	for (unsigned i = 0; i < 8; i++)
		if (!(mine->k_unknown >> i & 1))
			wrong += differ("k", i, mine->k[i], real->k[i]);
	return wrong;
}

static bool decode(uint64_t ip, ZydisDecodedInstruction *insn, ZydisDecodedOperand *op)
{
	ZydisDecodedOperand unused[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecoder decoder;
	uint8_t code[16] = {0};

	on_fetch(&w, ip, code);
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, 15, insn, op ? op : unused));
}

static bool is_repeated(const struct nve_cpu *cpu)
{
	ZydisDecodedInstruction insn;

	return decode(cpu->rip, &insn, NULL) &&
	       (insn.attributes &
		(ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE));
}

/* Steps over the instruction at *before, a repeated one up to where the interpreter got. */
static int step_over(struct tracee *t, const struct nve_cpu *before, const struct nve_cpu *after,
		     struct nve_cpu *real)
{
	bool repeated = is_repeated(before);
	int err;

	do {
		err = tracee_step(t);
		tracee_get(t, real);
	} while (!err && repeated && real->rip == before->rip &&
		 (after->rip != before->rip || real->gpr[1] != after->gpr[1]));
	return err;
}

static bool makes_plain_access(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *op)
{
	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.type != ZYDIS_MEMOP_TYPE_MEM)
		return false;
	if (insn->avx.mask.reg > ZYDIS_REGISTER_K0 || insn->mnemonic == ZYDIS_MNEMONIC_POP)
		return false;
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_BITBYTE:
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLDEMOTE:
	case ZYDIS_CATEGORY_CLWB: return false;
	default: break;
	}
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ: return false;
	default: return op->size <= 512;
	}
}

static void fill_context(const struct nve_cpu *cpu, ZydisRegisterContext *context)
{
	memset(context, 0, sizeof(*context));
	for (unsigned i = 0; i < 16; i++) {
		context->values[ZYDIS_REGISTER_RAX + i] = cpu->gpr[i];
		context->values[ZYDIS_REGISTER_EAX + i] = (uint32_t)cpu->gpr[i];
	}
}

/* The visible memory operand's address by the decoder's own arithmetic must have been announced. */
static unsigned compare_address(const struct nve_cpu *real, uint64_t step)
{
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisRegisterContext context;
	ZyanU64 addr;

	if (!decode(real->rip, &insn, op))
		return 0;
	for (unsigned i = 0; i < insn.operand_count_visible; i++) {
		if (!makes_plain_access(&insn, &op[i]))
			continue;
		fill_context(real, &context);
		ZydisCalcAbsoluteAddressEx(&insn, &op[i], real->rip, &context, &addr);
		if (op[i].mem.segment == ZYDIS_REGISTER_FS)
			addr += real->fs_base;
		for (unsigned j = 0; j < w.access_count; j++)
			if (w.accesses[j].step == step && w.accesses[j].addr == addr &&
			    w.accesses[j].size == op[i].size / 8u)
				return 0;
		printf("  no access announced to %llx, %u bytes\n", (unsigned long long)addr,
		       op[i].size / 8u);
		return 1;
	}
	return 0;
}

static bool is_pushf(const struct nve_access *access)
{
	ZydisDecodedInstruction insn;

	return decode(access->ip, &insn, NULL) &&
	       (insn.mnemonic == ZYDIS_MNEMONIC_PUSHFQ || insn.mnemonic == ZYDIS_MNEMONIC_PUSHF);
}

/* What the interpreted program would read must be what the real one has in memory now. */
static unsigned compare_memory(struct tracee *t)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < w.access_count; i++) {
		const struct nve_access *a = &w.accesses[i];
		uint8_t mine[64], real[64];

		if (!(a->kind & NVE_ACCESS_WRITE) || a->step >= w.step_of[w.count - 1] + 1)
			continue;
		if (nve_interp_peek(interp, &world, a->addr, mine, a->size) ||
		    tracee_read_now(t, a->addr, real, a->size))
			continue;
		if (is_pushf(a))
			real[1] &= 0xfe; /* the trap flag is ours */
		if (!memcmp(mine, real, a->size))
			continue;
		printf("  memory at %llx, %u bytes, stored at %llx, differs\n",
		       (unsigned long long)a->addr, a->size, (unsigned long long)a->ip);
		for (unsigned j = 0; j < w.count; j++)
			if (w.step_of[j] == a->step)
				print_instruction(&w.before[j]);
		wrong++;
	}
	return wrong;
}

static void count_registers(const struct nve_cpu *cpu, struct lockstep_totals *totals)
{
	totals->all_registers += 16 + 32 + 8;
	totals->known_registers += 16 + 32 + 8 - (unsigned)__builtin_popcount(cpu->gpr_unknown) -
				   (unsigned)__builtin_popcount(cpu->vec_unknown) -
				   (unsigned)__builtin_popcount(cpu->k_unknown);
}

int lockstep_window(struct tracee *t, uint32_t limit, struct lockstep_totals *totals)
{
	static struct nve_cpu real;

	world.tsc = NULL;
	interpret(t, limit, totals);
	for (uint32_t i = 0; i < w.count; i++) {
		const struct nve_cpu *before = &w.before[i], *after = &w.before[i + 1];
		unsigned wrong = compare_address(before, w.step_of[i]);
		int err = step_over(t, before, after, &real);

		if (err)
			return err;
		totals->compared++;
		count_registers(after, totals);
		wrong += compare(after, &real);
		if (wrong) {
			printf("mismatch at instruction %u of %u\n", i, w.count);
			print_instruction(before);
			totals->mismatches++;
			return 1;
		}
	}
	if (w.count && compare_memory(t)) {
		totals->mismatches++;
		return 1;
	}
	return 0;
}

void lockstep_print(const char *what, const struct lockstep_totals *totals)
{
	static const char *const names[NVE_STOP_COUNT] = {
		"limit",           "syscall",     "unmapped", "unknown branch",
		"unknown address", "unsupported", "trap",     "overlay"};
	double windows = totals->windows ? (double)totals->windows : 1;
	double registers = totals->all_registers ? (double)totals->all_registers : 1;

	printf("%s: %llu windows, mean %.0f, compared %llu, accesses %llu, known %.4f\n", what,
	       (unsigned long long)totals->windows, (double)totals->steps / windows,
	       (unsigned long long)totals->compared, (unsigned long long)totals->accesses,
	       (double)totals->known_registers / registers);
	for (unsigned i = 0; i < NVE_STOP_COUNT; i++)
		if (totals->stops[i])
			printf("  %s %llu", names[i], (unsigned long long)totals->stops[i]);
	for (unsigned i = 0; i < 32 && totals->reasons[i].count; i++)
		printf("  [%s %llu]", totals->reasons[i].name,
		       (unsigned long long)totals->reasons[i].count);
	printf("\n");
}
