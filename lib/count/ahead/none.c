/*
 * Where there is no interpreter for the processor: what the rest of the library calls, with nothing
 * behind it but the account of the program's CPU time. Epochs come out without stall time, for
 * hardware counters to fill in; nve_ahead_why_not() tells why.
 */
#include <stddef.h>
#include <sys/mman.h>

#include "base/arch.h"
#include "count/ahead/ahead.h"
#include "count/ahead/pages.h"
#include "count/ahead/touch.h"

struct nve_ahead {
	struct nve_ahead_counts counts;
	uint64_t epoch_ns; /* CPU time since the last epoch ended */
};

static uint64_t dram_lat_ps;

const char *nve_ahead_why_not(void)
{
	return "no look-ahead on this processor (" NVE_ARCH_NAME ", not x86-64)";
}

int nve_ahead_setup(const struct nve_calibration *calibration, uint64_t given_dram_lat_ps,
		    uint64_t budget_ppm, uint64_t library_start, uint64_t library_end)
{
	(void)budget_ppm;
	(void)library_start;
	(void)library_end;
	dram_lat_ps = given_dram_lat_ps ? given_dram_lat_ps : calibration->dram_lat_ps;
	return 0;
}

void nve_ahead_set_sink(const struct nve_miss_sink *sink)
{
	(void)sink;
}

void nve_ahead_set_waits_sink(const struct nve_waits_sink *sink)
{
	(void)sink;
}

void nve_ahead_after_fork(void) {}

struct nve_ahead *nve_ahead_new(void)
{
	void *mem = mmap(NULL, sizeof(struct nve_ahead), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

void nve_ahead_delete(struct nve_ahead *a)
{
	munmap(a, sizeof(*a));
}

uint64_t nve_ahead_sample(struct nve_ahead *a, const ucontext_t *uc, uint64_t cpu_ns,
			  struct nve_ahead_tick tick, void (*guard)(bool enter))
{
	(void)uc;
	(void)guard;
	a->counts.samples++;
	if (tick.in_kernel)
		a->counts.samples_kernel++;
	else
		a->counts.samples_user++;
	a->epoch_ns += cpu_ns;
	return 0;
}

void nve_ahead_count_traffic(uint64_t bytes_per_s)
{
	(void)bytes_per_s;
}

void nve_ahead_count_traffic_of(bool (*counts)(uint64_t addr))
{
	(void)counts;
}

struct nve_stream_bytes nve_ahead_traffic(struct nve_ahead *a, const ucontext_t *uc,
					  uint64_t cpu_ns, bool in_kernel,
					  void (*guard)(bool enter))
{
	(void)guard;
	(void)a;
	(void)uc;
	(void)cpu_ns;
	(void)in_kernel;
	return (struct nve_stream_bytes){0};
}

struct nve_stream_bytes nve_ahead_traffic_rate(struct nve_ahead *a, bool *known)
{
	(void)a;
	*known = true;
	return (struct nve_stream_bytes){0};
}

struct nve_stream *nve_ahead_stream(struct nve_ahead *a)
{
	(void)a;
	return NULL;
}

void nve_ahead_charge(struct nve_ahead *a, int64_t cost_ns)
{
	(void)a;
	(void)cost_ns;
}

void nve_ahead_epoch(struct nve_ahead *a, uint64_t rest_ns, struct nve_epoch *epoch)
{
	*epoch = (struct nve_epoch){
		.cpu_ns = a->epoch_ns + rest_ns,
		.latency_ps = dram_lat_ps,
		.dram_lat_ps = dram_lat_ps,
	};
	a->epoch_ns = 0;
}

const struct nve_ahead_counts *nve_ahead_counts(const struct nve_ahead *a)
{
	return &a->counts;
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

bool nve_pages_known(void)
{
	return true;
}

int nve_pages_refresh(void)
{
	return 0;
}
