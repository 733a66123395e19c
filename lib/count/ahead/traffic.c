/* From an interrupted context to its stream. */
#include "count/ahead/ahead.h"
#include "count/ahead/context.h"

struct nve_stream_bytes nve_ahead_traffic(struct nve_ahead *a, const ucontext_t *uc,
					  uint64_t cpu_ns, bool in_kernel,
					  void (*guard)(bool enter))
{
	struct nve_stream *stream = nve_ahead_stream(a);
	uint64_t registers[NVE_STREAM_REGISTERS];

	if (!uc || nve_context_is_after_syscall(uc, guard))
		return nve_stream_rest(stream, (double)cpu_ns);
	nve_cpu_registers(uc, registers);
	return nve_stream_sample(stream, (uint64_t)uc->uc_mcontext.gregs[REG_RIP],
				 in_kernel ? NULL : registers, (double)cpu_ns);
}

struct nve_stream_bytes nve_ahead_traffic_rate(struct nve_ahead *a, bool *known)
{
	return nve_stream_rate(nve_ahead_stream(a), known);
}
