#include "small_world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct small_world small;

static unsigned code_used;

static uint8_t *find(uint64_t addr, size_t size)
{
	if (addr - DATA_ADDR <= DATA_BYTES - size)
		return small.data + (addr - DATA_ADDR);
	if (addr - CODE_ADDR <= CODE_BYTES - size)
		return small.code + (addr - CODE_ADDR);
	return NULL;
}

static int on_access(void *ctx, const struct nve_access *access)
{
	(void)ctx;
	if (small.accesses < ACCESS_MAX)
		small.access[small.accesses++] = *access;
	return find(access->addr, access->size) ? 0 : -EFAULT;
}

static int on_read(void *ctx, uint64_t addr, void *dst, size_t size)
{
	const uint8_t *from = find(addr, size);

	(void)ctx;
	small.reads++;
	if (!from)
		return -EFAULT;
	memcpy(dst, from, size);
	return 0;
}

static int on_fetch(void *ctx, uint64_t addr, uint8_t dst[16])
{
	size_t size = 16;

	(void)ctx;
	while (size && !find(addr, size))
		size--;
	if (!size)
		return -EFAULT;
	memcpy(dst, find(addr, size), size);
	return (int)size;
}

static void on_step(void *ctx, uint64_t ip, uint32_t step)
{
	(void)ctx;
	(void)ip;
	(void)step;
	small.steps++;
}

static uint64_t on_tsc(void *ctx)
{
	(void)ctx;
	return small.tsc;
}

static void create_interp(void)
{
	size_t bytes = (nve_interp_bytes() + 63) & ~63ul;
	void *mem = aligned_alloc(64, bytes);

	if (!mem)
		abort();
	memset(mem, 0, bytes);
	small.interp = nve_interp_init(mem);
}

void small_reset(void)
{
	struct nve_interp *interp = small.interp;

	memset(&small, 0, sizeof(small));
	small.interp = interp;
	if (!interp)
		create_interp();
	small.world = (struct nve_interp_world){
		.access = on_access, .read = on_read, .fetch = on_fetch, .step = on_step};
	small.cpu.rip = CODE_ADDR;
	small.cpu.rflags = 0x202;
	small.cpu.gpr[4] = STACK_ADDR;
	code_used = 0;
}

void small_put(const void *code, unsigned bytes)
{
	memcpy(small.code + code_used, code, bytes);
	code_used += bytes;
}

struct nve_interp_result small_run(uint32_t limit)
{
	small.accesses = small.reads = small.steps = 0;
	small.world.tsc = small.tsc ? on_tsc : NULL;
	return nve_interp_run(small.interp, &small.cpu, &small.world, limit);
}

uint64_t small_peek(uint64_t addr, unsigned bytes)
{
	uint64_t value = 0;

	if (nve_interp_peek(small.interp, &small.world, addr, &value, bytes) < 0)
		return ~0ull;
	return value;
}
