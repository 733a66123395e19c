#include "emu/bandwidth.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

/* Parts of the limit from which on delay is to be expected, as other threads want their share; and
 * those from which on it is worth knowing how much is moved. */
#define LIMITED       0.25
#define WORTH_KNOWING 0.02

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
		      uint64_t now_ns, uint64_t ran_ns)
{
	uint64_t start_ns = now_ns - ran_ns, end_ns, writes_end_ns;

	b->reads.slot = b->writes.slot = (uint32_t)slot;
	end_ns = nve_device_serve(&device.reads, &b->reads, start_ns, (uint64_t)(read + 0.5));
	writes_end_ns =
		nve_device_serve(&device.writes, &b->writes, start_ns, (uint64_t)(written + 0.5));
	end_ns = NVE_MAX(end_ns, writes_end_ns);
	return end_ns > now_ns ? end_ns - now_ns : 0;
}

void nve_bandwidth_count(struct nve_bandwidth *b, const struct nve_stream_bytes *moved)
{
	b->moved.read += moved->read;
	b->moved.written += moved->written;
	b->moved.read_variance += moved->read_variance;
	b->moved.written_variance += moved->written_variance;
}

uint64_t nve_bandwidth_serve(struct nve_bandwidth *b, uint64_t slot,
			     const struct nve_stream_bytes *moved, uint64_t now_ns, uint64_t ran_ns)
{
	uint64_t delay_ns = serve(b, slot, moved->read, moved->written, now_ns, ran_ns);

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
	return serve(b, slot, (double)epoch->read_bytes, (double)epoch->written_bytes, now_ns,
		     NVE_MIN(epoch->cpu_ns, now_ns));
}
