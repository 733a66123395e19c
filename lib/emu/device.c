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
		     atomic_load_explicit(&c->used_ns[i], memory_order_relaxed) > client->since_ns;
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

/* Idle time before start_ns that the thread would have used, had it had a core. Each such moment
 * counts once, however many threads have waited through it. */
static void save(struct nve_device_channel *c, const struct nve_device_portion *p)
{
	uint64_t until_ns = atomic_load(&c->spared_until_ns), from_ns, spare_ns;

	from_ns = NVE_MAX(atomic_load(&c->busy_until_ns), until_ns);
	if (p->waited_ns < p->start_ns)
		from_ns = NVE_MAX(from_ns, p->start_ns - p->waited_ns);
	if (from_ns >= p->start_ns ||
	    !atomic_compare_exchange_strong(&c->spared_until_ns, &until_ns, p->start_ns))
		return;
	spare_ns = atomic_load(&c->spare_ns);
	if (p->start_ns - until_ns > NVE_DEVICE_SPARE_NS)
		spare_ns = 0;
	spare_ns = NVE_MIN(spare_ns + p->start_ns - from_ns, (uint64_t)NVE_DEVICE_SPARE_NS);
	atomic_store(&c->spare_ns, spare_ns);
}

/* Returns how much of lasts_ns was served in spare time: nothing of what can be served while the
 * thread runs, when there is no other use for the channel. */
static uint64_t spend(struct nve_device_channel *c, const struct nve_device_portion *p,
		      uint64_t lasts_ns)
{
	uint64_t rest_ns = lasts_ns - NVE_MIN(lasts_ns, p->ran_ns), spent_ns;
	uint64_t spare_ns = atomic_load(&c->spare_ns);

	if (p->start_ns > atomic_load(&c->spared_until_ns) + NVE_DEVICE_SPARE_NS)
		return 0;
	do {
		spent_ns = NVE_MIN(spare_ns, rest_ns);
	} while (spent_ns &&
		 !atomic_compare_exchange_weak(&c->spare_ns, &spare_ns, spare_ns - spent_ns));
	return spent_ns;
}

uint64_t nve_device_serve(struct nve_device_channel *c, struct nve_device_client *client,
			  const struct nve_device_portion *p)
{
	uint64_t lasts_ns, n, end_ns;

	if (!c->bytes_per_s || !p->bytes)
		return p->start_ns;
	lasts_ns = duration_ns(c, p->bytes);
	if (p->waited_ns)
		save(c, p);
	lasts_ns -= spend(c, p, lasts_ns);
	n = count_active(c, client);
	end_ns = queue(c, p->start_ns, lasts_ns, n == 1);
	end_ns = NVE_MIN(end_ns, p->start_ns + n * lasts_ns);
	/* It has used the channel as long as it ran, however little it took. */
	atomic_store_explicit(&c->used_ns[client->slot % NVE_DEVICE_SLOTS],
			      NVE_MAX(end_ns, p->start_ns + p->ran_ns), memory_order_relaxed);
	client->since_ns = p->start_ns;
	return end_ns;
}
