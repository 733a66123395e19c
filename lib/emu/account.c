#include "emu/account.h"

#include "base/base.h"
#include "base/clock.h"
#include "count/ahead/ahead.h"
#include "emu/bandwidth.h"
#include "emu/guard.h"

enum {
	IDLE_MOST = 512, /* finer ticks before the first one */
	TICKS_LOST = 2,
};

uint64_t nve_account_moved(struct nve_thread *t, const struct nve_account *a)
{
	struct nve_stream_bytes moved;
	uint64_t delay_ns = 0;

	if (!nve_bandwidth_on())
		return 0;
	if (!t->ahead) {
		t->bandwidth.idle++;
		return 0;
	}
	moved = nve_ahead_traffic(t->ahead, a->uc, a->time.ran_ns, a->in_kernel, nve_guard);
	nve_bandwidth_count(&t->bandwidth, &moved);
	t->bandwidth.idle = moved.read + moved.written > 0 ? 0 : t->bandwidth.idle + 1;
	if (nve_regions_emulates(&t->regions, t->regions.open.lane))
		delay_ns = nve_bandwidth_serve(&t->bandwidth, t->number, &moved, &a->time);
	nve_regions_moved(&t->regions, moved.read, moved.written, (double)delay_ns);
	return delay_ns;
}

uint64_t nve_account_tick(struct nve_thread *t, struct nve_account *a)
{
	a->time.ran_ns -= NVE_MIN(a->time.ran_ns, t->bandwidth.accounted_ns);
	t->bandwidth.accounted_ns = 0;
	return nve_account_moved(t, a);
}

bool nve_account_wants_fine(const struct nve_thread *t)
{
	struct nve_stream_bytes rate;
	bool known;

	if (!nve_bandwidth_on())
		return false;
	if (!t->ahead)
		return t->bandwidth.idle < IDLE_MOST;
	rate = nve_ahead_traffic_rate(t->ahead, &known);
	return nve_bandwidth_wants_fine(&rate, known);
}

uint64_t nve_account_fine_ns(const struct nve_thread *t, uint32_t waits)
{
	return nve_bandwidth_fine_ns(NVE_MAX(waits, t->bandwidth.idle));
}

bool nve_account_lost_tick(const struct nve_thread *t, uint64_t ran_ns, uint64_t sample_ns)
{
	return ran_ns > sample_ns + (t->ahead ? TICKS_LOST * nve_clock_tick_ns() : 0);
}
