/*
 * The emulated device's bandwidth, shared by all threads of the process: an account in virtual time
 * that says until when each portion of traffic is served. Lock-free; time is passed in.
 *
 * A channel (reads, or writes) serves one byte after the other. A thread that has moved so many
 * bytes while it ran is served when
 *
 *     end = min(busy_until, start + n * bytes / bandwidth)
 *
 * busy_until is when all traffic up to now would have been served; n is the number of threads that
 * have had the channel work for them since this thread's last portion began. So several that ask
 * for more than there is share it evenly, and one that asks for less than an even share is never
 * held up by the others' queue: what it overtakes, they wait for at their next portions.
 *
 * On a busy machine a thread that has bytes to move may wait for a core, and the channel meanwhile
 * for the thread. That time is spare: it serves what would be waited for next, by whichever thread,
 * within NVE_DEVICE_SPARE_NS. Time in which no thread wants to go on is not saved up.
 */
#ifndef NVE_EMU_DEVICE_H
#define NVE_EMU_DEVICE_H

#include <stdatomic.h>
#include <stdint.h>

enum {
	NVE_DEVICE_SLOTS = 64,          /* threads told apart; more share a slot */
	NVE_DEVICE_SPARE_NS = 20000000, /* the most that is saved up, and for how long */
};

struct nve_device_channel {
	uint64_t bytes_per_s; /* 0: no limit */
	_Atomic uint64_t busy_until_ns;
	_Atomic uint64_t spare_ns;
	_Atomic uint64_t
		spared_until_ns; /* idle time up to then is in spare_ns, as far as it was spare */
	_Atomic uint64_t used_ns[NVE_DEVICE_SLOTS]; /* until when each thread has */
};

/* A thread's view of a channel; starts zeroed but for its slot. */
struct nve_device_client {
	uint32_t slot;
	uint64_t since_ns; /* when its last portion began */
};

/* What a thread has moved while it ran, from start_ns on; for waited_ns before that it had no core.
 */
struct nve_device_portion {
	uint64_t start_ns, ran_ns, waited_ns, bytes;
};

/* Returns when it is served: never before its start, and then without a limit. */
uint64_t nve_device_serve(struct nve_device_channel *channel, struct nve_device_client *client,
			  const struct nve_device_portion *portion);

#endif
