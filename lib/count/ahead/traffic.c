/* From an interrupted context to its stream. */
#include "base/clock.h"
#include "count/ahead/ahead.h"
#include "count/ahead/context.h"
#include "count/ahead/traffic.h"

enum { PROBES = 4 };

static bool (*counts)(uint64_t addr);

void nve_ahead_count_traffic_of(bool (*of)(uint64_t addr))
{
	counts = of;
}

void nve_traffic_begin(struct nve_stream *stream, struct nve_window *window, double most)
{
	stream->most = most;
	stream->window = window;
	stream->counts = counts;
}

/* Where the streams of the loop come from, now: one line further on tells where it is as believed,
 * a few where it is not. */
static void probe(struct nve_stream *stream, const ucontext_t *uc, uint64_t ip)
{
	const struct nve_stream_lines *lines = nve_stream_at(stream, ip);
	uint64_t random = nve_tsc();
	uint32_t probes = 0, missed = 0;

	for (uint32_t i = 0; lines && i < PROBES; i++) {
		const struct nve_stream_head *head = &lines->head[(random + i) % lines->heads];
		enum nve_reach_line line;

		random = random * 6364136223846793005u + 1442695040888963407u;
		line = nve_window_probe(stream->window, uc, head, random >> 33);
		probes += line != NVE_REACH_UNKNOWN;
		missed += line == NVE_REACH_MISSED;
		if (nve_stream_expects(stream, ip, probes, missed))
			break;
	}
	nve_stream_probed(stream, ip, probes, missed);
}

struct nve_stream_bytes nve_ahead_traffic(struct nve_ahead *a, const ucontext_t *uc,
					  uint64_t cpu_ns, bool in_kernel,
					  void (*guard)(bool enter))
{
	struct nve_stream *stream = nve_ahead_stream(a);
	uint64_t registers[NVE_STREAM_REGISTERS], ip;

	if (!uc || nve_context_is_after_syscall(uc, guard))
		return nve_stream_rest(stream, (double)cpu_ns, !uc);
	nve_cpu_registers(uc, registers);
	ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	if (!in_kernel && !stream->looked) {
		guard(true);
		probe(stream, uc, ip);
		guard(false);
	}
	stream->looked = false;
	return nve_stream_sample(stream, ip, in_kernel ? NULL : registers, (double)cpu_ns);
}

struct nve_stream_bytes nve_ahead_traffic_rate(struct nve_ahead *a, bool *known)
{
	return nve_stream_rate(nve_ahead_stream(a), known);
}
