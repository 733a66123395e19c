#include "count/ahead/cpu_context.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/platform/x86.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAGIC1          0x46505853u /* FP_XSTATE_MAGIC1 of the kernel's signal frames */
#define SOFTWARE_OFFSET 464u        /* of the kernel's own words in the legacy area */
#define MXCSR_OFFSET    24u
#define XMM_OFFSET      160u
#define X87_INITIAL     0x37fu
#define MXCSR_INITIAL   0x1f80u
#define LEGACY_BYTES    512u
#define HEADER_BYTES    64u
#define HWCAP2_FSGSBASE 2u

enum component { X87, SSE, YMM = 2, OPMASK = 5, ZMM_HIGH = 6, ZMM_16 = 7, COMPONENTS = 8 };

static struct {
	uint32_t offset[COMPONENTS]; /* in standard format; 0: this processor has none */
	bool has_fsgsbase;
} layout;

void nve_cpu_context_setup(void)
{
	static const uint8_t sized[] = {YMM, OPMASK, ZMM_HIGH, ZMM_16};
	uint32_t a, b, c, d;

	/* Each question costs microseconds in a virtual machine: those with an answer only. */
	for (unsigned i = 0; i < sizeof(sized) && CPU_FEATURE_PRESENT(AVX); i++) {
		if (sized[i] != YMM && !CPU_FEATURE_PRESENT(AVX512F))
			break;
		__cpuid_count(0xd, sized[i], a, b, c, d);
		if (a)
			layout.offset[sized[i]] = b;
	}
	layout.has_fsgsbase = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
}

static uint64_t segment_base(bool is_fs)
{
	unsigned long base = 0;

	if (!layout.has_fsgsbase)
		syscall(SYS_arch_prctl, is_fs ? ARCH_GET_FS : ARCH_GET_GS, &base);
	else if (is_fs)
		__asm__ volatile("rdfsbase %0" : "=r"(base));
	else
		__asm__ volatile("rdgsbase %0" : "=r"(base));
	return base;
}

/* Part of an area, or NULL if it is in its initial state (all zero) or beyond what there is. */
static const uint8_t *part(const uint8_t *area, size_t bytes, uint64_t present,
			   enum component component, size_t size)
{
	uint32_t offset = layout.offset[component];

	if (!(present >> component & 1) || !offset || offset + size > bytes)
		return NULL;
	return area + offset;
}

void nve_cpu_from_xsave(struct nve_cpu *cpu, const void *area, size_t bytes)
{
	const uint8_t *from = area, *at;
	uint64_t present = 1u << X87 | 1u << SSE;

	memset(cpu->zmm, 0, sizeof(cpu->zmm));
	memset(cpu->k, 0, sizeof(cpu->k));
	if (bytes >= LEGACY_BYTES + HEADER_BYTES)
		memcpy(&present, from + LEGACY_BYTES, sizeof(present));
	cpu->x87_control = X87_INITIAL;
	cpu->mxcsr = MXCSR_INITIAL;
	if (present >> X87 & 1)
		memcpy(&cpu->x87_control, from, sizeof(cpu->x87_control));
	if (present & (1u << SSE | 1u << YMM))
		memcpy(&cpu->mxcsr, from + MXCSR_OFFSET, sizeof(cpu->mxcsr));
	if (present >> SSE & 1)
		for (unsigned i = 0; i < 16; i++)
			memcpy(&cpu->zmm[i][0], from + XMM_OFFSET + 16 * i, 16);
	if ((at = part(from, bytes, present, YMM, 16 * 16)))
		for (unsigned i = 0; i < 16; i++)
			memcpy(&cpu->zmm[i][2], at + 16 * i, 16);
	if ((at = part(from, bytes, present, OPMASK, 8 * 8)))
		memcpy(cpu->k, at, sizeof(cpu->k));
	if ((at = part(from, bytes, present, ZMM_HIGH, 16 * 32)))
		for (unsigned i = 0; i < 16; i++)
			memcpy(&cpu->zmm[i][4], at + 32 * i, 32);
	if ((at = part(from, bytes, present, ZMM_16, 16 * 64)))
		memcpy(cpu->zmm[16], at, 16 * sizeof(cpu->zmm[0]));
}

static uint8_t *part_to_write(uint8_t *area, size_t bytes, enum component component, size_t size)
{
	return (uint8_t *)part(area, bytes, ~0ull, component, size);
}

void nve_cpu_to_xsave(const struct nve_cpu *cpu, void *area, size_t bytes)
{
	const uint64_t all = 1u << SSE | 1u << YMM | 1u << OPMASK | 1u << ZMM_HIGH | 1u << ZMM_16;
	uint8_t *to = area, *at;
	uint64_t present;

	for (unsigned i = 0; i < 16; i++)
		memcpy(to + XMM_OFFSET + 16 * i, &cpu->zmm[i][0], 16);
	if (bytes < LEGACY_BYTES + HEADER_BYTES)
		return;
	memcpy(&present, to + LEGACY_BYTES, sizeof(present));
	present |= 1u << SSE;
	memcpy(to + MXCSR_OFFSET, &cpu->mxcsr, sizeof(cpu->mxcsr));
	for (unsigned c = YMM; c < COMPONENTS; c++)
		if ((all >> c & 1) && part(to, bytes, ~0ull, (enum component)c, 0))
			present |= 1u << c;
	memcpy(to + LEGACY_BYTES, &present, sizeof(present));
	if ((at = part_to_write(to, bytes, YMM, 16 * 16)))
		for (unsigned i = 0; i < 16; i++)
			memcpy(at + 16 * i, &cpu->zmm[i][2], 16);
	if ((at = part_to_write(to, bytes, OPMASK, 8 * 8)))
		memcpy(at, cpu->k, sizeof(cpu->k));
	if ((at = part_to_write(to, bytes, ZMM_HIGH, 16 * 32)))
		for (unsigned i = 0; i < 16; i++)
			memcpy(at + 32 * i, &cpu->zmm[i][4], 32);
	if ((at = part_to_write(to, bytes, ZMM_16, 16 * 64)))
		memcpy(at, cpu->zmm[16], 16 * sizeof(cpu->zmm[0]));
}

/* The kernel tells in the legacy area whether more follows it, and how much. */
static size_t frame_bytes(const uint8_t *area)
{
	uint32_t magic, size;

	memcpy(&magic, area + SOFTWARE_OFFSET, sizeof(magic));
	memcpy(&size, area + SOFTWARE_OFFSET + 16, sizeof(size));
	return magic == MAGIC1 ? size : LEGACY_BYTES;
}

void nve_cpu_registers(const ucontext_t *uc, uint64_t gpr[16])
{
	static const uint8_t order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
					  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
					  REG_R12, REG_R13, REG_R14, REG_R15};

	for (unsigned i = 0; i < 16; i++)
		gpr[i] = (uint64_t)uc->uc_mcontext.gregs[order[i]];
}

void nve_cpu_from_ucontext(struct nve_cpu *cpu, const ucontext_t *uc)
{
	const greg_t *regs = uc->uc_mcontext.gregs;
	const uint8_t *area = (const uint8_t *)uc->uc_mcontext.fpregs;

	nve_cpu_registers(uc, cpu->gpr);
	cpu->rip = (uint64_t)regs[REG_RIP];
	cpu->rflags = (uint64_t)regs[REG_EFL];
	cpu->fs_base = segment_base(true);
	cpu->gs_base = segment_base(false);
	cpu->gpr_unknown = 0;
	cpu->vec_unknown = area ? 0 : ~0u;
	cpu->k_unknown = area ? 0 : 0xff;
	cpu->flags_unknown = false;
	cpu->x87_control = X87_INITIAL;
	cpu->mxcsr = MXCSR_INITIAL;
	if (area)
		nve_cpu_from_xsave(cpu, area, frame_bytes(area));
}
