#include "stats.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "collect.h"
#include "emu/thread.h"
#include "nvmemu.h"
#include "runtime.h"

static void fill(struct nvmemu_stats *stats, const struct nve_totals *t)
{
	stats->emulated = 1;
	stats->cpu_ns = t->cpu_ns;
	stats->stall_ns = t->stall_ns;
	stats->stall_wb_ns = t->stall_wb_ns;
	stats->ma_ro = t->ma_ro;
	stats->ma_wb = t->ma_wb;
	stats->delay_owed_ns = t->delay_owed_ns;
	stats->delay_paid_ns = t->delay_paid_ns;
	stats->epochs = t->epochs;
}

int nve_stats(struct nvmemu_stats *stats)
{
	size_t size = stats->size;
	int saved_errno = errno, scope = stats->scope;
	struct nvmemu_stats known = {.size = size, .scope = scope};
	const struct nve_thread *t = nve_thread_self;
	struct nve_totals totals;

	/* A program may have been built with a header that knew less, or knows more. */
	if (size < offsetof(struct nvmemu_stats, cpu_ns) ||
	    (scope != NVMEMU_PROCESS && scope != NVMEMU_THREAD))
		return -EINVAL;
	if (nve_runtime_emulates() && (t || scope == NVMEMU_PROCESS)) {
		nve_collect_totals(scope == NVMEMU_THREAD ? t : NULL, &totals);
		fill(&known, &totals);
	}
	memset(stats, 0, size);
	memcpy(stats, &known, NVE_MIN(size, sizeof(known)));
	errno = saved_errno;
	return 0;
}
