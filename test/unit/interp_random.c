/*
 * The interpreter against the processor, over random instructions: each with random registers, its
 * memory operand in a buffer of the child, compared after one step.
 *
 * Arguments: interp_random [SEED INSTRUCTIONS [sse|avx]]; the last as if the processor had no wider
 * registers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include "count/ahead/host.h"
#include "lockstep.h"
#include "unit.h"

#define DATA_BYTES 65536u

static struct {
	struct tracee child;
	ZydisDecoder decoder;
	uint8_t *code; /* one page, at the same address in the child */
	uint8_t *data;
	uint64_t seed;
	uint64_t count; /* of instructions to compare */
	enum nve_vector_width widest;
	uint8_t covered[ZYDIS_MNEMONIC_MAX_VALUE + 1];
} r;

static uint64_t random64(void)
{
	r.seed ^= r.seed << 13;
	r.seed ^= r.seed >> 7;
	r.seed ^= r.seed << 17;
	return r.seed * 0x2545f4914f6cdd1dull;
}

static bool chance(unsigned percent)
{
	return random64() % 100 < percent;
}

/* Values that meet the edges of arithmetic more often than chance would. */
static uint64_t random_value(void)
{
	static const uint64_t edges[] = {0,
					 1,
					 2,
					 0x7f,
					 0x80,
					 0xff,
					 0x7fff,
					 0x8000,
					 0x7fffffff,
					 0x80000000,
					 0xffffffff,
					 0x7fffffffffffffff,
					 0x8000000000000000,
					 0xffffffffffffffff,
					 0x3ff0000000000000,
					 0x3f8000003f800000,
					 0x7ff8000000000000};

	if (chance(30))
		return edges[random64() % (sizeof(edges) / sizeof(edges[0]))];
	return chance(50) ? random64() : random64() >> random64() % 64;
}

static unsigned put_legacy(uint8_t *code)
{
	static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0xf0, 0x67};
	unsigned n = 0, map = (unsigned)(random64() % 4);

	if (chance(40))
		code[n++] = prefixes[random64() % sizeof(prefixes)];
	if (chance(50))
		code[n++] = 0x40 | (random64() & 15);
	if (map)
		code[n++] = 0x0f;
	if (map >= 2)
		code[n++] = map == 2 ? 0x38 : 0x3a;
	return n;
}

static void random_code(uint8_t code[16])
{
	unsigned kind = (unsigned)(random64() % 4), n = 0;

	for (unsigned i = 0; i < 16; i++)
		code[i] = (uint8_t)random64();
	if (kind <= 1)
		n = put_legacy(code);
	else if (kind == 2)
		code[n] = chance(30) ? 0xc5 : 0xc4;
	else
		code[n] = 0x62;
}

static bool is_candidate(const ZydisDecodedInstruction *insn)
{
	switch (insn->meta.category) {
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
	case ZYDIS_CATEGORY_STRINGOP:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_X87_ALU:
	case ZYDIS_CATEGORY_SEGOP: return false;
	default: break;
	}
	/* Loaded control words would outlive the instruction. */
	return insn->mnemonic != ZYDIS_MNEMONIC_LDMXCSR &&
	       insn->mnemonic != ZYDIS_MNEMONIC_VLDMXCSR;
}

static int gpr_number(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15
		       ? (int)(reg - ZYDIS_REGISTER_RAX)
		       : -1;
}

/* What registers of the narrower processor cannot hold is zero. */
static void narrow(struct nve_cpu *cpu)
{
	unsigned kept = r.widest == NVE_VECTOR_SSE ? 2 : 4;

	if (r.widest == NVE_VECTOR_AVX512)
		return;
	for (unsigned i = 0; i < 32; i++)
		memset(&cpu->zmm[i][i < 16 ? kept : 0], 0, 8 * (8 - (i < 16 ? kept : 0)));
	memset(cpu->k, 0, sizeof(cpu->k));
}

static void random_registers(struct nve_cpu *cpu)
{
	for (unsigned i = 0; i < 16; i++)
		cpu->gpr[i] = random_value();
	cpu->gpr[4] = (uint64_t)(uintptr_t)r.data + DATA_BYTES / 2;
	for (unsigned i = 0; i < 32; i++)
		for (unsigned j = 0; j < 8; j++)
			cpu->zmm[i][j] = random_value();
	if (chance(20))
		memcpy(cpu->zmm[random64() % 32], cpu->zmm[random64() % 32], 64);
	for (unsigned i = 0; i < 8; i++)
		cpu->k[i] = random_value();
	narrow(cpu);
	cpu->rflags = 0x202 | (random64() & 0x8d5);
	cpu->mxcsr = 0x1f80;
	if (chance(10))
		cpu->mxcsr |= random64() & 0xe040;
	cpu->x87_control = 0x37f;
}

/* Points the address of op into the data; false if its form does not allow that. */
static bool place(struct nve_cpu *cpu, const ZydisDecodedInstruction *insn,
		  const ZydisDecodedOperand *op)
{
	int base = gpr_number(op->mem.base), index = gpr_number(op->mem.index);
	uint64_t target =
		(uint64_t)(uintptr_t)r.data + DATA_BYTES / 4 + random64() % (DATA_BYTES / 2);

	if (chance(60))
		target &= ~63ull;
	if (op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS)
		return false;
	if (base < 0 || base == index || insn->address_width != 64)
		return false;
	if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
		uint64_t *lanes = cpu->zmm[ZydisRegisterGetId(op->mem.index)];

		for (unsigned i = 0; i < 8; i++)
			lanes[i] = chance(50) ? random64() & 0x7ff : random64() & 0x7ff000001ffull;
	}
	if (index >= 0)
		cpu->gpr[index] = random64() % 512;
	cpu->gpr[base] = target - (uint64_t)op->mem.disp.value -
			 (index >= 0 ? cpu->gpr[index] * op->mem.scale : 0);
	return true;
}

/* A random instruction that may be stepped, with registers to match. */
static bool choose(uint8_t code[16], struct nve_cpu *cpu, ZydisMnemonic *mnemonic)
{
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

	random_code(code);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&r.decoder, code, 15, &insn, op)) ||
	    !is_candidate(&insn))
		return false;
	random_registers(cpu);
	for (unsigned i = 0; i < insn.operand_count; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && !place(cpu, &insn, &op[i]))
			return false;
	*mnemonic = insn.mnemonic;
	return true;
}

static int lay_out(void **state)
{
	uint8_t *at = mmap(NULL, 4096 + DATA_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	if (at == MAP_FAILED)
		return -1;
	r.code = at;
	r.data = at + 4096;
	nve_interp_setup();
	nve_host_limit(r.widest);
	ZydisDecoderInit(&r.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (unsigned i = 0; i < DATA_BYTES; i += 8) {
		uint64_t value = random_value();

		memcpy(r.data + i, &value, sizeof(value));
	}
	return lockstep_init();
}

static void do_nothing(void *arg)
{
	(void)arg;
}

static void streams(void **state)
{
	struct lockstep_totals totals = {0};
	static struct nve_cpu cpu;
	unsigned mnemonics = 0, tries = 0;
	uint8_t code[16];

	(void)state;
	assert_int_equal(tracee_fork(&r.child, do_nothing, NULL), 0);
	tracee_get(&r.child, &cpu);
	while (totals.windows < r.count && totals.mismatches < 10 && tries++ < 400 * r.count) {
		ZydisMnemonic mnemonic;
		uint64_t before = totals.compared;

		if (!choose(code, &cpu, &mnemonic))
			continue;
		cpu.rip = (uint64_t)(uintptr_t)r.code;
		tracee_write(&r.child, cpu.rip, code, sizeof(code));
		tracee_set(&r.child, &cpu);
		assert_int_not_equal(lockstep_window(&r.child, 1, &totals), -ECHILD);
		if (totals.compared > before && !r.covered[mnemonic]) {
			r.covered[mnemonic] = 1;
			mnemonics++;
		}
	}
	tracee_kill(&r.child);
	lockstep_print("random", &totals);
	printf("%u mnemonics, %u tries\n", mnemonics, tries);
	assert_int_equal(totals.mismatches, 0);
	assert_true(mnemonics > 300);
	assert_true(totals.known_registers * 1000 > totals.all_registers * 990);
}

static bool is_ptrace_allowed(void)
{
	bool allowed = !tracee_fork(&r.child, do_nothing, NULL);

	tracee_kill(&r.child);
	return allowed;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(streams)};

	r.seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 0x1234567;
	r.count = argc > 2 ? strtoull(argv[2], NULL, 0) : 150000;
	r.widest = NVE_VECTOR_AVX512;
	if (argc > 3)
		r.widest = strcmp(argv[3], "sse") ? NVE_VECTOR_AVX : NVE_VECTOR_SSE;
	if (!is_ptrace_allowed())
		return 77;
	return cmocka_run_group_tests(tests, lay_out, NULL);
}
