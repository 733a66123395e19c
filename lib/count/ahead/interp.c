#include "count/ahead/interp.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "count/ahead/address.h"
#include "count/ahead/cpu_context.h"
#include "count/ahead/exec.h"
#include "count/ahead/host.h"
#include "count/ahead/native.h"

#define CACHE_ENTRIES 8192u /* a power of two */

struct nve_interp {
	alignas(64) uint8_t scratch[128];
	struct nve_xsave_image xsaved;
	struct nve_decoder decoder;
	ZydisMnemonic stopped_at;
	struct nve_overlay overlay;
	struct nve_cpu addressing; /* of nve_interp_address() */
	struct nve_insn cache[CACHE_ENTRIES];
};

int nve_interp_setup(void)
{
	nve_host_setup();
	nve_cpu_context_setup();
	return nve_native_setup();
}

size_t nve_interp_bytes(void)
{
	return sizeof(struct nve_interp);
}

struct nve_interp *nve_interp_init(void *mem)
{
	struct nve_interp *in = mem;

	nve_decoder_init(&in->decoder);
	in->stopped_at = ZYDIS_MNEMONIC_INVALID;
	return in;
}

/* True if the bytes are still those that were decoded; length is 1 to 15. */
static bool is_same_code(const struct nve_insn *insn, const uint8_t code[16])
{
	uint64_t was[2], is[2];
	unsigned bits = 8u * insn->length;

	memcpy(was, insn->code, sizeof(was));
	memcpy(is, code, sizeof(is));
	if (bits <= 64)
		return (was[0] ^ is[0]) << (64 - bits) == 0;
	return was[0] == is[0] && (was[1] ^ is[1]) << (128 - bits) == 0;
}

static struct nve_insn *cache_entry(struct nve_interp *in, uint64_t ip)
{
	return &in->cache[(ip ^ ip >> 13) & (CACHE_ENTRIES - 1)];
}

/* The instruction at rip, as the stores of this run may have changed it. */
static int fetch(struct nve_run *run, const struct nve_insn **out)
{
	struct nve_insn *insn = cache_entry(run->in, run->ip);
	uint8_t code[16] = {0};
	int size = run->world->fetch(run->world->ctx, run->ip, code);
	int stop = 0;

	run->in->stopped_at = ZYDIS_MNEMONIC_INVALID;
	if (size < 1)
		return NVE_STOP_UNMAPPED;
	if (run->overlay->used)
		nve_overlay_patch(run->overlay, run->ip, code, (size_t)size);
	if (insn->ip != run->ip || !insn->length || insn->length > size ||
	    !is_same_code(insn, code))
		stop = nve_decode(&run->in->decoder, run->ip, code, (size_t)size, insn);
	/* Most often the next one follows: its entry comes in while this one is executed. */
	__builtin_prefetch(cache_entry(run->in, run->ip + insn->length));
	*out = insn;
	return stop;
}

/* Vector registers index a gather; the stack pointer has moved on. */
static bool has_plain_address(const struct nve_insn *insn)
{
	return insn->has_mem && insn->segment == NVE_SEGMENT_FLAT && !(insn->flow & NVE_FLOW_STACK);
}

int nve_interp_address(struct nve_interp *in, const struct nve_interp_world *world,
		       const uint64_t gpr[16], uint64_t ip, uint64_t *addr)
{
	const struct nve_insn *insn;
	struct nve_cpu *cpu = &in->addressing;
	struct nve_run run = {
		.in = in, .overlay = &in->overlay, .cpu = cpu, .world = world, .ip = ip};

	nve_overlay_clear(&in->overlay);
	memcpy(cpu->gpr, gpr, sizeof(cpu->gpr));
	if (fetch(&run, &insn) || !has_plain_address(insn) || nve_mem_addr(&run, insn, addr))
		return -ENOENT;
	return 0;
}

int nve_interp_string_address(struct nve_interp *in, const struct nve_interp_world *world,
			      const uint64_t gpr[16], uint64_t ip, bool writes, uint64_t *addr)
{
	const struct nve_insn *insn;
	struct nve_run run = {.in = in, .overlay = &in->overlay, .world = world, .ip = ip};

	nve_overlay_clear(&in->overlay);
	if (fetch(&run, &insn) || insn->exec != nve_exec_string)
		return -ENOENT;
	*addr = gpr[nve_string_register(insn, writes)];
	return 0;
}

static void tell_flow(const struct nve_run *run, const struct nve_insn *insn)
{
	struct nve_flow flow = nve_insn_flow(insn);

	flow.is_taken = flow.is_conditional_branch && run->next != run->ip + insn->length;
	run->world->flow(run->world->ctx, &flow);
}

static int execute(struct nve_run *run, const struct nve_insn *insn)
{
	int stop = 0;

	if (run->world->step)
		run->world->step(run->world->ctx, run->ip, run->step);
	run->next = run->ip + insn->length;
	if (insn->opens)
		stop = nve_mem_open(run, insn);
	return stop ? stop : insn->exec(run, insn);
}

static void start(struct nve_run *run, struct nve_interp *in, struct nve_cpu *cpu,
		  const struct nve_interp_world *world, uint32_t limit)
{
	*run = (struct nve_run){
		.in = in,
		.overlay = &in->overlay,
		.scratch = in->scratch,
		.xsaved = &in->xsaved,
		.cpu = cpu,
		.world = world,
		.limit = limit,
		.flags_unknown = cpu->flags_unknown ? NVE_ARITH_FLAGS : 0,
	};
}

struct nve_interp_result nve_interp_run(struct nve_interp *in, struct nve_cpu *cpu,
					const struct nve_interp_world *world, uint32_t limit)
{
	const struct nve_insn *insn;
	struct nve_run run;
	uint32_t outer_mxcsr = __builtin_ia32_stmxcsr();
	int stop = 0;

	start(&run, in, cpu, world, limit);
	nve_overlay_clear(&in->overlay);
	in->xsaved.addr = 0;
	nve_mxcsr_load(cpu->mxcsr);
	while (run.step < limit) {
		insn = NULL;
		run.ip = cpu->rip;
		stop = fetch(&run, &insn);
		if (!stop)
			stop = execute(&run, insn);
		if (stop) {
			in->stopped_at = insn && insn->length ? insn->mnemonic : 0;
			break;
		}
		if (world->flow)
			tell_flow(&run, insn);
		cpu->rip = run.next;
		run.step++;
	}
	cpu->mxcsr = nve_mxcsr_now(cpu);
	__builtin_ia32_ldmxcsr(outer_mxcsr);
	return (struct nve_interp_result){(enum nve_stop)stop, run.step, cpu->rip};
}

int nve_interp_peek(struct nve_interp *in, const struct nve_interp_world *world, uint64_t addr,
		    void *dst, size_t size)
{
	int err = world->read(world->ctx, addr, dst, size);

	return err < 0 ? err : nve_overlay_patch(&in->overlay, addr, dst, size);
}

enum nve_before nve_interp_before(struct nve_interp *in, const struct nve_interp_world *world,
				  uint64_t ip)
{
	uint8_t code[48];

	for (size_t i = 0; i < sizeof(code); i += 16)
		if (world->fetch(world->ctx, ip - 32 + i, code + i) != 16)
			return NVE_BEFORE_UNKNOWN;
	return nve_decode_before(&in->decoder, code);
}

const char *nve_interp_stop_name(const struct nve_interp *in)
{
	const char *name = ZydisMnemonicGetString(in->stopped_at);

	return name ? name : "";
}
