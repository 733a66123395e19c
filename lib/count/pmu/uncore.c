#include "count/pmu/uncore.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "base/base.h"
#include "count/pmu/formula.h"
#include "count/pmu/group.h"

/* A keeper that has not read for so many epochs sleeps with its thread. */
enum { STALE_EPOCHS = 3 };

void nve_uncore_init(struct nve_uncore *u, const struct nve_perf *perf,
		     const struct nve_pmu_plan *plan, uint64_t epoch_ns)
{
	u->perf = perf;
	u->plan = plan;
	u->epoch_ns = epoch_ns;
	atomic_store(&u->dirty_ppm, -1);
}

static int open_event(const struct nve_perf *perf, const struct nve_pmu_box_event *event)
{
	struct perf_event_attr attr;

	nve_pmu_attr_uncore(&event->code, &attr);
	attr.read_format =
		PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return perf->open(perf->world, &attr, -1, event->cpu, -1);
}

int nve_uncore_probe(const struct nve_perf *perf, const struct nve_pmu_plan *plan)
{
	int fd = plan->boxes ? open_event(perf, &plan->box[0]) : -ENOENT;

	if (fd < 0)
		return fd;
	perf->close(perf->world, fd);
	return 0;
}

static void close_set(const struct nve_uncore *u, struct nve_uncore_set *set)
{
	for (unsigned i = 0; set->fd && i < u->plan->boxes; i++) {
		if (set->fd[i] >= 0)
			u->perf->close(u->perf->world, set->fd[i]);
	}
	if (set->fd)
		munmap(set->fd, u->plan->boxes * sizeof(*set->fd));
	*set = (struct nve_uncore_set){.away_from_low = set->away_from_low};
}

/* Boxes come in pairs of counters: without one of the two the ratio would lie. */
static int open_set(const struct nve_uncore *u, struct nve_uncore_set *set)
{
	int rc = 0;
	void *at = mmap(NULL, u->plan->boxes * sizeof(*set->fd), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return -ENOMEM;
	set->fd = at;
	for (unsigned i = 0; i < u->plan->boxes; i++)
		set->fd[i] = -1;
	for (unsigned i = 0; !rc && i < u->plan->boxes; i++) {
		rc = open_event(u->perf, &u->plan->box[i]);
		if (rc >= 0 && set->away_from_low)
			rc = nve_pmu_move_high(u->perf, rc);
		set->fd[i] = rc;
		rc = NVE_MIN(rc, 0);
	}
	if (rc)
		close_set(u, set);
	return rc;
}

/* Scaled as a box shares its counters with others; what never ran is no figure. */
static int read_event(const struct nve_perf *perf, int fd, uint64_t *value)
{
	uint64_t image[4]; /* count, enabled, running, value: a group of one */
	long got = perf->read(perf->world, fd, image, sizeof(image));

	if (got < 0)
		return (int)got;
	if (got < (long)sizeof(image) || image[0] != 1 || (image[1] && !image[2]))
		return -ENODATA;
	*value = image[3];
	if (image[2] < image[1])
		*value = (uint64_t)((unsigned __int128)image[3] * image[1] / image[2]);
	return 0;
}

static int read_set(const struct nve_uncore *u, const struct nve_uncore_set *set, uint64_t *written,
		    uint64_t *all)
{
	*written = *all = 0;
	for (unsigned i = 0; i < u->plan->boxes; i++) {
		uint64_t value = 0;
		int rc = read_event(u->perf, set->fd[i], &value);

		if (rc)
			return rc;
		if (u->plan->box[i].written)
			*written += value;
		else
			*all += value;
	}
	return 0;
}

static void take(struct nve_uncore *u, struct nve_uncore_set *set, bool first)
{
	uint64_t written, all, clamps = 0;
	int32_t ppm = -1;

	if (read_set(u, set, &written, &all)) {
		atomic_fetch_add(&u->failures, 1);
		return;
	}
	/* Scaling may step back a little. */
	if (!first && written >= set->written && all >= set->all)
		ppm = nve_pmu_formula_dirty_ppm(written - set->written, all - set->all, &clamps);
	set->written = written;
	set->all = all;
	if (ppm < 0)
		return;
	atomic_store(&u->dirty_ppm, ppm);
	atomic_fetch_add(&u->reads, 1);
	atomic_fetch_add(&u->clamps, clamps);
}

/* Becomes the keeper in place of the one seen, if that still is. */
static void take_over(struct nve_uncore *u, struct nve_uncore_set *set, uint64_t seen)
{
	uint64_t number = atomic_fetch_add(&u->keepers, 1) + 1;

	if (!atomic_compare_exchange_strong(&u->keeper, &seen, number))
		return;
	if (open_set(u, set)) {
		atomic_fetch_add(&u->failures, 1);
		return; /* it stays the keeper in name: the next tries when that is stale */
	}
	set->number = number;
	take(u, set, true);
}

int32_t nve_uncore_dirty_ppm(struct nve_uncore *u, struct nve_uncore_set *set, uint64_t now_ns)
{
	uint64_t keeper = atomic_load(&u->keeper), age_ns = now_ns - atomic_load(&u->read_at_ns);
	bool mine = set->number && keeper == set->number;

	if (set->number && !mine)
		close_set(u, set);
	/* Its own epochs come as often as they may be read; jitter must not skip every other. */
	if (mine && age_ns >= u->epoch_ns / 2) {
		atomic_store(&u->read_at_ns, now_ns);
		take(u, set, false);
	} else if (!mine && (!keeper || age_ns >= STALE_EPOCHS * u->epoch_ns)) {
		atomic_store(&u->read_at_ns, now_ns);
		take_over(u, set, keeper);
	}
	return atomic_load(&u->dirty_ppm);
}

void nve_uncore_leave(struct nve_uncore *u, struct nve_uncore_set *set)
{
	uint64_t number = set->number;

	if (!number)
		return;
	close_set(u, set);
	atomic_compare_exchange_strong(&u->keeper, &number, 0);
}

void nve_uncore_after_fork(struct nve_uncore *u)
{
	atomic_store(&u->keeper, 0);
	atomic_store(&u->read_at_ns, 0);
}
