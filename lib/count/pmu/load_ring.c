#include "count/pmu/load_ring.h"

#include <errno.h>
#include <unistd.h>

#include "base/base.h"

/* Four pages take the loads of two epochs with room to spare, and what an ordinary user may lock
 * does for hundreds of threads. Packets need twice as much, and then few records. */
enum { RECORD_PAGES = 4, PACKET_RECORD_PAGES = 1, AREA_PAGES = 8 };

static size_t pages(size_t count)
{
	return (size_t)sysconf(_SC_PAGESIZE) * count;
}

static size_t ring_bytes(bool packets)
{
	return pages(1 + (packets ? PACKET_RECORD_PAGES : RECORD_PAGES));
}

/* The event itself was allowed: if its memory is not, that is the limit of locked memory. */
static int map(const struct nve_perf *perf, int fd, size_t bytes, uint64_t offset, void **at)
{
	int rc = perf->map(perf->world, fd, bytes, offset, at);

	return rc == -EPERM ? -ENOLCK : rc;
}

static int map_area(struct nve_pmu_load_ring *r, const struct nve_perf *perf, int fd)
{
	uint64_t offset = nve_pmu_ring_plan_area(&r->ring, pages(AREA_PAGES));
	void *mapped;
	int rc = map(perf, fd, pages(AREA_PAGES), offset, &mapped);

	if (!rc)
		r->area = (struct nve_spe_area){mapped, pages(AREA_PAGES)};
	return rc;
}

static void unmap(struct nve_pmu_load_ring *r, const struct nve_perf *perf)
{
	bool packets = r->area.data;

	if (packets)
		perf->unmap(perf->world, (void *)(uintptr_t)r->area.data, r->area.bytes);
	perf->unmap(perf->world, r->ring.page, ring_bytes(packets));
	r->area.data = NULL;
	r->ring.page = NULL;
}

static int start(struct nve_pmu_load_ring *r, const struct nve_perf *perf, int fd, bool packets)
{
	void *mapped;
	int rc = map(perf, fd, ring_bytes(packets), 0, &mapped);

	if (rc)
		return rc;
	rc = nve_pmu_ring_begin(&r->ring, mapped, ring_bytes(packets));
	if (!rc && packets)
		rc = map_area(r, perf, fd);
	if (!rc)
		rc = perf->enable(perf->world, fd);
	if (!rc)
		return 0;
	if (r->area.data)
		perf->unmap(perf->world, (void *)(uintptr_t)r->area.data, r->area.bytes);
	perf->unmap(perf->world, mapped, ring_bytes(packets));
	return rc;
}

int nve_pmu_load_ring_open(struct nve_pmu_load_ring *r, const struct nve_perf *perf,
			   const struct nve_pmu_sampled *event, int tid, bool keep)
{
	struct perf_event_attr attr;
	int fd, rc;

	*r = (struct nve_pmu_load_ring){.fd = -1};
	nve_pmu_attr_sampled(event, &attr);
	fd = perf->open(perf->world, &attr, tid, -1, -1);
	if (fd < 0)
		return fd;
	rc = start(r, perf, fd, event->packets);
	if (!rc && keep && event->packets)
		atomic_store(&r->fd, fd);
	else
		perf->close(perf->world, fd);
	return rc;
}

void nve_pmu_load_ring_close(struct nve_pmu_load_ring *r, const struct nve_perf *perf)
{
	nve_pmu_load_ring_release(r, perf);
	unmap(r, perf);
}

void nve_pmu_load_ring_restart(struct nve_pmu_load_ring *r, const struct nve_perf *perf)
{
	int fd = atomic_load(&r->fd);

	if (fd >= 0 && atomic_exchange(&r->stopped, false))
		perf->enable(perf->world, fd);
}

void nve_pmu_load_ring_release(struct nve_pmu_load_ring *r, const struct nve_perf *perf)
{
	int fd = atomic_exchange(&r->fd, -1);

	if (fd >= 0)
		perf->close(perf->world, fd);
}

/* The area's end comes first: what lies before it, records in the ring have told of already. */
struct nve_pmu_load_cursor nve_pmu_load_ring_begin(const struct nve_pmu_load_ring *r, bool *filling)
{
	struct nve_pmu_load_cursor c = {.at = nve_pmu_ring_tail(&r->ring)};
	uint64_t waiting = 0;

	if (r->area.data) {
		c.area_done = nve_pmu_ring_area_head(&r->ring);
		waiting = c.area_done - nve_pmu_ring_area_tail(&r->ring);
	}
	c.head = nve_pmu_ring_head(&r->ring);
	*filling = c.head - c.at > r->ring.bytes / 2 || waiting > r->area.bytes / 2;
	return c;
}

/* Records as nve_pmu_attr_sampled asks for them: instruction, address, weight, and the source where
 * the event sees other loads as well. */
static bool is_load(const struct nve_pmu_record *record, struct nve_pmu_load *load)
{
	enum { IP, ADDR, WEIGHT, SOURCE, WORDS };
	size_t words = record->length / sizeof(uint64_t);

	if (words < SOURCE || !record->body[ADDR])
		return false;
	if (words >= WORDS && !nve_pmu_source_is_memory(record->body[SOURCE]))
		return false;
	*load = (struct nve_pmu_load){
		record->body[IP], record->body[ADDR],
		NVE_MIN(NVE_MAX(record->body[WEIGHT], UINT64_C(1)), (uint64_t)UINT32_MAX)};
	return true;
}

static void note(const struct nve_pmu_record *record, struct nve_pmu_load_sums *sums)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE: sums->elsewhere++; break;
	case PERF_RECORD_LOST: /* its event's number comes first */
		sums->lost += record->length >= 2 * sizeof(uint64_t) ? record->body[1] : 0;
		break;
	case PERF_RECORD_LOST_SAMPLES:
		sums->lost += record->length >= sizeof(uint64_t) ? record->body[0] : 0;
		break;
	case PERF_RECORD_THROTTLE: sums->throttled++; break;
	default: break;
	}
}

/* From now on the packets that the record tells of. They may have been written over where it is
 * none of the kernel's. */
static void enter_area(struct nve_pmu_load_ring *r, struct nve_pmu_load_cursor *c,
		       const struct nve_pmu_record *record, struct nve_pmu_load_sums *sums)
{
	enum { OFFSET, SIZE, FLAGS, WORDS };
	const uint64_t gaps = PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL;
	uint64_t tail = nve_pmu_ring_area_tail(&r->ring), from = record->body[OFFSET];
	uint64_t size = record->body[SIZE], flags = record->body[FLAGS];

	if (record->length < WORDS * sizeof(uint64_t) || size > r->area.bytes ||
	    from - tail > r->area.bytes - size) {
		if (sums)
			sums->damaged++;
		return;
	}
	c->packet_at = from;
	c->packets_end = from + size;
	c->partial = flags & PERF_AUX_FLAG_PARTIAL;
	/* Of area_done and this end, the one further from the tail. */
	if (c->packets_end - tail > c->area_done - tail)
		c->area_done = c->packets_end;
	if (!sums)
		return;
	sums->lost += (flags & (gaps | PERF_AUX_FLAG_COLLISION)) != 0;
	if (flags & PERF_AUX_FLAG_TRUNCATED)
		atomic_store(&r->stopped, true);
}

/* The next load of the packets that have been entered. */
static bool next_packed(const struct nve_pmu_load_ring *r, struct nve_pmu_load_cursor *c,
			struct nve_pmu_load_sums *sums, struct nve_pmu_load *load)
{
	struct nve_spe_record record;
	int rc;

	while ((rc = nve_spe_next(&r->area, c->packets_end, &c->packet_at, &record)) > 0) {
		if (record.has_addr && record.addr && nve_spe_is_memory_load(&record)) {
			*load = (struct nve_pmu_load){record.pc, record.addr,
						      NVE_MAX(record.cycles, UINT64_C(1))};
			return true;
		}
		if (sums)
			sums->elsewhere++;
	}
	if (rc && sums && !c->partial)
		sums->damaged++;
	return false;
}

bool nve_pmu_load_ring_next(struct nve_pmu_load_ring *r, struct nve_pmu_load_cursor *c,
			    struct nve_pmu_load_sums *sums, struct nve_pmu_load *load)
{
	struct nve_pmu_record record;
	int rc;

	for (;;) {
		if (c->packet_at != c->packets_end && next_packed(r, c, sums, load))
			return true;
		rc = nve_pmu_ring_next(&r->ring, c->head, &c->at, &record);
		if (rc <= 0)
			break;
		if (record.type == PERF_RECORD_AUX && r->area.data)
			enter_area(r, c, &record, sums);
		else if (record.type == PERF_RECORD_SAMPLE && is_load(&record, load))
			return true;
		else if (sums)
			note(&record, sums);
	}
	if (rc && sums)
		sums->damaged++;
	return false;
}

void nve_pmu_load_ring_done(struct nve_pmu_load_ring *r, const struct nve_pmu_load_cursor *c)
{
	nve_pmu_ring_done(&r->ring, c->head);
	if (!r->area.data)
		return;
	/* The kernel says nothing where it finds no room at all for a thread that comes back. */
	if (c->area_done - nve_pmu_ring_area_tail(&r->ring) > r->area.bytes - r->area.bytes / 4)
		atomic_store(&r->stopped, true);
	nve_pmu_ring_area_done(&r->ring, c->area_done);
}

bool nve_pmu_load_ring_is_dead(const struct nve_pmu_load_ring *r)
{
	return atomic_load(&r->stopped) && atomic_load(&r->fd) < 0;
}
