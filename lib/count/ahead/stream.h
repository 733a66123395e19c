/*
 * How many bytes a thread moves between memory and the caches.
 *
 * A window sees how many new lines the loop around its sample touches while its registers move so
 * far. The registers at two later samples of the same loop tell how far they have moved in between,
 * and so how many lines came: whatever prefetchers did, and however many times the loop went
 * around. Registers that do not only rise or only fall tell nothing; of the others those that agree
 * decide, since a loop that has been entered again (an outer loop's work) has set back some. Where
 * none can tell, time does: the rate at which this loop has moved bytes so far, or as the core
 * model foresees it.
 *
 * Pure; one thread's. Lines are counted as numbers of 64 bytes, times are ns of the program's CPU
 * time.
 */
#ifndef NVE_AHEAD_STREAM_H
#define NVE_AHEAD_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "count/ahead/stream_loop.h"

struct nve_window;

enum nve_stream_by {
	NVE_STREAM_BY_REGISTERS,
	NVE_STREAM_BY_RATE,
	NVE_STREAM_BY_MODEL,
	NVE_STREAM_BYS
};

struct nve_stream {
	struct nve_stream_loop loop[NVE_STREAM_LOOPS];
	uint64_t samples, tried;       /* tried: the last window elsewhere */
	double most;                   /* lines per ns that the machine can move; 0: not known */
	struct nve_window *window;     /* whoever reads its lines; not used here */
	bool (*counts)(uint64_t addr); /* the same of: which lines count; NULL: all */
	bool looked;                   /* that has just touched what comes next */
	struct nve_stream_loop *at;    /* of the last sample; NULL: none */
	struct nve_stream_loop *last;  /* of the last sample in one */
	bool placed, resting; /* resting: it waits, and has done so since the last sample */
	uint64_t registers[NVE_STREAM_REGISTERS]; /* at that */
	double in_ns, out_ns; /* CPU time of intervals that ended in loops, and not; fading */
	/* samples of code that no window has passed yet */
	struct {
		uint64_t ip;
		double ns;
	} pending[NVE_STREAM_PENDING];
	uint32_t pending_at;
	/* totals */
	double ns[NVE_STREAM_BYS]; /* CPU time accounted in each way */
	double unknown_ns;         /* of which nothing is known */
};

/* A window begins. */
void nve_stream_begin(struct nve_stream_seen *seen);

/* It interprets the instruction at ip. */
static inline void nve_stream_step(struct nve_stream_seen *seen, uint64_t ip)
{
	struct nve_stream_code *code = &seen->since_pass;
	uint64_t piece = ip >> 4, hash = piece * 0x9e3779b97f4a7c15u >> 55;

	code->bits[hash / 64] |= UINT64_C(1) << hash % 64;
	code->low = piece < code->low ? piece : code->low;
	code->high = piece > code->high ? piece : code->high;
}

/* It is at the sampled instruction, beyond the reorder window. unknown: registers without value. */
void nve_stream_pass(struct nve_stream_seen *seen, const uint64_t *registers, uint32_t unknown,
		     uint32_t step);

/* All of it was one repeated string instruction, which was interrupted in between: so many rounds.
 */
void nve_stream_rounds(struct nve_stream_seen *seen, const uint64_t *from, const uint64_t *to,
		       uint32_t rounds);

/* Is a window at ip wanted, now? While little is known of the loop, and now and then later. At most
 * one of a few samples, whatever the answer leads to. */
bool nve_stream_wants_window(struct nve_stream *s, uint64_t ip);

/* It has ended, and seen these lines, which the core model gives so much time. */
void nve_stream_window(struct nve_stream *s, uint64_t ip, const struct nve_stream_seen *seen,
		       const struct nve_stream_lines *lines, double model_ns);

/* The streams of the loop at ip, which a few reads further on may tell more of. NULL: it is not
 * known, or has none. */
const struct nve_stream_lines *nve_stream_at(struct nve_stream *s, uint64_t ip);

/* So many of its lines were read, and so many of these came from memory: is that what is believed?
 */
bool nve_stream_expects(struct nve_stream *s, uint64_t ip, uint32_t probes, uint32_t missed);

/* It counts. */
void nve_stream_probed(struct nve_stream *s, uint64_t ip, uint32_t probes, uint32_t missed);

/* A sample at ip, cpu_ns after the last: what was moved since. Without registers (NULL) the thread
 * is elsewhere: in the kernel. */
struct nve_stream_bytes nve_stream_sample(struct nve_stream *s, uint64_t ip,
					  const uint64_t *registers, double cpu_ns);

/* The same where the interval ended in a system call, since the thread has begun to wait for
 * something or ends: it belongs to the loop where the thread was last, as far as it has been in
 * loops of late. One that was in a call at its begin, too, may have run its loop in between. waits:
 * met by a clock that goes on meanwhile, or at its end. */
struct nve_stream_bytes nve_stream_rest(struct nve_stream *s, double cpu_ns, bool waits);

/* What the thread moves where it was last seen, bytes per ns; where that comes from a cache, what
 * it would move else. known: it was measured, or that was
 * tried, not too long ago. */
struct nve_stream_bytes nve_stream_rate(const struct nve_stream *s, bool *known);

#endif
