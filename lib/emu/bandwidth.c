#include "emu/bandwidth.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

/* Parts of the limit from which on delay is to be expected, as other threads want their share; and
 * those from which on it is worth knowing how much is moved. */
#define LIMITED       0.25
#define WORTH_KNOWING 0.02

enum {
	/* Long beside what a handler costs, short beside what loops take. */
	FINE_NS = 500000,
	FINE_WAITS = 16,
	FINE_DOUBLINGS = 6,
};

static struct {
	struct nve_device_channel reads, writes;
} device;

void nve_bandwidth_setup(uint64_t read_bytes_per_s, uint64_t write_bytes_per_s)
{
	memset(&device, 0, sizeof(device));
	device.reads.bytes_per_s = read_bytes_per_s;
	device.writes.bytes_per_s = write_bytes_per_s;
}

bool nve_bandwidth_on(void)
{
	return device.reads.bytes_per_s || device.writes.bytes_per_s;
}

void nve_bandwidth_after_fork(void)
{
	nve_bandwidth_setup(device.reads.bytes_per_s, device.writes.bytes_per_s);
}

/* Reads and writes go at the same time. */
static uint64_t serve(struct nve_bandwidth *b, uint64_t slot, double read, double written,
		      const struct nve_bandwidth_stretch *s)
{
	struct nve_device_portion portion = {
		.start_ns = s->now_ns - s->ran_ns, .ran_ns = s->ran_ns, .waited_ns = s->waited_ns};
	uint64_t end_ns, writes_end_ns;

	b->reads.slot = b->writes.slot = (uint32_t)slot;
	portion.bytes = (uint64_t)(read + 0.5);
	end_ns = nve_device_serve(&device.reads, &b->reads, &portion);
	portion.bytes = (uint64_t)(written + 0.5);
	writes_end_ns = nve_device_serve(&device.writes, &b->writes, &portion);
	end_ns = NVE_MAX(end_ns, writes_end_ns);
	return end_ns > s->now_ns ? end_ns - s->now_ns : 0;
}

void nve_bandwidth_count(struct nve_bandwidth *b, const struct nve_stream_bytes *moved)
{
	b->moved.read += moved->read;
	b->moved.written += moved->written;
	b->moved.read_variance += moved->read_variance;
	b->moved.written_variance += moved->written_variance;
}

uint64_t nve_bandwidth_serve(struct nve_bandwidth *b, uint64_t slot,
			     const struct nve_stream_bytes *moved,
			     const struct nve_bandwidth_stretch *stretch)
{
	uint64_t delay_ns = serve(b, slot, moved->read, moved->written, stretch);

	b->delay_ns += delay_ns;
	return delay_ns;
}

bool nve_bandwidth_wants_fine(const struct nve_stream_bytes *rate, bool known)
{
	double part = 0;

	if (device.reads.bytes_per_s)
		part = rate->read * 1e9 / (double)device.reads.bytes_per_s;
	if (device.writes.bytes_per_s)
		part = fmax(part, rate->written * 1e9 / (double)device.writes.bytes_per_s);
	return part > (known ? LIMITED : WORTH_KNOWING);
}

uint64_t nve_bandwidth_fine_ns(uint32_t waits)
{
	uint32_t doublings = 0;

	while (doublings < FINE_DOUBLINGS && waits >> (doublings + 1) >= FINE_WAITS)
		doublings++;
	return (uint64_t)FINE_NS << doublings;
}

void nve_bandwidth_epoch(struct nve_bandwidth *b, struct nve_epoch *epoch)
{
	epoch->read_bytes = (uint64_t)(b->moved.read + 0.5);
	epoch->written_bytes = (uint64_t)(b->moved.written + 0.5);
	epoch->read_se_bytes = (uint64_t)(sqrt(b->moved.read_variance) + 0.5);
	epoch->written_se_bytes = (uint64_t)(sqrt(b->moved.written_variance) + 0.5);
	epoch->bandwidth_ns = b->delay_ns;
	b->moved = (struct nve_stream_bytes){0};
	b->delay_ns = 0;
}

uint64_t nve_bandwidth_replayed(struct nve_bandwidth *b, uint64_t slot,
				const struct nve_epoch *epoch, uint64_t now_ns)
{
	struct nve_bandwidth_stretch s = {.now_ns = now_ns,
					  .ran_ns = NVE_MIN(epoch->cpu_ns, now_ns)};

	return serve(b, slot, (double)epoch->read_bytes, (double)epoch->written_bytes, &s);
}
