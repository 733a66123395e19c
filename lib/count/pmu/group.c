#include "count/pmu/group.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"

typedef unsigned __int128 wide;

/* As the kernel lays it out with PERF_FORMAT_GROUP and both times. */
struct image {
	uint64_t count, enabled_ns, running_ns, value[NVE_PMU_GROUP_EVENTS];
};

uint64_t nve_pmu_counter_delta(uint64_t before, uint64_t now, struct nve_pmu_reads *reads)
{
	const uint64_t range = UINT64_C(1) << NVE_PMU_COUNTER_BITS;
	uint64_t around;

	if (now >= before)
		return now - before;
	/* Half a range in one epoch is years of events: such a step leads back, not around. */
	around = (now - before) & (range - 1);
	if (before < range && around < range / 2) {
		reads->wraps++;
		return around;
	}
	reads->backwards++;
	return 0;
}

static uint64_t scaled(uint64_t delta, uint64_t enabled_ns, uint64_t running_ns)
{
	wide full = (wide)delta * enabled_ns / running_ns;

	return full > UINT64_MAX ? UINT64_MAX : (uint64_t)full;
}

int nve_pmu_move_high(const struct nve_perf *perf, int fd)
{
	int high = nve_file_move_high(fd);

	if (high != fd)
		return high;
	perf->close(perf->world, fd);
	return -EMFILE;
}

static int open_one(struct nve_pmu_group *g, const struct nve_pmu_group_plan *plan, int tid)
{
	unsigned i = g->count;
	struct perf_event_attr attr;
	int fd;

	nve_pmu_attr_thread(&plan->codes[i], &attr);
	/* The members follow their leader. */
	attr.disabled = i == 0;
	fd = g->perf->open(g->perf->world, &attr, tid, -1, i ? g->fd[0] : -1);
	if (fd >= 0 && plan->away_from_low)
		fd = nve_pmu_move_high(g->perf, fd);
	if (fd < 0)
		return fd;
	g->fd[i] = fd;
	g->count++;
	return 0;
}

/* Where the counters stand when the group starts: above zero if it was inherited or restarted. */
static int read_image(const struct nve_pmu_group *g, struct image *image)
{
	long got = g->perf->read(g->perf->world, g->fd[0], image, sizeof(*image));

	if (got < 0)
		return (int)got;
	if ((size_t)got < offsetof(struct image, value) + g->count * sizeof(uint64_t) ||
	    image->count != g->count)
		return -ENODATA;
	return 0;
}

int nve_pmu_group_open(struct nve_pmu_group *g, const struct nve_perf *perf,
		       const struct nve_pmu_group_plan *plan, int tid, unsigned *failed)
{
	int rc = plan->count && plan->count <= NVE_PMU_GROUP_EVENTS ? 0 : -EINVAL;

	memset(g, 0, sizeof(*g));
	g->perf = perf;
	while (!rc && g->count < plan->count)
		rc = open_one(g, plan, tid);
	*failed = g->count < plan->count ? g->count : 0;
	if (!rc)
		rc = perf->enable(perf->world, g->fd[0]);
	if (rc)
		nve_pmu_group_close(g);
	return rc;
}

static void take(struct nve_pmu_group *g, const struct image *image)
{
	g->enabled_ns = image->enabled_ns;
	g->running_ns = image->running_ns;
	memcpy(g->value, image->value, g->count * sizeof(*g->value));
}

int nve_pmu_group_read(struct nve_pmu_group *g, bool scale, struct nve_pmu_reads *reads,
		       uint64_t delta[NVE_PMU_GROUP_EVENTS])
{
	uint64_t enabled_ns, running_ns;
	struct image image;
	int rc = g->count ? read_image(g, &image) : -EBADF;

	if (rc) {
		reads->unread++;
		return rc;
	}
	enabled_ns = nve_pmu_counter_delta(g->enabled_ns, image.enabled_ns, reads);
	running_ns = nve_pmu_counter_delta(g->running_ns, image.running_ns, reads);
	if (enabled_ns && !running_ns && scale) {
		reads->unread++;
		return -ENODATA;
	}
	for (unsigned i = 0; i < g->count; i++) {
		delta[i] = nve_pmu_counter_delta(g->value[i], image.value[i], reads);
		if (scale && running_ns < enabled_ns)
			delta[i] = scaled(delta[i], enabled_ns, running_ns);
	}
	take(g, &image);
	reads->reads++;
	reads->enabled_ns += enabled_ns;
	reads->running_ns += running_ns;
	return 0;
}

void nve_pmu_group_close(struct nve_pmu_group *g)
{
	/* The leader last: without it the members would become groups of their own. */
	while (g->count)
		g->perf->close(g->perf->world, g->fd[--g->count]);
}
