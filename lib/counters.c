#include "counters.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/file.h"
#include "base/log.h"
#include "count/ahead/ahead.h"
#include "count/pmu/identify.h"
#include "count/pmu/pmu.h"
#include "count/pmu/rate.h"
#include "count/pmu/sysfs.h"
#include "count/pmu/why.h"

enum {
	GIVEN_PER_MS = 1000000, /* a given stall event counts nanoseconds */
	L2_LAT_PS = 4000,       /* of usual cores; weighs hits beside hits, of little effect */
	NODES_MAX = 64,
};

static struct {
	struct nve_pmu_plan plan;
	struct nve_pmu_config config;
	struct nve_pmu_world world;
} state;

static bool read_text(const char *path, char *buf, size_t size)
{
	size_t length;

	return !nve_file_read(path, buf, size, &length);
}

static void read_world(bool hypervisor)
{
	char text[32];

	state.world.hypervisor = hypervisor;
	state.world.paranoid_known =
		read_text("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));
	if (state.world.paranoid_known)
		state.world.paranoid = atoi(text);
}

/* Nodes with memory are listed as "0" or "0-1,4". */
static unsigned count_nodes(void)
{
	char text[128];

	if (!read_text("/sys/devices/system/node/has_memory", text, sizeof(text)))
		return 1;
	return strpbrk(text, "-,") ? 2 : 1;
}

static bool has_smt(void)
{
	char text[16];

	return read_text("/sys/devices/system/cpu/smt/active", text, sizeof(text)) &&
	       text[0] == '1';
}

static int parse_given(const struct nve_counters_world *w, char *why, size_t size)
{
	const char *text = w->options->pmu_events, *bad;
	/* libpfm4 is loaded only for what is no number. */
	int rc = nve_pmu_plan_parse(text, NULL, &state.plan, &bad);

	if (rc && w->load_pfm)
		rc = nve_pmu_plan_parse(text, w->load_pfm(), &state.plan, &bad);
	if (!rc)
		return 0;
	nve_format(
		why, size,
		"NVM_PMU_EVENTS: wrong at '%.60s'; accepted: ROLE=EVENT,... with the roles stall "
		"(must be there), l2-hit, llc-hit, miss, written, all (these two together), loads "
		"and events TYPE/CONFIG[/CONFIG1] or libpfm4's names, where that is installed; for "
		"loads with @PERIOD behind it",
		bad);
	return -EBADMSG;
}

static int make_plan(const struct nve_counters_world *w, char *why, size_t size)
{
	struct nve_pmu_machine machine = {
		.sysfs = NVE_PMU_SYSFS_ROOT, .nodes = count_nodes(), .smt = has_smt()};
	int rc;

	nve_cpu_read(&machine.id);
	read_world(machine.id.hypervisor);
	if (w->options->pmu_events[0])
		return parse_given(w, why, size);
	rc = nve_pmu_plan_make(&machine, &state.plan);
	if (rc == -ENODEV)
		nve_pmu_why(rc, NVE_PMU_SCOPE_THREAD, &state.world, why, size);
	else if (rc)
		nve_format(why, size,
			   "no events are known that tell the stall time of %s; "
			   "NVM_PMU_EVENTS names some",
			   state.plan.cpu[0] ? state.plan.cpu : "this CPU");
	return rc;
}

static int probe(char *why, size_t size)
{
	char text[200];
	enum nve_pmu_role refused = NVE_PMU_STALL;
	int rc = nve_pmu_probe(&nve_perf_kernel, &state.plan, &refused);

	if (!rc)
		return 0;
	nve_pmu_why(rc, NVE_PMU_SCOPE_THREAD, &state.world, text, sizeof(text));
	nve_format(why, size, "%s, event %s: %s", state.plan.cpu, nve_pmu_role_name(refused), text);
	return rc;
}

static bool is_kept(const struct nve_calibration *c)
{
	return c->pmu_plan == nve_pmu_plan_hash(&state.plan);
}

static int measure(const struct nve_counters_world *w, struct nve_calibration *c)
{
	uint64_t rate[NVE_PMU_KINDS] = {0};
	int rc = nve_pmu_rate_measure(&nve_perf_kernel, &state.plan, &state.config.weights, rate);

	if (rc && rc != -ERANGE)
		return rc;
	/* That an event does not count is kept, too. */
	c->pmu_plan = nve_pmu_plan_hash(&state.plan);
	c->pmu_rate = rate[0];
	c->pmu_rate_second = rate[1];
	rc = nve_calstore_save(w->store, c);
	if (rc)
		nve_log(NVE_LOG_INFO, "rates of counters not kept: %s", strerror(-rc));
	return 0;
}

/* Of many processes that start at once one measures. */
static int measure_once(const struct nve_counters_world *w, struct nve_calibration *c)
{
	struct nve_calibration kept;
	const char *reason;
	int rc = 0;

	nve_calstore_lock(w->store);
	if (!nve_calstore_load(w->store, &kept, &reason) && is_kept(&kept)) {
		c->pmu_plan = kept.pmu_plan;
		c->pmu_rate = kept.pmu_rate;
		c->pmu_rate_second = kept.pmu_rate_second;
	} else {
		rc = measure(w, c);
	}
	nve_calstore_unlock(w->store);
	return rc;
}

static int find_rates(const struct nve_counters_world *w, struct nve_calibration *c, char *why,
		      size_t size)
{
	uint64_t *rate = state.config.counts_per_ms;
	int rc = 0;

	rate[0] = rate[1] = GIVEN_PER_MS;
	if (state.plan.given)
		return 0;
	if (!is_kept(c))
		rc = measure_once(w, c);
	if (rc) {
		nve_format(why, size,
			   "the stall event's rate could not be measured: %s; nvmemu "
			   "calibrate in a quiet moment",
			   strerror(-rc));
		return rc;
	}
	rate[0] = c->pmu_rate;
	rate[1] = c->pmu_rate_second;
	for (unsigned i = 0; !rc && i < state.plan.sets; i++)
		rc = nve_pmu_rate_check(rate[i]);
	if (rc)
		nve_format(why, size,
			   "the stall event of %s does not count misses here: %llu and "
			   "%llu counts in a millisecond of nothing else; NVM_PMU_EVENTS names "
			   "another",
			   state.plan.cpu, (unsigned long long)rate[0],
			   (unsigned long long)rate[1]);
	return rc;
}

static int start_core(const struct nve_counters_world *w, struct nve_calibration *c, char *why,
		      size_t size)
{
	int rc;

	why[0] = 0;
	rc = make_plan(w, why, size);

	state.config.weights = (struct nve_pmu_weights){
		.l2_ps = NVE_MIN((uint64_t)L2_LAT_PS, w->llc_lat_ps),
		.llc_ps = w->llc_lat_ps,
		.dram_ps = w->dram_lat_ps,
	};
	if (!rc)
		rc = probe(why, size);
	if (!rc)
		rc = find_rates(w, c, why, size);
	return rc;
}

/* The dirty fraction: its better source is the sockets' counters. */
static void start_uncore(struct nve_sources *s)
{
	char text[200];
	int rc = state.plan.boxes ? nve_uncore_probe(&nve_perf_kernel, &state.plan) : 0;

	if (!state.plan.boxes && state.plan.given) {
		nve_format(s->dirty_why, sizeof(s->dirty_why),
			   "NVM_PMU_EVENTS names no events for it (written, all)");
	} else if (!state.plan.boxes) {
		nve_format(s->dirty_why, sizeof(s->dirty_why),
			   "no PMU that counts write-backs is to "
			   "be seen here for %s; NVM_PMU_EVENTS names events (written, all)",
			   state.plan.cpu);
	} else if (rc) {
		nve_pmu_why(rc, NVE_PMU_SCOPE_SOCKET, &state.world, text, sizeof(text));
		nve_format(s->dirty_why, sizeof(s->dirty_why), "%s: %s", state.plan.box_pmu, text);
	} else {
		s->dirty = "socket-wide counters";
		state.config.uncore = true;
	}
}

/* All by look-ahead, or by nothing; why says why not by counters. */
static void start_without(const struct nve_counters_world *w, struct nve_sources *s,
			  const char *why)
{
	const char *source = w->no_ahead ? "none" : "look-ahead";

	*s = (struct nve_sources){.stall = source,
				  .dirty = source,
				  .latency = w->no_ahead ? "calibration" : source,
				  .addresses = source};
	nve_format(s->stall_why, sizeof(s->stall_why), "%s", why);
	nve_format(s->dirty_why, sizeof(s->dirty_why), "%s", why);
	nve_format(s->addresses_why, sizeof(s->addresses_why), "%s", why);
}

/* Addresses: loads that miss, sampled by the CPU, instead of look-ahead's. */
static void start_loads(struct nve_sources *s)
{
	char text[200];
	int rc = state.plan.loads ? nve_pmu_probe_loads(&nve_perf_kernel, &state.plan) : 0;

	if (!state.plan.loads && state.plan.given) {
		nve_format(s->addresses_why, sizeof(s->addresses_why),
			   "NVM_PMU_EVENTS names no event for them (loads)");
	} else if (!state.plan.loads) {
		nve_format(
			s->addresses_why, sizeof(s->addresses_why),
			"no event that samples loads can be had or read here for %s, or no counter "
			"is left for it; NVM_PMU_EVENTS names one (loads)",
			state.plan.cpu);
	} else if (rc) {
		nve_pmu_why(rc,
			    state.plan.load[0].whole ? NVE_PMU_SCOPE_WHOLE : NVE_PMU_SCOPE_THREAD,
			    &state.world, text, sizeof(text));
		nve_format(s->addresses_why, sizeof(s->addresses_why), "sampled loads: %s", text);
	} else {
		s->addresses = "sampled loads";
		s->addresses_why[0] = '\0';
		state.config.loads = true;
	}
}

static void start_with(const struct nve_counters_world *w, struct nve_sources *s)
{
	s->stall = "hardware counters";
	nve_format(s->stall_why, sizeof(s->stall_why), "%s",
		   state.plan.approximate ? "an upper bound or an approximation on this CPU" : "");
	s->dirty_why[0] = '\0';
	start_uncore(s);
	start_loads(s);
	state.config.perf = &nve_perf_kernel;
	state.config.plan = &state.plan;
	state.config.epoch_ns = w->options->epoch_ns;
	nve_pmu_setup(&state.config);
	if (!strcmp(s->dirty, "none"))
		nve_log(NVE_LOG_WARN, "all misses count as read-only: %s", s->dirty_why);
}

/* Counters were asked for, or are all that there could be, and are not to be had. */
static int refuse(const struct nve_counters_world *w, char *why, size_t size)
{
	char text[NVE_SOURCE_WHY_BYTES];

	nve_format(text, sizeof(text), "%s", why);
	nve_format(why, size, "no hardware counters: %s%s%s", text, w->no_ahead ? "; and " : "",
		   w->no_ahead ? w->no_ahead : "");
	return -ENODEV;
}

int nve_counters_check(const struct nve_counters_world *w, char *why, size_t size)
{
	int rc;

	if (!w->no_ahead && w->options->counters != NVE_COUNTERS_PMU)
		return 0;
	if (w->options->counters == NVE_COUNTERS_AHEAD) {
		nve_format(why, size, "%s", w->no_ahead);
		return -ENODEV;
	}
	rc = make_plan(w, why, size);
	if (!rc)
		rc = probe(why, size);
	if (rc == -EBADMSG)
		return -EINVAL;
	return rc ? refuse(w, why, size) : 0;
}

int nve_counters_start(const struct nve_counters_world *w, struct nve_calibration *c,
		       struct nve_sources *s, char *why, size_t size)
{
	int rc;

	start_without(w, s, "NVM_COUNTERS=ahead");
	if (w->options->counters == NVE_COUNTERS_AHEAD)
		return 0;
	rc = start_core(w, c, why, size);
	if (rc == -EBADMSG)
		return -EINVAL;
	start_without(w, s, why);
	if (!rc)
		start_with(w, s);
	else if (w->no_ahead || w->options->counters == NVE_COUNTERS_PMU)
		return refuse(w, why, size);
	else if (w->options->pmu_events[0])
		nve_log(NVE_LOG_WARN, "stall time comes from look-ahead: %s", why);
	return 0;
}

void nve_counters_set_miss_sink(const struct nve_miss_sink *sink)
{
	if (nve_pmu_samples_loads())
		nve_pmu_loads_set_sink(sink);
	else
		nve_ahead_set_sink(sink);
}

void nve_counters_set_waits_sink(const struct nve_waits_sink *sink)
{
	if (nve_pmu_samples_loads())
		nve_pmu_loads_set_waits_sink(sink);
	else
		nve_ahead_set_waits_sink(sink);
}

const char *nve_counters_events(void)
{
	return nve_pmu_is_on() ? state.plan.cpu : "";
}
