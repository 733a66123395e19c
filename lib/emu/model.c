#include "emu/model.h"

#include "base/base.h"

typedef unsigned __int128 wide;

enum { PPM = 1000000 };

/* The most that can be told, where a quantity is beyond it. */
static uint64_t saturate(wide value, uint32_t *clamps)
{
	if (value <= UINT64_MAX)
		return (uint64_t)value;
	++*clamps;
	return UINT64_MAX;
}

/* Equation 6: whole accesses in the part_ppm millionths of a stall time; the rest stays in
 * *carry_ps. */
static uint64_t accesses(uint64_t stall_ns, uint32_t part_ppm, uint64_t latency_ps,
			 uint64_t *carry_ps, uint32_t *clamps)
{
	wide stall_ps = (wide)stall_ns * part_ppm / (PPM / 1000) + *carry_ps;

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

/* What is not on DRAM. */
static uint32_t nvm_ppm(uint32_t dram_ppm, uint32_t *clamps)
{
	*clamps += dram_ppm > PPM;
	return PPM - NVE_MIN(dram_ppm, (uint32_t)PPM);
}

/* Equation 6. False: no latency, no accesses. */
static bool count(const struct nve_epoch *epoch, struct nve_model_carry *carry,
		  struct nve_model_delay *d)
{
	uint64_t wb_ns = NVE_MIN(epoch->stall_wb_ns, epoch->stall_ns);
	uint64_t ro_ns = epoch->stall_ns - wb_ns, latency_ps = epoch->latency_ps;
	uint32_t *clamps = &d->clamps;

	if (latency_ps == 0) {
		d->clamps = epoch->stall_ns != 0;
		return false;
	}
	d->clamps = epoch->stall_wb_ns > epoch->stall_ns;
	d->ma_wb = accesses(wb_ns, PPM, latency_ps, &carry->wb_ps, clamps);
	d->ma_ro = accesses(ro_ns, PPM, latency_ps, &carry->ro_ps, clamps);
	d->nvm_ma_wb = accesses(wb_ns, nvm_ppm(epoch->dram_wb_ppm, clamps), latency_ps,
				&carry->nvm_wb_ps, clamps);
	d->nvm_ma_ro = accesses(ro_ns, nvm_ppm(epoch->dram_ro_ppm, clamps), latency_ps,
				&carry->nvm_ro_ps, clamps);
	return true;
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
	uint64_t rlat_ps = target->rlat_ps, wlat_ps = target->wlat_ps;
	wide sum_ps;

	d.larger_ns = epoch->bandwidth_ns;
	if (!count(epoch, carry, &d))
		return d;
	if (target->symmetric)
		rlat_ps = wlat_ps = rlat_ps ? rlat_ps : wlat_ps;
	rlat_ps = in_force(target, rlat_ps, epoch->dram_lat_ps);
	wlat_ps = in_force(target, wlat_ps, epoch->dram_lat_ps);
	sum_ps = added_ps(d.nvm_ma_ro, rlat_ps, epoch->dram_lat_ps, &d.clamps) +
		 added_ps(d.nvm_ma_wb, wlat_ps, epoch->dram_lat_ps, &d.clamps) + carry->delay_ps;
	d.delay_ns = saturate(sum_ps / 1000, &d.clamps);
	carry->delay_ps = (uint64_t)(sum_ps % 1000);
	d.larger_ns = NVE_MAX(d.delay_ns, epoch->bandwidth_ns);
	return d;
}
