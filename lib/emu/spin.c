#include "emu/spin.h"

#include <time.h>

#include "base/base.h"
#include "base/clock.h"

static uint64_t cpu_ns(void)
{
	return nve_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void spin_for(uint64_t ns, uint64_t tsc_khz)
{
	nve_spin_until(nve_tsc() + nve_ns_to_tsc(ns - NVE_SPIN_SLACK_NS / 2, tsc_khz));
}

uint64_t nve_spin_cpu(uint64_t now_ns, uint64_t end_ns, uint64_t tsc_khz)
{
	while (now_ns + NVE_SPIN_SLACK_NS < end_ns) {
		spin_for(end_ns - now_ns, tsc_khz);
		now_ns = cpu_ns();
	}
	return now_ns;
}

uint64_t nve_spin_device(struct nve_corewait *wait, uint64_t delay_ns, uint64_t device_ns,
			 uint64_t tsc_khz)
{
	uint64_t start_cpu = cpu_ns(), start_wall = nve_clock_ns(CLOCK_MONOTONIC);
	uint64_t now_wall = start_wall, ran_ns = 0, lost_ns = 0, used_ns = 0;

	while (ran_ns + used_ns + NVE_SPIN_SLACK_NS < delay_ns) {
		spin_for(delay_ns - ran_ns - used_ns, tsc_khz);
		now_wall = nve_clock_ns(CLOCK_MONOTONIC);
		ran_ns = cpu_ns() - start_cpu;
		lost_ns = now_wall - start_wall - NVE_MIN(now_wall - start_wall, ran_ns);
		used_ns = delay_ns - NVE_MIN(ran_ns, delay_ns);
		used_ns = NVE_MIN(used_ns, device_ns);
		used_ns = NVE_MIN(lost_ns, used_ns);
	}
	nve_corewait_mark(wait, now_wall, start_cpu + ran_ns, lost_ns - used_ns);
	return ran_ns + used_ns;
}
