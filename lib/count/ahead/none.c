/*
 * Where there is no interpreter for the processor: what the rest of the library calls, with nothing
 * behind it. nve_ahead_why_not() tells so; no thread ever has a state.
 */
#include <errno.h>
#include <stddef.h>

#include "base/arch.h"
#include "count/ahead/ahead.h"
#include "count/ahead/pages.h"
#include "count/ahead/touch.h"

const char *nve_ahead_why_not(void)
{
	return "no look-ahead on this processor (" NVE_ARCH_NAME ", not x86-64)";
}

int nve_ahead_setup(const struct nve_calibration *calibration, uint64_t given_dram_lat_ps,
		    uint64_t budget_ppm, uint64_t library_start, uint64_t library_end)
{
	(void)calibration;
	(void)given_dram_lat_ps;
	(void)budget_ppm;
	(void)library_start;
	(void)library_end;
	return -ENOTSUP;
}

void nve_ahead_after_fork(void) {}

struct nve_ahead *nve_ahead_new(void)
{
	return NULL;
}

void nve_ahead_delete(struct nve_ahead *a)
{
	(void)a;
}

uint64_t nve_ahead_sample(struct nve_ahead *a, const ucontext_t *uc, uint64_t cpu_ns,
			  bool in_kernel, void (*guard)(bool enter))
{
	(void)a;
	(void)uc;
	(void)cpu_ns;
	(void)in_kernel;
	(void)guard;
	return 0;
}

void nve_ahead_charge(struct nve_ahead *a, int64_t cost_ns)
{
	(void)a;
	(void)cost_ns;
}

void nve_ahead_epoch(struct nve_ahead *a, uint64_t rest_ns, struct nve_epoch *epoch)
{
	(void)a;
	(void)rest_ns;
	*epoch = (struct nve_epoch){0};
}

const struct nve_ahead_counts *nve_ahead_counts(const struct nve_ahead *a)
{
	static const struct nve_ahead_counts none;

	(void)a;
	return &none;
}

uint32_t nve_ahead_dirty_se_ppm(const struct nve_ahead *a)
{
	(void)a;
	return 0;
}

uint64_t nve_ahead_latency_ps(uint64_t ticks_sum, uint64_t count)
{
	(void)ticks_sum;
	(void)count;
	return 0;
}

uint64_t nve_ahead_dram_lat_ps(void)
{
	return 0;
}

int nve_ahead_stop_names(struct nve_ahead_stop_name *names, int capacity)
{
	(void)names;
	(void)capacity;
	return 0;
}

bool nve_touch_fixup(ucontext_t *uc)
{
	(void)uc;
	return false;
}

void nve_pages_want(void) {}

bool nve_pages_wanted(void)
{
	return false;
}

int nve_pages_refresh(void)
{
	return 0;
}
