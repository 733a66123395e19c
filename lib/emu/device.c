#include "emu/device.h"

#include <stdbool.h>

#include "base/base.h"

enum { NS_PER_S = 1000000000 };

static uint64_t duration_ns(const struct nve_device_channel *c, uint64_t bytes)
{
	return (uint64_t)((unsigned __int128)bytes * NS_PER_S / c->bytes_per_s);
}

/* Threads, this one included, that the channel has worked for since. */
static uint64_t count_active(struct nve_device_channel *c, const struct nve_device_client *client)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < NVE_DEVICE_SLOTS; i++)
		n += i != client->slot % NVE_DEVICE_SLOTS &&
		     atomic_load_explicit(&c->end_ns[i], memory_order_relaxed) > client->since_ns;
	return n;
}

/* One that is alone is not held up by what others have left behind. */
static uint64_t queue(struct nve_device_channel *c, uint64_t start_ns, uint64_t lasts_ns,
		      bool alone)
{
	uint64_t old = atomic_load(&c->busy_until_ns), end;

	do {
		end = (alone ? start_ns : NVE_MAX(old, start_ns)) + lasts_ns;
	} while (!atomic_compare_exchange_weak(&c->busy_until_ns, &old, end));
	return end;
}

uint64_t nve_device_serve(struct nve_device_channel *c, struct nve_device_client *client,
			  uint64_t start_ns, uint64_t bytes)
{
	uint64_t lasts_ns, n, end_ns;

	if (!c->bytes_per_s || !bytes)
		return start_ns;
	lasts_ns = duration_ns(c, bytes);
	n = count_active(c, client);
	end_ns = queue(c, start_ns, lasts_ns, n == 1);
	end_ns = NVE_MIN(end_ns, start_ns + n * lasts_ns);
	atomic_store_explicit(&c->end_ns[client->slot % NVE_DEVICE_SLOTS], end_ns,
			      memory_order_relaxed);
	client->since_ns = start_ns;
	return end_ns;
}
