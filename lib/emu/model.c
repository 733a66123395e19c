#include "emu/model.h"

#include "base/base.h"

typedef unsigned __int128 wide;

/* The most that can be told, where a quantity is beyond it. */
static uint64_t saturate(wide value, uint32_t *clamps)
{
	if (value <= UINT64_MAX)
		return (uint64_t)value;
	++*clamps;
	return UINT64_MAX;
}

/* Equation 6: whole accesses in a stall time; the rest stays in *carry_ps. */
static uint64_t accesses(uint64_t stall_ns, uint64_t latency_ps, uint64_t *carry_ps,
			 uint32_t *clamps)
{
	wide stall_ps = (wide)stall_ns * 1000 + *carry_ps;

	*carry_ps = (uint64_t)(stall_ps % latency_ps);
	return saturate(stall_ps / latency_ps, clamps);
}

/* One term of equation 5. */
static wide added_ps(uint64_t count, uint64_t target_ps, uint64_t dram_lat_ps, uint32_t *clamps)
{
	if (count == 0)
		return 0;
	if (target_ps < dram_lat_ps) {
		++*clamps;
		return 0;
	}
	return (wide)count * (target_ps - dram_lat_ps);
}

/* A latency, where it is DRAM's own: that of the moment. */
static uint64_t in_force(const struct nve_model_target *target, uint64_t latency_ps,
			 uint64_t dram_lat_ps)
{
	return latency_ps == 0 || latency_ps == target->own_ps ? dram_lat_ps : latency_ps;
}

struct nve_model_delay nve_model_delay(const struct nve_model_target *target,
				       const struct nve_epoch *epoch, struct nve_model_carry *carry)
{
	struct nve_model_delay d = {0};
	uint64_t wb_ns = NVE_MIN(epoch->stall_wb_ns, epoch->stall_ns);
	uint64_t rlat_ps = target->rlat_ps, wlat_ps = target->wlat_ps;
	wide sum_ps;

	if (epoch->latency_ps == 0) {
		d.clamps = epoch->stall_ns != 0;
		return d;
	}
	d.clamps = epoch->stall_wb_ns > epoch->stall_ns;
	d.ma_wb = accesses(wb_ns, epoch->latency_ps, &carry->wb_ps, &d.clamps);
	d.ma_ro = accesses(epoch->stall_ns - wb_ns, epoch->latency_ps, &carry->ro_ps, &d.clamps);
	if (target->symmetric)
		rlat_ps = wlat_ps = rlat_ps ? rlat_ps : wlat_ps;
	rlat_ps = in_force(target, rlat_ps, epoch->dram_lat_ps);
	wlat_ps = in_force(target, wlat_ps, epoch->dram_lat_ps);
	sum_ps = added_ps(d.ma_ro, rlat_ps, epoch->dram_lat_ps, &d.clamps) +
		 added_ps(d.ma_wb, wlat_ps, epoch->dram_lat_ps, &d.clamps) + carry->delay_ps;
	d.delay_ns = saturate(sum_ps / 1000, &d.clamps);
	carry->delay_ps = (uint64_t)(sum_ps % 1000);
	return d;
}
