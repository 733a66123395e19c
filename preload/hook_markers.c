#include "preload/hook_markers.h"

#include <stddef.h>

#include "base/base.h"
#include "nvmemu.h"
#include "markers.h"
#include "preload/real.h"
#include "stats.h"

/* Of the copy that is at work; NULL: that is this one. */
static struct {
	void (*region_begin)(const char *name);
	void (*region_end)(void);
	void (*region_end_named)(const char *name);
	void (*pause)(void);
	void (*resume)(void);
	int (*stats)(struct nvmemu_stats *stats);
} other;

void nve_hook_markers_forward(void *(*look_up)(const char *name))
{
	*(void **)&other.region_begin = look_up("nvmemu_region_begin");
	*(void **)&other.region_end = look_up("nvmemu_region_end");
	*(void **)&other.region_end_named = look_up("nvmemu_region_end_named");
	*(void **)&other.pause = look_up("nvmemu_pause");
	*(void **)&other.resume = look_up("nvmemu_resume");
	*(void **)&other.stats = look_up("nvmemu_stats");
}

NVE_EXPORT void nvmemu_region_begin(const char *name)
{
	if (nve_unlikely(other.region_begin != NULL))
		other.region_begin(name);
	else
		nve_markers_begin(name);
}

NVE_EXPORT void nvmemu_region_end(void)
{
	if (nve_unlikely(other.region_end != NULL))
		other.region_end();
	else
		nve_markers_end();
}

NVE_EXPORT void nvmemu_region_end_named(const char *name)
{
	if (nve_unlikely(other.region_end_named != NULL))
		other.region_end_named(name);
	else
		nve_markers_end_named(name);
}

NVE_EXPORT void nvmemu_pause(void)
{
	if (nve_unlikely(other.pause != NULL))
		other.pause();
	else
		nve_markers_pause();
}

NVE_EXPORT void nvmemu_resume(void)
{
	if (nve_unlikely(other.resume != NULL))
		other.resume();
	else
		nve_markers_resume();
}

NVE_EXPORT int nvmemu_stats(struct nvmemu_stats *stats)
{
	if (nve_unlikely(other.stats != NULL))
		return other.stats(stats);
	return nve_stats(stats);
}
