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

enum {
	NVE_STREAM_REGISTERS = 16,
	NVE_STREAM_LOOPS = 16,
	NVE_STREAM_CODE = 8,
	NVE_STREAM_PENDING = 8
};

/* Which pieces of code, 16 bytes each, belong to a loop: hashed; and the first and the last. */
struct nve_stream_code {
	uint64_t bits[NVE_STREAM_CODE];
	uint64_t low, high; /* as address / 16; low above high: none */
};

/* What one window sees of the loop around its sample. */
struct nve_stream_seen {
	struct nve_stream_code code, since_pass;
	uint64_t first[NVE_STREAM_REGISTERS], last[NVE_STREAM_REGISTERS];
	uint32_t rising, falling; /* registers that only do so from pass to pass */
	uint32_t passes;          /* after the first one that counts */
	uint32_t first_step, last_step;
};

/* New lines between the first pass and the last. */
struct nve_stream_lines {
	/* those whose reading told that they came from memory: read, and of those written; and
	 * those written without being read, past the caches */
	double read, written;
	/* of streams that a prefetcher may run ahead of, wherever they came from */
	double stream_read, stream_written;
	/* lines further on in the same streams: read; of those came from memory */
	uint32_t probes, probes_missed;
};

struct nve_stream_bytes {
	double read, written;
	double read_variance, written_variance;
};

struct nve_stream_loop {
	struct nve_stream_code code;
	uint64_t used, looked; /* when, in samples: last, and by a window that was wanted */
	uint32_t windows;
	/* over its windows, fading */
	uint32_t steady; /* registers that tell */
	double passes, moved[NVE_STREAM_REGISTERS];
	struct nve_stream_lines lines;
	double probes, probes_missed; /* fading faster */
	bool unsettled;               /* the last window's did not agree with those before */
	double model_ns;              /* for the same passes, by the core model */
	/* measured: fading mean of lines (of both kinds) per ns, its variance */
	double rate, rate_variance;
	uint32_t intervals, odd;    /* that agree; in a row that do not */
	uint32_t by_rate, patience; /* times that the rate has stood in; that it may */
	/* time for which nothing was accounted, as no rate was known yet; samples of that */
	double waiting_ns;
	uint32_t waiting;
};

enum nve_stream_by {
	NVE_STREAM_BY_REGISTERS,
	NVE_STREAM_BY_RATE,
	NVE_STREAM_BY_MODEL,
	NVE_STREAM_BYS
};

struct nve_stream {
	struct nve_stream_loop loop[NVE_STREAM_LOOPS];
	uint64_t samples, tried;    /* tried: the last window elsewhere */
	double most;                /* lines per ns that the machine can move; 0: not known */
	struct nve_stream_loop *at; /* of the last sample; NULL: none */
	bool placed, resting;       /* resting: it waits, and has done so since the last sample */
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

/* A sample at ip, cpu_ns after the last: what was moved since. Without registers (NULL) the thread
 * is elsewhere: in the kernel. */
struct nve_stream_bytes nve_stream_sample(struct nve_stream *s, uint64_t ip,
					  const uint64_t *registers, double cpu_ns);

/* The same where the interval ended in a system call, since the thread has begun to wait for
 * something or ends: it belongs to the loop where the thread was last, as far as it has been in
 * loops of late. One that was in a call at its begin, too, may have run its loop in between. */
struct nve_stream_bytes nve_stream_rest(struct nve_stream *s, double cpu_ns);

/* What the thread moves where it was last seen, bytes per ns. known: it was measured, and not too
 * long ago. */
struct nve_stream_bytes nve_stream_rate(const struct nve_stream *s, bool *known);

#endif
