/*
 * What one thread moves, and for how long that keeps the emulated device busy. Without a limit for
 * reads or writes nothing is counted. In the thread's handler.
 */
#ifndef NVE_EMU_BANDWIDTH_H
#define NVE_EMU_BANDWIDTH_H

#include <stdbool.h>
#include <stdint.h>

#include "count/ahead/stream.h"
#include "count/source.h"
#include "emu/corewait.h"
#include "emu/device.h"

/* A thread's; starts zeroed. */
struct nve_bandwidth {
	struct nve_device_client reads, writes;
	uint64_t accounted_ns; /* CPU time since the last tick, at finer ones */
	int timer_id;          /* of the finer ticks; valid where there is one */
	_Atomic bool has_timer;
	uint32_t waits; /* finer ticks in a row that found the thread waiting */
	uint32_t idle;  /* ticks of either kind in a row that found that it moves nothing */
	struct nve_corewait corewait;
	/* since the last epoch ended */
	struct nve_stream_bytes moved;
	uint64_t delay_ns;
};

/* The thread's time since the last one. */
struct nve_bandwidth_stretch {
	/* Its end, in emulated time: CLOCK_MONOTONIC and the delay that the thread owes. */
	uint64_t now_ns;
	uint64_t ran_ns;    /* CPU time */
	uint64_t waited_ns; /* for a core */
};

/* Once: bytes per second; 0: no limit. */
void nve_bandwidth_setup(uint64_t read_bytes_per_s, uint64_t write_bytes_per_s);

bool nve_bandwidth_on(void);

/* In a forked child: a device of its own, with the same limits. */
void nve_bandwidth_after_fork(void);

/* So much was moved in the epoch that runs. */
void nve_bandwidth_count(struct nve_bandwidth *b, const struct nve_stream_bytes *moved);

/*
 * The device serves what was moved in a stretch of time. slot: the thread's number. Returns the
 * delay that this adds.
 */
uint64_t nve_bandwidth_serve(struct nve_bandwidth *b, uint64_t slot,
			     const struct nve_stream_bytes *moved,
			     const struct nve_bandwidth_stretch *stretch);

/* Does a thread that moves so many bytes a ns (known: as measured) want to be looked at more often
 * than at each tick? */
bool nve_bandwidth_wants_fine(const struct nve_stream_bytes *rate, bool known);

/* How long after such a look the next one is due, of wall time. waits: how many in a row have found
 * the thread waiting for something, or at work in a cache, which may be over any moment: a small
 * part of the time that it has done so. */
uint64_t nve_bandwidth_fine_ns(uint32_t waits);

/* The epoch ends: adds its traffic and delay to *epoch. */
void nve_bandwidth_epoch(struct nve_bandwidth *b, struct nve_epoch *epoch);

/* Delay of an epoch that comes from elsewhere (a record), whose bytes it tells. */
uint64_t nve_bandwidth_replayed(struct nve_bandwidth *b, uint64_t slot,
				const struct nve_epoch *epoch, uint64_t now_ns);

#endif
