#include "report/report.h"

#include "base/base.h"
#include "report/sections.h"
#include "report/utc.h"

/* Names of enum nve_stop, as reports show them. */
static const char *const stop_keys[NVE_STOP_COUNT] = {
	[NVE_STOP_LIMIT] = "limit",
	[NVE_STOP_SYSCALL] = "syscall",
	[NVE_STOP_UNMAPPED] = "unmapped",
	[NVE_STOP_UNKNOWN_BRANCH] = "unknown_branch",
	[NVE_STOP_UNKNOWN_ADDRESS] = "unknown_address",
	[NVE_STOP_UNSUPPORTED] = "unsupported",
	[NVE_STOP_TRAP] = "trap",
	[NVE_STOP_OVERLAY] = "overlay",
};

static void put_ps(struct nve_json *j, const char *key, uint64_t ps)
{
	nve_json_decimal(j, key, (int64_t)NVE_MIN(ps, (uint64_t)INT64_MAX), 3);
}

static void put_ppm(struct nve_json *j, const char *key, uint32_t ppm)
{
	nve_json_decimal(j, key, ppm, 6);
}

static void put_time(struct nve_json *j, const char *key, uint64_t seconds)
{
	char text[NVE_UTC_BYTES];

	if (!seconds) {
		nve_json_null(j, key);
		return;
	}
	nve_utc_format(seconds, text);
	nve_json_string(j, key, text);
}

static void write_program(struct nve_json *j, const struct nve_snapshot *s)
{
	nve_json_object(j, "program");
	nve_json_field(j, "name", s->program, sizeof(s->program));
	nve_json_decimal(j, "pid", s->pid, 0);
	nve_json_decimal(j, "ppid", s->ppid, 0);
	nve_json_field(j, "host", s->host, sizeof(s->host));
	put_time(j, "started_at", s->started_at_s);
	nve_json_uint(j, "wall_ns", s->wall_ns);
	nve_json_string(j, "ended_by", s->ended_by);
	nve_json_close(j);
}

static void write_machine(struct nve_json *j, const struct nve_snapshot *s)
{
	const struct nve_machine_snapshot *m = &s->machine;

	nve_json_object(j, "machine");
	nve_json_field(j, "cpu", m->cpu, sizeof(m->cpu));
	nve_json_uint(j, "tsc_khz", m->tsc_khz);
	put_ps(j, "dram_lat_ns", m->dram_lat_ps);
	nve_json_string(j, "dram_lat_origin",
			s->replay.file      ? "record"
			: m->dram_lat_given ? "NVM_DRAM_LAT"
					    : "measured");
	put_ps(j, "llc_lat_ns", m->llc_lat_ps);
	nve_json_string(j, "llc_lat_origin",
			m->llc_lat_given ? "NVM_LLC_LAT"
			: s->replay.file ? "record"
					 : "measured");
	nve_json_decimal(j, "w", m->w_milli, 3);
	nve_json_uint(j, "fence_cycles", m->fence_cycles);
	nve_json_uint(j, "threshold_cycles", m->threshold_cycles);
	nve_json_uint(j, "run_ahead_instructions", m->run_ahead_instructions);
	nve_report_machine_bandwidth(j, &m->bandwidth);
	nve_json_uint(j, "llc_bytes", m->llc_bytes);
	nve_json_bool(j, "huge_pages", m->huge_pages);
	put_time(j, "calibrated_at", m->calibrated_at_s);
	nve_json_close(j);
}

static void write_settings(struct nve_json *j, const struct nve_options *o)
{
	const struct nve_option_row *row;
	char value[NVE_PATH_BYTES];

	nve_json_object(j, "settings");
	for (size_t i = 0; (row = nve_options_row(i)); i++) {
		nve_options_format(o, i, value, sizeof(value));
		nve_json_field(j, row->name, value, sizeof(value));
	}
	nve_json_close(j);
}

/* How far the record, and the threads, were from one another. */
static void write_left(struct nve_json *j, const struct nve_totals *t)
{
	nve_json_uint(j, "left_epochs", t->replay_left_epochs);
	nve_json_uint(j, "left_cpu_ns", t->replay_left_ns);
	nve_json_uint(j, "beyond_cpu_ns", t->replay_beyond_ns);
}

static void write_replay(struct nve_json *j, const struct nve_snapshot *s)
{
	const struct nve_replay_snapshot *r = &s->replay;

	if (!r->file)
		return;
	nve_json_object(j, "replay");
	nve_json_string(j, "file", r->file);
	nve_json_string(j, "program", r->program);
	nve_json_string(j, "host", r->host);
	put_time(j, "started_at", r->started_at_s);
	nve_json_bool(j, "complete", r->complete);
	nve_json_uint(j, "threads", r->threads);
	nve_json_uint(j, "epochs", r->epochs);
	nve_json_uint(j, "cpu_ns", r->cpu_ns);
	write_left(j, &s->totals);
	nve_json_close(j);
}

static void write_model(struct nve_json *j, const struct nve_totals *t)
{
	nve_json_uint(j, "cpu_ns", t->cpu_ns);
	nve_json_uint(j, "stall_ns", t->stall_ns);
	nve_json_uint(j, "stall_wb_ns", t->stall_wb_ns);
	put_ppm(j, "stall_share", t->stall_share_ppm);
	put_ppm(j, "stall_share_se", t->stall_share_se_ppm);
	put_ppm(j, "dirty_fraction", t->dirty_ppm);
	put_ppm(j, "dirty_fraction_se", t->dirty_se_ppm);
	nve_json_uint(j, "ma_ro", t->ma_ro);
	nve_json_uint(j, "ma_wb", t->ma_wb);
	nve_json_uint(j, "clamps", t->clamps);
	nve_json_uint(j, "epochs", t->epochs);
	put_ps(j, "latency_ns", t->latency_ps);
	put_ps(j, "latency_se_ns", t->latency_se_ps);
	put_ps(j, "dram_lat_ns", t->dram_lat_ps);
	nve_json_uint(j, "delay_owed_ns", t->delay_owed_ns);
	nve_json_uint(j, "delay_paid_ns", t->delay_paid_ns);
	nve_json_uint(j, "delay_dropped_ns", t->delay_dropped_ns);
	nve_json_uint(j, "delay_handover_ns", t->delay_handover_ns);
	nve_json_uint(j, "handovers", t->handovers);
}

static void write_samples(struct nve_json *j, const struct nve_totals *t)
{
	nve_json_object(j, "samples");
	nve_json_uint(j, "taken", t->samples);
	nve_json_uint(j, "user", t->samples_user);
	nve_json_uint(j, "kernel", t->samples_kernel);
	nve_json_uint(j, "own", t->samples_own);
	nve_json_uint(j, "no_answer", t->samples_no_answer);
	nve_json_uint(j, "by_kind", t->samples_by_kind);
	nve_json_uint(j, "lost", t->samples_lost);
	nve_json_close(j);
}

/* Known for the process alone: whose is NULL for a thread. */
static void write_stop_names(struct nve_json *j, const struct nve_snapshot *whose)
{
	if (!whose)
		return;
	nve_json_array(j, "stop_instructions");
	for (size_t i = 0; i < NVE_ARRAY_SIZE(whose->stop_names); i++) {
		if (!whose->stop_names[i].name[0])
			continue;
		nve_json_object(j, NULL);
		nve_json_field(j, "name", whose->stop_names[i].name,
			       sizeof(whose->stop_names[i].name));
		nve_json_uint(j, "count", whose->stop_names[i].count);
		nve_json_close(j);
	}
	nve_json_close(j);
}

static void write_windows(struct nve_json *j, const struct nve_totals *t,
			  const struct nve_snapshot *whose)
{
	uint64_t mean_milli = 0;

	if (t->windows)
		mean_milli = (uint64_t)((unsigned __int128)t->window_steps * 1000 / t->windows);

	nve_json_object(j, "windows");
	nve_json_uint(j, "taken", t->windows);
	nve_json_uint(j, "steps", t->window_steps);
	nve_json_uint(j, "limits", t->window_limits);
	nve_json_uint(j, "syscall_steps", t->window_call_steps);
	nve_json_uint(j, "syscall_limits", t->window_call_limits);
	nve_json_decimal(j, "mean_steps", (int64_t)mean_milli, 3);
	nve_json_object(j, "stops");
	for (size_t i = 0; i < NVE_STOP_COUNT; i++)
		nve_json_uint(j, stop_keys[i], t->window_stops[i]);
	nve_json_close(j);
	write_stop_names(j, whose);
	nve_json_close(j);
}

/* running over enabled is one unless other groups had a share of the counters. */
static void write_counters(struct nve_json *j, const struct nve_pmu_sums *c)
{
	uint64_t ppm = 1000000;

	if (c->reads.enabled_ns)
		ppm = (uint64_t)((unsigned __int128)c->reads.running_ns * 1000000 /
				 c->reads.enabled_ns);
	nve_json_object(j, "counters");
	nve_json_uint(j, "epochs", c->epochs);
	nve_json_uint(j, "reads", c->reads.reads);
	nve_json_uint(j, "unread", c->reads.unread);
	put_ppm(j, "running_share", (uint32_t)NVE_MIN(ppm, UINT64_C(1000000)));
	nve_json_uint(j, "wraps", c->reads.wraps);
	nve_json_uint(j, "backwards", c->reads.backwards);
	nve_json_uint(j, "clamps", c->clamps);
	nve_json_uint(j, "looked_ns", c->looked_ns);
	nve_json_uint(j, "ahead_stall_ns", c->ahead_stall_ns);
	nve_json_uint(j, "ahead_stall_wb_ns", c->ahead_stall_wb_ns);
	nve_json_uint(j, "uncounted_threads", c->uncounted);
	nve_json_uint(j, "loads_sampled", c->loads.taken);
	nve_json_uint(j, "loads_elsewhere", c->loads.elsewhere);
	nve_json_uint(j, "loads_lost", c->loads.lost);
	nve_json_uint(j, "loads_throttled", c->loads.throttled);
	nve_json_uint(j, "loads_damaged", c->loads.damaged);
	nve_json_uint(j, "unsampled_threads", c->loads.refused);
	nve_json_close(j);
}

static void write_totals(struct nve_json *j, const struct nve_totals *t,
			 const struct nve_snapshot *whose)
{
	write_model(j, t);
	write_samples(j, t);
	write_windows(j, t, whose);
	nve_json_uint(j, "touches", t->touches);
	nve_json_uint(j, "misses", t->misses);
	nve_json_uint(j, "misses_written", t->misses_written);
	nve_json_uint(j, "faults", t->faults);
	nve_json_object(j, "cost");
	nve_json_uint(j, "handler_ns", t->handler_ns);
	nve_json_uint(j, "lookahead_ns", t->lookahead_ns);
	nve_json_uint(j, "saved_ns", t->saved_ns);
	nve_json_uint(j, "monitor_ns", t->monitor_ns);
	nve_json_close(j);
	nve_report_traffic(j, &t->traffic);
	write_counters(j, &t->counters);
}

/* Also in a replay of a run whose memory was placed. */
static void write_placed(struct nve_json *j, const struct nve_totals *t,
			 const struct nve_snapshot *s)
{
	const uint64_t *nvm = t->placed.nvm_ma;

	if (s->placement.on || nvm[NVE_PLACED_READ] != t->ma_ro ||
	    nvm[NVE_PLACED_WRITE] != t->ma_wb)
		nve_report_placed(j, &t->placed, t->ma_ro, t->ma_wb);
}

void nve_report_put_totals(struct nve_json *j, const struct nve_totals *t)
{
	write_totals(j, t, NULL);
}

static void write_threads(struct nve_json *j, const struct nve_snapshot *s)
{
	nve_json_uint(j, "threads_total", s->threads_total);
	nve_json_uint(j, "threads_not_listed", s->threads_not_listed);
	nve_json_uint(j, "threads_not_emulated", s->foreign_threads);
	nve_json_array(j, "threads");
	for (size_t i = 0; i < s->thread_count; i++) {
		const struct nve_thread_snapshot *t = &s->threads[i];

		nve_json_object(j, NULL);
		nve_json_decimal(j, "tid", t->tid, 0);
		nve_json_field(j, "name", t->name, sizeof(t->name));
		nve_json_bool(j, "alive", t->alive);
		if (s->replay.file)
			write_left(j, &t->totals);
		write_totals(j, &t->totals, NULL);
		write_placed(j, &t->totals, s);
		nve_report_thread_regions(j, &s->regions, &t->regions);
		nve_json_close(j);
	}
	nve_json_close(j);
}

int nve_report_write(const struct nve_snapshot *s, const struct nve_report_sink *sink)
{
	struct nve_json j;

	nve_json_start(&j, sink);
	nve_json_object(&j, NULL);
	nve_json_string(&j, "schema", NVE_REPORT_SCHEMA);
	nve_json_uint(&j, "version", NVE_REPORT_VERSION);
	write_program(&j, s);
	nve_json_string(&j, "emulated", s->emulated ? "yes" : "no");
	nve_json_field(&j, "why_not", s->why_not, s->emulated ? 0 : sizeof(s->why_not));
	write_machine(&j, s);
	write_settings(&j, &s->options);
	nve_report_sources(&j, s);
	write_replay(&j, s);
	nve_json_object(&j, "totals");
	write_totals(&j, &s->totals, s);
	write_placed(&j, &s->totals, s);
	nve_json_close(&j);
	nve_report_regions(&j, &s->regions);
	nve_report_placement(&j, &s->placement);
	nve_report_timeline(&j, &s->timeline);
	nve_report_heat(&j, &s->heat);
	write_threads(&j, s);
	nve_json_close(&j);
	return nve_json_finish(&j);
}
