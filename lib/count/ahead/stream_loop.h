/* What is known of a loop that moves lines, and of its windows: see stream.h. */
#ifndef NVE_AHEAD_STREAM_LOOP_H
#define NVE_AHEAD_STREAM_LOOP_H

#include <stdbool.h>
#include <stdint.h>

enum {
	NVE_STREAM_REGISTERS = 16,
	NVE_STREAM_LOOPS = 16,
	NVE_STREAM_CODE = 8,
	NVE_STREAM_PENDING = 8,
	NVE_STREAM_HEADS = 4,
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

/* Where one of the loop's streams is going: so many lines beyond what the instruction accesses
 * (writes: of a string move, the place that it writes to) nothing of the loop's has been yet. */
struct nve_stream_head {
	uint64_t ip;
	int64_t beyond; /* below 0: it runs downwards */
	bool writes;
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
	uint32_t heads;
	struct nve_stream_head head[NVE_STREAM_HEADS]; /* of streams, in no order */
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
	struct nve_stream_lines lines; /* with the heads of the last */
	double probes, probes_missed;  /* fading faster */
	bool unsettled;                /* the last window's did not agree with those before */
	double model_ns;               /* for the same passes, by the core model */
	/* measured: fading mean of lines (of both kinds) per ns, its variance */
	double rate, rate_variance;
	uint32_t intervals, odd;    /* that agree; in a row that do not */
	uint32_t by_rate, patience; /* times that time has told; that it may */
	/* time for which nothing was accounted, as no rate was known yet; samples of that */
	double waiting_ns;
	uint32_t waiting;
};

#endif
