#include "count/pmu/loads.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

typedef unsigned __int128 wide;

/* Four pages take the loads of two epochs with room to spare, and what an ordinary user may lock
 * does for hundreds of threads. */
enum { DATA_PAGES = 4, BATCH = 32 };

static struct {
	const struct nve_miss_sink *misses;
	const struct nve_waits_sink *waits;
} state;

void nve_pmu_loads_set_sink(const struct nve_miss_sink *sink)
{
	state.misses = sink;
}

void nve_pmu_loads_set_waits_sink(const struct nve_waits_sink *sink)
{
	state.waits = sink;
}

bool nve_pmu_loads_wanted(void)
{
	return state.misses || state.waits;
}

static size_t ring_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE) * (1 + DATA_PAGES);
}

static int open_one(struct nve_pmu_ring *r, const struct nve_perf *perf,
		    const struct nve_pmu_sampled *event, int tid)
{
	struct perf_event_attr attr;
	void *mapped;
	int fd, rc;

	nve_pmu_attr_sampled(event, &attr);
	fd = perf->open(perf->world, &attr, tid, -1, -1);
	if (fd < 0)
		return fd;
	rc = perf->map(perf->world, fd, ring_bytes(), &mapped);
	/* The event itself was allowed: it is the limit of locked memory. */
	if (rc == -EPERM)
		rc = -ENOLCK;
	if (!rc) {
		rc = nve_pmu_ring_begin(r, mapped, ring_bytes());
		if (!rc)
			rc = perf->enable(perf->world, fd);
		if (rc)
			perf->unmap(perf->world, mapped, ring_bytes());
	}
	perf->close(perf->world, fd);
	return rc;
}

static void unmap(struct nve_pmu_loads *l, const struct nve_perf *perf)
{
	while (l->count)
		perf->unmap(perf->world, l->ring[--l->count].page, ring_bytes());
}

int nve_pmu_loads_open(struct nve_pmu_loads *l, const struct nve_perf *perf,
		       const struct nve_pmu_sampled *events, unsigned count, int tid)
{
	int rc = count ? 0 : -ENODEV;

	l->count = 0;
	for (unsigned i = 0; !rc && i < count; i++) {
		rc = open_one(&l->ring[i], perf, &events[i], tid);
		l->count += rc == 0;
	}
	if (rc)
		unmap(l, perf);
	else
		atomic_store(&l->open, true);
	return rc;
}

void nve_pmu_loads_close(struct nve_pmu_loads *l, const struct nve_perf *perf)
{
	if (atomic_exchange(&l->open, false))
		unmap(l, perf);
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

/* The next load before head; what else there is is counted where sums is not NULL. */
static bool next_load(const struct nve_pmu_ring *r, uint64_t head, uint64_t *at,
		      struct nve_pmu_load_sums *sums, struct nve_pmu_load *load)
{
	struct nve_pmu_record record;
	int rc;

	while ((rc = nve_pmu_ring_next(r, head, at, &record)) > 0) {
		if (record.type == PERF_RECORD_SAMPLE && is_load(&record, load))
			return true;
		if (sums)
			note(&record, sums);
	}
	if (rc && sums)
		sums->damaged++;
	return false;
}

static void keep(struct nve_pmu_loads *l, const struct nve_pmu_load *load)
{
	l->kept[l->kept_at] = *load;
	l->kept_at = (l->kept_at + 1) % NVE_PMU_LOADS_KEPT;
	l->kept_count = NVE_MIN(l->kept_count + 1, (unsigned)NVE_PMU_LOADS_KEPT);
}

/* What is there to be shared out, and what has been so far. */
struct shares {
	uint64_t due_ns;
	wide weight, passed; /* of all loads; of those that have come */
	float dirty;
	struct nve_miss batch[BATCH];
	size_t count;
};

static void flush(struct shares *s)
{
	if (state.misses && s->count)
		state.misses->take(s->batch, s->count);
	s->count = 0;
}

/* Up to its end all shares come to due_ns * passed / weight: nothing is lost in rounding. */
static void hand(struct shares *s, const struct nve_pmu_load *load)
{
	uint64_t line = load->addr / NVE_LINE_BYTES * NVE_LINE_BYTES;
	uint64_t before_ns = (uint64_t)(s->due_ns * s->passed / s->weight);

	s->passed += load->weight;
	if (state.waits)
		state.waits->wait(line, (double)load->weight, s->dirty);
	if (!state.misses)
		return;
	s->batch[s->count++] = (struct nve_miss){
		.addr = line,
		.ip = load->ip,
		.place = state.misses->locate ? state.misses->locate(line) : 0,
		.stall_ns = (uint64_t)(s->due_ns * s->passed / s->weight) - before_ns,
		.dirty = s->dirty,
	};
	if (s->count == BATCH)
		flush(s);
}

/* Counts what the rings hold up to head. Returns the sum of the loads' weights. */
static wide scan(struct nve_pmu_loads *l, const uint64_t *head, struct nve_pmu_load_sums *sums)
{
	struct nve_pmu_load load;
	wide weight = 0;

	for (unsigned i = 0; i < l->count; i++) {
		uint64_t at = nve_pmu_ring_tail(&l->ring[i]);

		while (next_load(&l->ring[i], head[i], &at, sums, &load)) {
			weight += load.weight;
			sums->taken++;
			keep(l, &load);
		}
	}
	return weight;
}

static void hand_all(const struct nve_pmu_loads *l, const uint64_t *head, struct shares *s)
{
	struct nve_pmu_load load;

	for (unsigned i = 0; i < l->count; i++) {
		uint64_t at = nve_pmu_ring_tail(&l->ring[i]);

		while (next_load(&l->ring[i], head[i], &at, NULL, &load))
			hand(s, &load);
	}
}

static void hand_kept(const struct nve_pmu_loads *l, struct shares *s)
{
	for (unsigned i = 0; i < l->kept_count; i++)
		s->weight += l->kept[i].weight;
	for (unsigned i = 0; i < l->kept_count; i++)
		hand(s, &l->kept[i]);
}

/* Where the rings' records end now. Returns whether one of them is half full. */
static bool look(const struct nve_pmu_loads *l, uint64_t *head)
{
	bool filling = false;

	for (unsigned i = 0; i < l->count; i++) {
		const struct nve_pmu_ring *r = &l->ring[i];

		head[i] = nve_pmu_ring_head(r);
		filling |= head[i] - nve_pmu_ring_tail(r) > r->bytes / 2;
	}
	return filling;
}

void nve_pmu_loads_take(struct nve_pmu_loads *l, uint64_t epoch_ns, bool last,
			struct nve_pmu_load_sums *sums)
{
	uint64_t head[NVE_PMU_KINDS], wb_ns;
	struct shares s = {.count = 0};

	if (!atomic_load(&l->open))
		return;
	/* In this order: what is written is part of what has been counted before. */
	wb_ns = atomic_load(&l->counted_wb_ns) - l->handed_wb_ns;
	s.due_ns = atomic_load(&l->counted_ns) - l->handed_ns;
	/* Loads wait for their epoch's counts, but not until there is no room. */
	if (!look(l, head) && !s.due_ns)
		return;
	s.dirty = s.due_ns ? (float)NVE_MIN((double)wb_ns / (double)s.due_ns, 1.0) : 0;
	s.weight = scan(l, head, sums);
	if (s.weight && s.due_ns)
		hand_all(l, head, &s);
	else if (last && s.due_ns)
		hand_kept(l, &s);
	for (unsigned i = 0; i < l->count; i++)
		nve_pmu_ring_done(&l->ring[i], head[i]);
	if (!s.passed)
		return;
	flush(&s);
	if (state.waits)
		state.waits->end_window(NVE_MIN((double)s.due_ns / (double)epoch_ns, 1.0));
	l->handed_ns += s.due_ns;
	l->handed_wb_ns += wb_ns;
}
