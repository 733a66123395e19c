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
#include "count/pmu/tell.h"
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

static int parse_given(const struct nve_counters_world *w, struct nve_reason *reason)
{
	const char *text = w->options->pmu_events, *bad;
	/* libpfm4 is loaded only for what is no number. */
	int rc = nve_pmu_plan_parse(text, NULL, &state.plan, &bad);

	if (rc && w->load_pfm)
		rc = nve_pmu_plan_parse(text, w->load_pfm(), &state.plan, &bad);
	if (!rc && state.plan.sets)
		return 0;
	if (!rc) {
		nve_reason_set(reason, "NVM_PMU_EVENTS names no event for it",
			       "name one there (stall=)");
		return -ENODATA;
	}
	nve_format(
		reason->why, sizeof(reason->why),
		"NVM_PMU_EVENTS: wrong at '%.60s'; accepted: ROLE=EVENT,... with the roles stall, "
		"l2-hit, llc-hit, miss (these with stall), written, all (these two together), "
		"loads "
		"and events TYPE/CONFIG[/CONFIG1] or libpfm4's names, where that is installed; for "
		"loads with @PERIOD behind it",
		bad);
	return -EBADMSG;
}

static int make_plan(const struct nve_counters_world *w, struct nve_reason *reason)
{
	struct nve_pmu_machine machine = {
		.sysfs = NVE_PMU_SYSFS_ROOT, .nodes = count_nodes(), .smt = has_smt()};
	int rc;

	nve_cpu_read(&machine.id);
	read_world(machine.id.hypervisor);
	if (w->options->pmu_events[0])
		return parse_given(w, reason);
	rc = nve_pmu_plan_make(&machine, &state.plan);
	if (rc == -ENODEV) {
		nve_pmu_why(rc, NVE_PMU_SCOPE_THREAD, &state.world, reason);
	} else if (rc) {
		nve_format(reason->why, sizeof(reason->why),
			   "no events are known that tell the stall time of %s",
			   state.plan.cpu[0] ? state.plan.cpu : "this CPU");
		nve_format(reason->mend, sizeof(reason->mend), "NVM_PMU_EVENTS names some");
	}
	return rc;
}

/* Puts who is refused before the reason. */
static void name_refused(struct nve_reason *reason, const char *who, const char *what)
{
	char text[NVE_SOURCE_WHY_BYTES];

	nve_format(text, sizeof(text), "%s", reason->why);
	nve_format(reason->why, sizeof(reason->why), "%s%s: %s", who, what, text);
}

static int probe(struct nve_reason *reason)
{
	char event[64];
	enum nve_pmu_role refused = NVE_PMU_STALL;
	int rc = nve_pmu_probe(&nve_perf_kernel, &state.plan, &refused);

	if (!rc)
		return 0;
	nve_pmu_why(rc, NVE_PMU_SCOPE_THREAD, &state.world, reason);
	nve_format(event, sizeof(event), ", event %s", nve_pmu_role_name(refused));
	name_refused(reason, state.plan.cpu, event);
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

static int find_rates(const struct nve_counters_world *w, struct nve_calibration *c,
		      struct nve_reason *reason)
{
	uint64_t *rate = state.config.counts_per_ms;
	int rc = 0;

	rate[0] = rate[1] = GIVEN_PER_MS;
	if (state.plan.given)
		return 0;
	if (!is_kept(c))
		rc = measure_once(w, c);
	if (rc) {
		nve_format(reason->why, sizeof(reason->why),
			   "the stall event's rate could not be measured: %s", strerror(-rc));
		nve_format(reason->mend, sizeof(reason->mend),
			   "nvmemu calibrate in a quiet moment");
		return rc;
	}
	rate[0] = c->pmu_rate;
	rate[1] = c->pmu_rate_second;
	for (unsigned i = 0; !rc && i < state.plan.sets; i++)
		rc = nve_pmu_rate_check(rate[i]);
	if (!rc)
		return 0;
	nve_format(reason->why, sizeof(reason->why),
		   "the stall event of %s does not count misses here: %llu and %llu counts in a "
		   "millisecond of nothing else",
		   state.plan.cpu, (unsigned long long)rate[0], (unsigned long long)rate[1]);
	nve_format(reason->mend, sizeof(reason->mend), "NVM_PMU_EVENTS names another");
	return rc;
}

static int start_core(const struct nve_counters_world *w, struct nve_calibration *c,
		      struct nve_reason *reason)
{
	int rc = make_plan(w, reason);

	state.config.weights = (struct nve_pmu_weights){
		.l2_ps = NVE_MIN((uint64_t)L2_LAT_PS, w->llc_lat_ps),
		.llc_ps = w->llc_lat_ps,
		.dram_ps = w->dram_lat_ps,
	};
	if (!rc)
		rc = probe(reason);
	if (!rc)
		rc = find_rates(w, c, reason);
	return rc;
}

/* The dirty fraction: its better source is the sockets' counters. */
static void start_uncore(struct nve_source *s)
{
	struct nve_reason *reason = &s->no_better;
	int rc = state.plan.boxes ? nve_uncore_probe(&nve_perf_kernel, &state.plan) : 0;

	if (!state.plan.boxes && state.plan.given) {
		nve_reason_set(reason, "NVM_PMU_EVENTS names no events for it",
			       "name them there (written=, all=)");
	} else if (!state.plan.boxes) {
		nve_format(reason->why, sizeof(reason->why),
			   "no PMU that counts write-backs is to be seen here for %s",
			   state.plan.cpu);
		nve_format(reason->mend, sizeof(reason->mend),
			   "NVM_PMU_EVENTS names events (written=, all=)");
	} else if (rc) {
		nve_pmu_why(rc, NVE_PMU_SCOPE_SOCKET, &state.world, reason);
		name_refused(reason, state.plan.box_pmu, "");
	} else {
		nve_source_set(s, "socket-wide counters", "");
		nve_pmu_tell_boxes(&state.plan, s->how, sizeof(s->how));
		state.config.uncore = true;
	}
}

/* Addresses: loads that miss, sampled by the CPU, instead of look-ahead's. */
static void start_loads(struct nve_source *s)
{
	bool whole = state.plan.loads && state.plan.load[0].whole;
	struct nve_reason *reason = &s->no_better;
	int rc = state.plan.loads ? nve_pmu_probe_loads(&nve_perf_kernel, &state.plan) : 0;

	if (!state.plan.loads && state.plan.given) {
		nve_reason_set(reason, "NVM_PMU_EVENTS names no event for them",
			       "name one there (loads=)");
	} else if (!state.plan.loads) {
		nve_format(reason->why, sizeof(reason->why),
			   "no event that samples loads can be had here for %s, or no counter is "
			   "left for it",
			   state.plan.cpu);
		nve_format(reason->mend, sizeof(reason->mend), "NVM_PMU_EVENTS names one (loads=)");
	} else if (rc) {
		nve_pmu_why(rc, whole ? NVE_PMU_SCOPE_WHOLE : NVE_PMU_SCOPE_THREAD, &state.world,
			    reason);
		name_refused(reason, "sampled loads", "");
	} else {
		nve_source_set(s, "sampled loads", "");
		nve_pmu_tell_loads(&state.plan, s->how, sizeof(s->how));
		state.config.loads = true;
	}
}

static const char *const by_look_ahead[NVE_QUANTITIES] = {
	[NVE_QUANTITY_STALL] =
		"at samples of a thread's time its next instructions are interpreted and the lines "
		"that they touch are timed: the share of the time for which it would wait",
	[NVE_QUANTITY_DIRTY] = "the share of the thread's misses whose line the program has "
			       "written, by the same windows",
	[NVE_QUANTITY_LATENCY] = "touches that miss, timed in the same windows",
	[NVE_QUANTITY_ADDRESSES] = "the lines that these windows miss, each with its wait",
};

/* All by look-ahead, or by nothing: for that reason. */
static void start_without(const struct nve_counters_world *w, struct nve_sources *s,
			  const struct nve_reason *reason)
{
	static const char by_calibration[] = "the latency of DRAM that calibration has measured";

	for (int q = 0; q < NVE_QUANTITIES; q++) {
		struct nve_source *source = &s->of[q];

		if (q == NVE_QUANTITY_TRAFFIC)
			continue;
		if (w->no_ahead)
			nve_source_set(source, "none", "");
		else
			nve_source_set(source, "look-ahead", by_look_ahead[q]);
		source->no_better = *reason;
	}
	nve_reason_set(&s->of[NVE_QUANTITY_LATENCY].no_better, "", "");
	if (w->no_ahead) {
		nve_source_set(&s->of[NVE_QUANTITY_LATENCY], "calibration", by_calibration);
		nve_reason_set(&s->of[NVE_QUANTITY_LATENCY].no_better, w->no_ahead, "");
	}
}

/* A counted miss is one of the chase that the event's rate was measured by, unless the event sees
 * page walks, which the chase has none of. */
static void start_latency(struct nve_source *s)
{
	if (nve_pmu_formula_sees_walks(state.plan.set[0].formula))
		return;
	nve_source_set(s, "calibration",
		       state.plan.given ? "a miss is taken to last as long as DRAM's of calibration"
					: "a miss lasts as long as DRAM's of calibration, by which "
					  "the stall event's rate was measured");
}

static void start_stall(struct nve_sources *s)
{
	struct nve_source *stall = &s->of[NVE_QUANTITY_STALL];

	nve_source_set(stall, "hardware counters", "");
	nve_pmu_tell_stall(&state.plan, stall->how, sizeof(stall->how));
	if (state.plan.approximate)
		nve_reason_set(&stall->no_better,
			       "an upper bound or an approximation on this CPU, which has no event "
			       "for stalls on memory alone",
			       "NVM_COUNTERS=ahead, where there is look-ahead");
	start_latency(&s->of[NVE_QUANTITY_LATENCY]);
	nve_reason_set(&s->of[NVE_QUANTITY_DIRTY].no_better, "", "");
	nve_reason_set(&s->of[NVE_QUANTITY_ADDRESSES].no_better, "", "");
}

/* Each quantity for itself: what stands in for stall time says nothing of the others. Where there
 * is nothing to be opened for one of them, the reason for stall time is that for it, too. */
static void start_all(const struct nve_counters_world *w, struct nve_sources *s, bool counted)
{
	struct nve_source *dirty = &s->of[NVE_QUANTITY_DIRTY];

	if (counted)
		start_stall(s);
	else
		state.plan.sets = 0;
	if (counted || state.plan.boxes || state.plan.given)
		start_uncore(dirty);
	if (counted || state.plan.loads || state.plan.given)
		start_loads(&s->of[NVE_QUANTITY_ADDRESSES]);
	if (!counted && !state.config.uncore && !state.config.loads)
		return;
	state.config.perf = &nve_perf_kernel;
	state.config.plan = &state.plan;
	state.config.epoch_ns = w->options->epoch_ns;
	nve_pmu_setup(&state.config);
	if (!strcmp(dirty->name, "none"))
		nve_log(NVE_LOG_WARN, "all misses count as read-only: %s", dirty->no_better.why);
}

/* Counters were asked for, or are all that there could be, and are not to be had. */
static int refuse(const struct nve_counters_world *w, const struct nve_reason *reason, char *why,
		  size_t size)
{
	char text[NVE_SOURCE_WHY_BYTES + NVE_SOURCE_MEND_BYTES];

	nve_reason_join(reason, text, sizeof(text));
	nve_format(why, size, "no hardware counters: %s%s%s", text, w->no_ahead ? "; and " : "",
		   w->no_ahead ? w->no_ahead : "");
	return -ENODEV;
}

int nve_counters_check(const struct nve_counters_world *w, char *why, size_t size)
{
	struct nve_reason reason = {.why = ""};
	int rc;

	if (!w->no_ahead && w->options->counters != NVE_COUNTERS_PMU)
		return 0;
	if (w->options->counters == NVE_COUNTERS_AHEAD) {
		nve_format(why, size, "%s", w->no_ahead);
		return -ENODEV;
	}
	rc = make_plan(w, &reason);
	if (!rc)
		rc = probe(&reason);
	if (rc == -EBADMSG)
		nve_format(why, size, "%s", reason.why);
	if (rc == -EBADMSG)
		return -EINVAL;
	return rc ? refuse(w, &reason, why, size) : 0;
}

int nve_counters_start(const struct nve_counters_world *w, struct nve_calibration *c,
		       struct nve_sources *s, char *why, size_t size)
{
	struct nve_reason reason = {.why = "NVM_COUNTERS=ahead",
				    .mend = "NVM_COUNTERS=auto takes counters where there are any"};
	int rc;

	start_without(w, s, &reason);
	if (w->options->counters == NVE_COUNTERS_AHEAD)
		return 0;
	nve_reason_set(&reason, "", "");
	rc = start_core(w, c, &reason);
	nve_reason_join(&reason, why, size);
	start_without(w, s, &reason);
	if (rc == -EBADMSG)
		return -EINVAL;
	if (rc && (w->no_ahead || w->options->counters == NVE_COUNTERS_PMU))
		return refuse(w, &reason, why, size);
	/* Who names events for stall time is told that they do not count. */
	if (rc && rc != -ENODATA && w->options->pmu_events[0])
		nve_log(NVE_LOG_WARN, "stall time comes from look-ahead: %s", why);
	start_all(w, s, !rc);
	return 0;
}

void nve_counters_tell_all(struct nve_sources *s, const char *name)
{
	bool none = !strcmp(name, "none");

	for (int q = 0; q < NVE_QUANTITIES; q++)
		nve_source_set(&s->of[q], name, none ? "" : "the epochs of the record");
	nve_source_set(&s->of[NVE_QUANTITY_ADDRESSES], "none", "");
	if (!none)
		nve_reason_set(&s->of[NVE_QUANTITY_ADDRESSES].no_better,
			       "a record holds no addresses", "");
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
	return nve_pmu_is_on() && state.plan.sets ? state.plan.cpu : "";
}
