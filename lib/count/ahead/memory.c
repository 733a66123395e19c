/* The interpreted program's memory: announced to the world, read from it under the overlay. */
#include "count/ahead/exec.h"

#include "base/base.h"

int nve_mem_addr(const struct nve_run *run, const struct nve_insn *insn, uint64_t *addr)
{
	const struct nve_cpu *cpu = run->cpu;
	uint64_t at = insn->disp;
	uint32_t used = 0;

	if (insn->base != NVE_NO_REG) {
		at += cpu->gpr[insn->base];
		used |= 1u << insn->base;
	}
	if (insn->index != NVE_NO_REG) {
		at += cpu->gpr[insn->index] * insn->scale;
		used |= 1u << insn->index;
	}
	if (cpu->gpr_unknown & used)
		return NVE_STOP_UNKNOWN_ADDRESS;
	if (insn->addr32)
		at = (uint32_t)at;
	if (insn->segment == NVE_SEGMENT_FS)
		at += cpu->fs_base;
	else if (insn->segment == NVE_SEGMENT_GS)
		at += cpu->gs_base;
	*addr = at;
	return 0;
}

int nve_mem_touch(struct nve_run *run, uint64_t addr, uint32_t size, uint32_t kind)
{
	struct nve_access access = {
		.ip = run->ip, .addr = addr, .size = size, .step = run->step, .kind = kind};

	if (!run->world->access)
		return 0;
	return run->world->access(run->world->ctx, &access) < 0 ? NVE_STOP_UNMAPPED : 0;
}

int nve_mem_open(struct nve_run *run, const struct nve_insn *insn)
{
	int stop = nve_mem_addr(run, insn, &run->mem_addr);

	if (stop)
		return stop;
	return nve_mem_touch(run, run->mem_addr, insn->mem_bytes, insn->mem_kind);
}

int nve_mem_load(const struct nve_run *run, uint64_t addr, size_t size, void *dst, bool *unknown)
{
	const struct nve_overlay *overlay = run->overlay;

	*unknown = false;
	if (overlay->used && nve_overlay_covers(overlay, addr, size)) {
		*unknown = nve_overlay_patch(overlay, addr, dst, size);
		return 0;
	}
	if (run->world->read(run->world->ctx, addr, dst, size) < 0)
		return NVE_STOP_UNMAPPED;
	if (overlay->used)
		*unknown = nve_overlay_patch(overlay, addr, dst, size);
	return 0;
}

int nve_mem_store(struct nve_run *run, uint64_t addr, size_t size, const void *src, bool unknown)
{
	return nve_overlay_store(run->overlay, addr, src, size, unknown) ? NVE_STOP_OVERLAY : 0;
}

int nve_mem_touch_long(struct nve_run *run, uint64_t addr, uint32_t bytes, uint32_t kind)
{
	static const uint8_t nothing[64];
	int stop = 0;

	while (bytes && !stop) {
		uint32_t piece = (uint32_t)NVE_MIN(bytes, 64 - (addr & 63));

		stop = nve_mem_touch(run, addr, piece, kind);
		if (!stop && (kind & NVE_ACCESS_WRITE))
			stop = nve_mem_store(run, addr, piece, nothing, true);
		addr += piece;
		bytes -= piece;
	}
	return stop;
}
