/* Vector state saved to memory and taken back. */
#include "count/ahead/exec.h"

#include <string.h>

/* Components of the extended state, as bits of the mask in edx:eax. */
enum {
	XSAVE_SSE = 1 << 1,
	XSAVE_YMM = 1 << 2,
	XSAVE_K = 1 << 5,
	XSAVE_HIGH = 1 << 6,
	XSAVE_HIGH16 = 1 << 7
};

/* Bytes of the area that hold the components of the mask, one after the other. */
static uint32_t xsave_bytes(const struct nve_insn *insn, uint64_t mask)
{
	uint32_t bytes = 512 + 64;

	if (insn->op == NVE_XSAVE_FX)
		return 512;
	bytes += mask & XSAVE_YMM ? 256 : 0;
	bytes += mask & XSAVE_K ? 64 : 0;
	bytes += mask & XSAVE_HIGH ? 512 : 0;
	bytes += mask & XSAVE_HIGH16 ? 1024 : 0;
	return bytes;
}

static uint64_t xsave_mask(const struct nve_run *run, const struct nve_insn *insn)
{
	const struct nve_cpu *cpu = run->cpu;

	return insn->op == NVE_XSAVE_FX ? XSAVE_SSE : cpu->gpr[2] << 32 | (uint32_t)cpu->gpr[0];
}

static int xsave_open(struct nve_run *run, const struct nve_insn *insn, uint64_t mask)
{
	int stop = nve_mem_addr(run, insn, &run->mem_addr);

	if (!stop && insn->op != NVE_XSAVE_FX && (run->cpu->gpr_unknown & 5))
		stop = NVE_STOP_UNKNOWN_ADDRESS;
	if (!stop)
		stop = nve_mem_touch_long(run, run->mem_addr, xsave_bytes(insn, mask),
					  insn->mem_kind);
	return stop;
}

/* The area becomes unknown bytes; a copy of the registers is kept for the restore. */
int nve_exec_xsave(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_xsave_image *image = run->xsaved;
	uint64_t mask = xsave_mask(run, insn);
	int stop = xsave_open(run, insn, mask);

	if (stop)
		return stop;
	memcpy(image->zmm, run->cpu->zmm, sizeof(image->zmm));
	memcpy(image->k, run->cpu->k, sizeof(image->k));
	image->vec_unknown = run->cpu->vec_unknown;
	image->k_unknown = run->cpu->k_unknown;
	image->addr = run->mem_addr;
	image->mask = mask;
	return 0;
}

/* Restores words first to last of 16 registers from reg on. */
static void restore_words(struct nve_cpu *cpu, const struct nve_xsave_image *image, unsigned reg,
			  unsigned first, unsigned last)
{
	for (unsigned i = reg; i < reg + 16; i++)
		memcpy(&cpu->zmm[i][first], &image->zmm[i][first], 8 * (last + 1 - first));
}

static void restore(struct nve_cpu *cpu, const struct nve_xsave_image *image)
{
	uint64_t mask = image->mask;

	if (mask & XSAVE_SSE) {
		restore_words(cpu, image, 0, 0, 1);
		cpu->vec_unknown = (cpu->vec_unknown & ~0xffffu) | (image->vec_unknown & 0xffff);
	}
	if (mask & XSAVE_YMM)
		restore_words(cpu, image, 0, 2, 3);
	if (mask & XSAVE_HIGH)
		restore_words(cpu, image, 0, 4, 7);
	if (mask & XSAVE_HIGH16) {
		restore_words(cpu, image, 16, 0, 7);
		cpu->vec_unknown = (cpu->vec_unknown & 0xffff) | (image->vec_unknown & ~0xffffu);
	}
	if (mask & XSAVE_K) {
		memcpy(cpu->k, image->k, sizeof(cpu->k));
		cpu->k_unknown = image->k_unknown;
	}
}

int nve_exec_xrstor(struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_cpu *cpu = run->cpu;
	uint64_t mask = xsave_mask(run, insn);
	int stop = xsave_open(run, insn, mask);

	if (stop)
		return stop;
	if (run->xsaved->addr == run->mem_addr && run->xsaved->mask == mask) {
		restore(cpu, run->xsaved);
		return 0;
	}
	if (mask & (XSAVE_SSE | XSAVE_YMM | XSAVE_HIGH))
		cpu->vec_unknown |= 0xffff;
	if (mask & XSAVE_HIGH16)
		cpu->vec_unknown |= 0xffff0000;
	if (mask & XSAVE_K)
		cpu->k_unknown = 0xff;
	return 0;
}
