#include "report/fields.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report/report.h"

enum { KEY_BYTES = 64 };

/* clang-format off */
#define MUST(type, path, member, kind) {path, offsetof(struct type, member), NVE_FIELD_##kind, false}
#define MAY(type, path, member, kind)  {path, offsetof(struct type, member), NVE_FIELD_##kind, true}
#define TOTAL(path, member, kind) MUST(nve_totals, path, member, kind)
#define LATER(path, member, kind) MAY(nve_totals, path, member, kind)
#define SOURCE(key, quantity, need)                                                                \
	need(nve_view_process, "sources." key, sources.of[NVE_QUANTITY_##quantity].name, TEXT),    \
	MAY(nve_view_process, "sources.how." key, sources.of[NVE_QUANTITY_##quantity].how, TEXT),  \
	MAY(nve_view_process, "sources.why_not_better." key,                                       \
	    sources.of[NVE_QUANTITY_##quantity].why, TEXT),                                        \
	MAY(nve_view_process, "sources.mend." key, sources.of[NVE_QUANTITY_##quantity].mend, TEXT)
#define STOP(name, index) MAY(nve_totals, "windows.stops." name, window_stops[index], UINT)
const struct nve_field nve_fields_totals[] = {
	TOTAL("cpu_ns", cpu_ns, UINT),
	TOTAL("stall_ns", stall_ns, UINT),
	TOTAL("stall_wb_ns", stall_wb_ns, UINT),
	TOTAL("stall_share", stall_share_ppm, PPM),
	TOTAL("stall_share_se", stall_share_se_ppm, PPM),
	TOTAL("dirty_fraction", dirty_ppm, PPM),
	TOTAL("dirty_fraction_se", dirty_se_ppm, PPM),
	TOTAL("ma_ro", ma_ro, UINT),
	TOTAL("ma_wb", ma_wb, UINT),
	TOTAL("clamps", clamps, UINT),
	TOTAL("epochs", epochs, UINT),
	TOTAL("latency_ns", latency_ps, MILLI),
	TOTAL("latency_se_ns", latency_se_ps, MILLI),
	TOTAL("dram_lat_ns", dram_lat_ps, MILLI),
	TOTAL("delay_owed_ns", delay_owed_ns, UINT),
	TOTAL("delay_paid_ns", delay_paid_ns, UINT),
	TOTAL("delay_dropped_ns", delay_dropped_ns, UINT),
	LATER("delay_handover_ns", delay_handover_ns, UINT),
	LATER("handovers", handovers, UINT),
	TOTAL("samples.taken", samples, UINT),
	TOTAL("samples.user", samples_user, UINT),
	TOTAL("samples.kernel", samples_kernel, UINT),
	TOTAL("samples.own", samples_own, UINT),
	TOTAL("samples.no_answer", samples_no_answer, UINT),
	LATER("samples.by_kind", samples_by_kind, UINT),
	LATER("samples.lost", samples_lost, UINT),
	TOTAL("windows.taken", windows, UINT),
	TOTAL("windows.steps", window_steps, UINT),
	TOTAL("windows.limits", window_limits, UINT),
	LATER("windows.syscall_steps", window_call_steps, UINT),
	LATER("windows.syscall_limits", window_call_limits, UINT),
	TOTAL("touches", touches, UINT),
	TOTAL("misses", misses, UINT),
	TOTAL("misses_written", misses_written, UINT),
	LATER("faults", faults, UINT),
	TOTAL("cost.handler_ns", handler_ns, UINT),
	LATER("cost.lookahead_ns", lookahead_ns, UINT),
	LATER("cost.saved_ns", saved_ns, UINT),
	LATER("cost.monitor_ns", monitor_ns, UINT),
	LATER("counters.epochs", counters.epochs, UINT),
	LATER("counters.reads", counters.reads.reads, UINT),
	LATER("counters.unread", counters.reads.unread, UINT),
	LATER("counters.wraps", counters.reads.wraps, UINT),
	LATER("counters.backwards", counters.reads.backwards, UINT),
	LATER("counters.clamps", counters.clamps, UINT),
	LATER("counters.looked_ns", counters.looked_ns, UINT),
	LATER("counters.ahead_stall_ns", counters.ahead_stall_ns, UINT),
	LATER("counters.ahead_stall_wb_ns", counters.ahead_stall_wb_ns, UINT),
	LATER("counters.uncounted_threads", counters.uncounted, UINT),
	LATER("counters.loads_sampled", counters.loads.taken, UINT),
	LATER("counters.loads_elsewhere", counters.loads.elsewhere, UINT),
	LATER("counters.loads_lost", counters.loads.lost, UINT),
	LATER("counters.loads_throttled", counters.loads.throttled, UINT),
	LATER("counters.loads_damaged", counters.loads.damaged, UINT),
	LATER("counters.unsampled_threads", counters.loads.refused, UINT),
	LATER("traffic.read_bytes", traffic.read_bytes, UINT),
	LATER("traffic.read_bytes_se", traffic.read_se_bytes, ERROR),
	LATER("traffic.written_bytes", traffic.written_bytes, UINT),
	LATER("traffic.written_bytes_se", traffic.written_se_bytes, ERROR),
	LATER("traffic.delay_bandwidth_ns", traffic.delay_ns, UINT),
	LATER("traffic.cpu_ns.by_registers", traffic.ns[NVE_STREAM_BY_REGISTERS], UINT),
	LATER("traffic.cpu_ns.by_rate", traffic.ns[NVE_STREAM_BY_RATE], UINT),
	LATER("traffic.cpu_ns.by_model", traffic.ns[NVE_STREAM_BY_MODEL], UINT),
	LATER("traffic.cpu_ns.unknown", traffic.unknown_ns, UINT),
	LATER("placement.read.nvm_accesses", placed.nvm_ma[NVE_PLACED_READ], UINT),
	LATER("placement.write.nvm_accesses", placed.nvm_ma[NVE_PLACED_WRITE], UINT),
	STOP("limit", NVE_STOP_LIMIT),
	STOP("syscall", NVE_STOP_SYSCALL),
	STOP("unmapped", NVE_STOP_UNMAPPED),
	STOP("unknown_branch", NVE_STOP_UNKNOWN_BRANCH),
	STOP("unknown_address", NVE_STOP_UNKNOWN_ADDRESS),
	STOP("unsupported", NVE_STOP_UNSUPPORTED),
	STOP("trap", NVE_STOP_TRAP),
	STOP("overlay", NVE_STOP_OVERLAY),
	{.path = NULL},
};

/* How far a replayed record, and the threads, were from one another. */
const struct nve_field nve_fields_replay[] = {
	LATER("left_epochs", replay_left_epochs, UINT),
	LATER("left_cpu_ns", replay_left_ns, UINT),
	LATER("beyond_cpu_ns", replay_beyond_ns, UINT),
	{.path = NULL},
};

const struct nve_field nve_fields_process[] = {
	MUST(nve_view_process, "program.name", program, TEXT),
	MUST(nve_view_process, "program.pid", pid, INT),
	MUST(nve_view_process, "program.ppid", ppid, INT),
	MUST(nve_view_process, "program.host", host, TEXT),
	MUST(nve_view_process, "program.started_at", started_at_s, TIME),
	MUST(nve_view_process, "program.wall_ns", wall_ns, UINT),
	MUST(nve_view_process, "program.ended_by", ended_by, TEXT),
	MUST(nve_view_process, "why_not", why_not, TEXT),
	MUST(nve_view_process, "machine.cpu", machine.cpu, TEXT),
	MUST(nve_view_process, "machine.tsc_khz", machine.tsc_khz, UINT),
	MUST(nve_view_process, "machine.dram_lat_ns", machine.dram_lat_ps, MILLI),
	MUST(nve_view_process, "machine.dram_lat_origin", machine.dram_lat_origin, TEXT),
	MUST(nve_view_process, "machine.llc_lat_ns", machine.llc_lat_ps, MILLI),
	MUST(nve_view_process, "machine.llc_lat_origin", machine.llc_lat_origin, TEXT),
	MUST(nve_view_process, "machine.w", machine.w_milli, MILLI),
	MUST(nve_view_process, "machine.llc_bytes", machine.llc_bytes, UINT),
	MUST(nve_view_process, "machine.huge_pages", machine.huge_pages, BOOL),
	MUST(nve_view_process, "machine.calibrated_at", machine.calibrated_at_s, TIME),
	SOURCE("stall_time", STALL, MUST),
	SOURCE("dirty_fraction", DIRTY, MUST),
	SOURCE("latency", LATENCY, MUST),
	SOURCE("addresses", ADDRESSES, MUST),
	SOURCE("traffic", TRAFFIC, MAY),
	MUST(nve_view_process, "sources.timer", sources.timer, TEXT),
	MAY(nve_view_process, "sources.counter_events", sources.counter_events, TEXT),
	MAY(nve_view_process, "sources.socket_wide.reads", sources.uncore_reads, UINT),
	MAY(nve_view_process, "sources.socket_wide.clamps", sources.uncore_clamps, UINT),
	MAY(nve_view_process, "sources.socket_wide.failures", sources.uncore_failures, UINT),
	MAY(nve_view_process, "replay.file", replay, TEXT),
	MUST(nve_view_process, "threads_total", threads_total, UINT),
	MUST(nve_view_process, "threads_not_listed", threads_not_listed, UINT),
	MAY(nve_view_process, "threads_not_emulated", threads_not_emulated, UINT),
	{.path = NULL},
};

const struct nve_field nve_fields_thread[] = {
	MUST(nve_view_thread, "tid", tid, INT),
	MUST(nve_view_thread, "name", name, TEXT),
	MUST(nve_view_thread, "alive", alive, BOOL),
	{.path = NULL},
};

const struct nve_field nve_fields_run[] = {
	MUST(nve_view_run, "command", command, TEXT),
	MUST(nve_view_run, "started_at", started_at_s, TIME),
	MUST(nve_view_run, "wall_ns", wall_ns, UINT),
	MUST(nve_view_run, "status", status, INT),
	{.path = NULL},
};
/* clang-format on */

struct json_t *nve_fields_find(const struct json_t *object, const char *path)
{
	const json_t *at = object;

	for (;;) {
		size_t length = strcspn(path, ".");
		char key[KEY_BYTES];

		snprintf(key, sizeof(key), "%.*s", (int)length, path);
		at = json_object_get(at, key);
		if (!at || !path[length])
			return (json_t *)at;
		path += length + 1;
	}
}

static int take_uint(const json_t *value, uint64_t *to)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return -EINVAL;
	*to = (uint64_t)json_integer_value(value);
	return 0;
}

static int take_int(const json_t *value, int *to)
{
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < INT_MIN || n > INT_MAX)
		return -EINVAL;
	*to = (int)n;
	return 0;
}

/* A decimal number as a whole number of its parts. */
static int take_parts(const json_t *value, double parts, double most, double *to)
{
	double n = json_number_value(value) * parts;

	if (!json_is_number(value) || !(n >= 0) || n > most)
		return -EINVAL;
	*to = nearbyint(n);
	return 0;
}

static int take_ppm(const json_t *value, uint32_t *to)
{
	double n;

	if (take_parts(value, 1e6, UINT32_MAX, &n))
		return -EINVAL;
	*to = (uint32_t)n;
	return 0;
}

static int take_milli(const json_t *value, uint64_t *to)
{
	double n;

	/* the greatest that a writer's 64 bits hold, and that is a double */
	if (take_parts(value, 1e3, 9.2e18, &n))
		return -EINVAL;
	*to = (uint64_t)n;
	return 0;
}

static int take_text(const json_t *value, const char **to)
{
	if (!json_is_string(value) && !json_is_null(value))
		return -EINVAL;
	*to = json_is_null(value) ? "" : json_string_value(value);
	return 0;
}

static int take_time(const json_t *value, uint64_t *to)
{
	struct tm tm = {0};
	const char *end;

	*to = 0;
	if (json_is_null(value))
		return 0;
	if (!json_is_string(value))
		return -EINVAL;
	end = strptime(json_string_value(value), "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (!end || *end || tm.tm_year < 70)
		return -EINVAL;
	*to = (uint64_t)timegm(&tm);
	return 0;
}

static int take_bool(const json_t *value, bool *to)
{
	*to = json_is_true(value);
	return json_is_boolean(value) ? 0 : -EINVAL;
}

static int take(const json_t *value, enum nve_field_kind kind, void *to)
{
	switch (kind) {
	case NVE_FIELD_UINT:
	case NVE_FIELD_ERROR: return take_uint(value, to);
	case NVE_FIELD_INT: return take_int(value, to);
	case NVE_FIELD_BOOL: return take_bool(value, to);
	case NVE_FIELD_TEXT: return take_text(value, to);
	case NVE_FIELD_TIME: return take_time(value, to);
	case NVE_FIELD_PPM: return take_ppm(value, to);
	case NVE_FIELD_MILLI: return take_milli(value, to);
	}
	return -EINVAL;
}

int nve_fields_read(const struct json_t *object, const struct nve_field *rows, void *to,
		    const struct nve_field_place *place)
{
	for (; rows->path; rows++) {
		const json_t *value = nve_fields_find(object, rows->path);
		void *member = (char *)to + rows->offset;
		const char *wrong;

		/* what was zeroed stands for a value that is not there, but for texts */
		if (!value && rows->optional && rows->kind == NVE_FIELD_TEXT)
			*(const char **)member = "";
		if (!value && rows->optional)
			continue;
		if (value && !take(value, rows->kind, member))
			continue;
		wrong = value ? "not a value that reports have" : "missing";
		snprintf(place->why->text, sizeof(place->why->text),
			 "%s: no whole report: %s%s: %s", place->file, place->path, rows->path,
			 wrong);
		return value ? -EINVAL : -ENOENT;
	}
	return 0;
}
