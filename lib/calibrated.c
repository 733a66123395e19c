#include "calibrated.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "count/calibrate.h"
#include "count/calstore.h"

enum {
	CALIBRATION_NS = 100000000,
	/* A chase over less sees fewer page walks than a large one: such a calibration is measured
	 * again by later processes, a few times. */
	FOOTPRINT_GOOD_BYTES = 256 << 20,
	CALIBRATION_TRIES = 4,
	MEASURE_TRIES = 3,
};

static struct nve_calstore store;
static bool ready;

static void find_store(char *const envp[])
{
	if (!ready)
		nve_calstore_setup(&store, envp);
	ready = true;
}

static bool is_good(const struct nve_calibration *c)
{
	return c->footprint_bytes >= FOOTPRINT_GOOD_BYTES || c->tries >= CALIBRATION_TRIES;
}

/* cal: the one that is not good. */
static int measure(struct nve_calibration *cal)
{
	struct nve_calibration fresh;
	int rc = -EAGAIN;

	/* On a crowded machine the core may be gone all the while, once. */
	for (int i = 0; rc && i < MEASURE_TRIES; i++)
		rc = nve_calibrate(&fresh, CALIBRATION_NS);
	if (rc)
		return rc;
	fresh.tries = cal->tries + 1;
	if (fresh.footprint_bytes < cal->footprint_bytes) {
		cal->tries = fresh.tries;
		fresh = *cal;
	}
	*cal = fresh;
	rc = nve_calstore_save(&store, cal);
	if (rc)
		nve_log(NVE_LOG_INFO, "calibration not kept: %s", strerror(-rc));
	return 0;
}

int nve_calibrated_load(struct nve_calibration *cal, char *const envp[])
{
	const char *reason;
	int rc;

	find_store(envp);
	if (!nve_calstore_load(&store, cal, &reason) && is_good(cal))
		return 0;
	nve_calstore_lock(&store);
	rc = nve_calstore_load(&store, cal, &reason);
	if (rc || !is_good(cal)) {
		nve_log(NVE_LOG_INFO, "calibrating: %s", rc ? reason : "small footprint so far");
		rc = measure(cal) && rc ? -EIO : 0;
	}
	nve_calstore_unlock(&store);
	return rc;
}

struct nve_calstore *nve_calibrated_store(char *const envp[])
{
	find_store(envp);
	return &store;
}

void nve_calibrated_cpu(char cpu[NVE_CALIBRATED_CPU_BYTES], char *const envp[])
{
	find_store(envp);
	memcpy(cpu, store.cpu, NVE_CALIBRATED_CPU_BYTES);
}

void nve_calibrated_fill(const struct nve_calibration *c, const struct nve_options *options,
			 uint64_t dram_lat_ps, uint64_t llc_lat_ps, struct nve_machine_snapshot *m)
{
	m->tsc_khz = c->tsc_khz;
	m->dram_lat_ps = dram_lat_ps;
	m->llc_lat_ps = llc_lat_ps;
	m->dram_lat_given = options->dram_lat_ps != 0;
	m->llc_lat_given = options->llc_lat_ps != 0;
	/* unknown where it came to nothing before calibration */
	m->w_milli = llc_lat_ps ? (uint32_t)(dram_lat_ps * 1000 / llc_lat_ps) : 0;
	m->fence_cycles = c->fence_cycles;
	m->threshold_cycles = c->threshold_cycles;
	m->run_ahead_instructions = c->run_ahead_instructions;
	m->bandwidth.read = c->read_bytes_per_s;
	m->bandwidth.write = c->write_bytes_per_s;
	m->bandwidth.all_read = c->all_read_bytes_per_s;
	m->bandwidth.all_write = c->all_write_bytes_per_s;
	m->llc_bytes = c->llc_bytes;
	m->huge_pages = c->huge_pages;
	m->calibrated_at_s = c->measured_at_s;
}
