#include "runtime.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/options.h"
#include "base/sigmask.h"
#include "calibrated.h"
#include "collect.h"
#include "counters.h"
#include "count/ahead/ahead.h"
#include "count/pmu/pmu.h"
#include "count/replay.h"
#include "emu/guard.h"
#include "emu/handover.h"
#include "emu/inject.h"
#include "emu/recorder.h"
#include "heat.h"
#include "life.h"
#include "lineage.h"
#include "markers.h"
#include "outputs.h"
#include "placing.h"
#include "presets.h"
#include "programs.h"
#include "recording.h"
#include "report/snapshot.h"
#include "traffic.h"

enum {
	EXIT_IMPOSSIBLE = 125,
	TSC_NS = 2000000,
};

static struct {
	struct nve_runtime_host host;
	struct nve_options options;
	struct nve_calibration cal;
	struct nve_calstore store;
	char cpu[64];
	_Atomic bool stopped;
	_Atomic bool filtered; /* system calls of ours may be this process's death */
	bool emulates, root;
	/* under the registry's lock */
	bool forking;
	sigset_t fork_mask; /* of the thread that forks */
	int pid;
	uint64_t started_ns, started_at_s;
	char why_not[400], cwd[NVE_PATH_BYTES];
	char exec_report[NVE_FILE_PATH_BYTES]; /* empty: none was written */
	struct nve_replay replay;
	bool tells_native; /* at the end: not the program that was recorded */
	bool forked;       /* since the program was executed: a record knows nothing of that */
	_Atomic uint64_t threads_made; /* the main thread is number 0 */
	struct nve_snapshot snapshot;
} state;

static void end_process(const char *text)
{
	atomic_store(&state.stopped, true);
	nve_log(NVE_LOG_ERROR, "%s", text);
	syscall(SYS_exit_group, EXIT_IMPOSSIBLE);
}

static void read_options(void)
{
	struct nve_options_message error, warning;
	int rc = nve_options_parse(&state.options, state.host.envp, &error, &warning);

	if (rc)
		end_process(error.text);
	nve_log_setup((enum nve_log_level)state.options.log_level, state.options.log_file);
	if (warning.text[0] && nve_lineage_is_root())
		nve_log(NVE_LOG_WARN, "%s", warning.text);
	if (nve_presets_load(&state.options, state.host.envp, &error))
		end_process(error.text);
}

static void load_placement(void)
{
	struct nve_options_message error;

	if (nve_placing_load(&state.options, state.host.load_dw, &error))
		end_process(error.text);
}

static void tell_missing(const char *what, int rc)
{
	nve_format(state.why_not, sizeof(state.why_not), "no %s to be had: %s%s", what,
		   strerror(-rc),
		   rc == -EAGAIN ? "; raise the limit of pending signals (ulimit -i)" : "");
}

static bool replays(void)
{
	return state.options.counters == NVE_COUNTERS_REPLAY;
}

/* A forked child is no part of the record. */
static struct nve_replay *record(void)
{
	return replays() && !state.forked ? &state.replay : NULL;
}

/* The DRAM latency in force: of a record, set, or measured. */
static uint64_t dram_lat_ps(void)
{
	if (replays())
		return state.replay.header.dram_lat_ps;
	return state.options.dram_lat_ps ? state.options.dram_lat_ps : state.cal.dram_lat_ps;
}

static uint64_t llc_lat_ps(void)
{
	if (state.options.llc_lat_ps)
		return state.options.llc_lat_ps;
	return replays() ? state.replay.header.llc_lat_ps : state.cal.llc_lat_ps;
}

static void check_latency(void)
{
	struct nve_options_message error;

	if (nve_presets_apply(&state.options, dram_lat_ps(), &error) ||
	    nve_options_check_latency(&state.options, dram_lat_ps(), &error))
		end_process(error.text);
}

static int calibrate(void)
{
	int rc = nve_calibrated_load(&state.cal, state.host.envp);

	if (rc)
		nve_format(state.why_not, sizeof(state.why_not),
			   "calibration failed (%s): the core was taken away all the time, or "
			   "there is no memory for it",
			   strerror(-rc));
	else
		check_latency();
	return rc;
}

/* The clocks' ratio is all that is needed of this machine. */
static int start_replay(void)
{
	state.cal.tsc_khz = nve_clock_tsc_khz(TSC_NS);
	check_latency();
	nve_traffic_replay(&state.options);
	return 0;
}

/* Where the quantities come from: before calibration only whether they come from anywhere. Wrong
 * events are an error like any bad value. */
static int choose_counters(bool calibrated)
{
	const struct nve_counters_world world = {
		.options = &state.options,
		.store = nve_calibrated_store(state.host.envp),
		.dram_lat_ps = dram_lat_ps(),
		.llc_lat_ps = llc_lat_ps(),
		.load_pfm = state.host.load_pfm,
		.no_ahead = nve_ahead_why_not(),
	};
	char why[NVE_SOURCE_WHY_BYTES + NVE_SOURCE_MEND_BYTES];
	int rc = calibrated ? nve_counters_start(&world, &state.cal, &state.snapshot.sources, why,
						 sizeof(why))
			    : nve_counters_check(&world, why, sizeof(why));

	if (rc == -EINVAL)
		end_process(why);
	if (rc)
		nve_format(state.why_not, sizeof(state.why_not), "%s", why);
	return rc;
}

static int start_traffic(void)
{
	int rc =
		nve_traffic_start(&state.options, &state.cal, nve_calibrated_store(state.host.envp),
				  state.why_not, sizeof(state.why_not));

	if (rc == -ERANGE)
		end_process(state.why_not);
	return rc;
}

static int start_counting(void)
{
	int rc = choose_counters(false);

	if (!rc)
		rc = calibrate();
	if (!rc)
		rc = choose_counters(true);
	if (rc)
		return rc;
	rc = nve_ahead_setup(&state.cal, state.options.dram_lat_ps,
			     nve_options_budget_ppm(&state.options, dram_lat_ps()),
			     state.host.library_start, state.host.library_end);
	nve_placing_begin();
	if (rc)
		tell_missing("look-ahead", rc);
	return rc ? rc : start_traffic();
}

static int start_injection(void)
{
	struct nve_inject_config config = {
		.epoch_ns = state.options.epoch_ns,
		.mode = state.options.inject,
		.tsc_khz = state.cal.tsc_khz,
		.sigaction = state.host.sigaction,
		.replay = replays() ? &state.replay : NULL,
		.tiers = nve_placing_process(),
		.usual = nve_placing_default(),
	};
	int rc = nve_inject_setup(&config);

	if (rc)
		return rc;
	state.cal.signal_ns = nve_inject_measure_signal();
	nve_inject_set_signal_cost(state.cal.signal_ns);
	nve_handover_setup(&state.options, state.cal.tsc_khz);
	nve_markers_setup(state.options.regions == NVE_REGIONS_ONLY, state.cal.tsc_khz);
	if (replays())
		nve_markers_replay(&state.replay);
	return 0;
}

static void start_record(void)
{
	struct nve_record_header header = {
		.pid = (uint64_t)state.pid,
		.started_at_s = state.started_at_s,
		.source = replays()                ? NVE_RECORD_REPLAY
			  : *nve_counters_events() ? NVE_RECORD_COUNTERS
						   : NVE_RECORD_AHEAD,
		.dram_lat_ps = dram_lat_ps(),
		.llc_lat_ps = llc_lat_ps(),
		.tsc_khz = state.cal.tsc_khz,
	};

	if (!state.options.record[0])
		return;
	nve_format(header.program, sizeof(header.program), "%s", state.snapshot.program);
	memcpy(header.host, state.snapshot.host, sizeof(header.host));
	memcpy(header.cpu, state.cpu, sizeof(header.cpu));
	nve_recording_start(nve_outputs_record(), &header, &state.options, state.started_ns,
			    state.root);
}

static int start_emulation(void)
{
	struct nve_model_target target;
	const char *what = "signal handler";
	int rc = state.host.obstacle ? -ENOTSUP : replays() ? start_replay() : start_counting();

	if (state.host.obstacle)
		nve_format(state.why_not, sizeof(state.why_not), "%s", state.host.obstacle);
	if (rc)
		return rc;
	rc = start_injection();
	if (!rc) {
		nve_collect_setup(state.options.inject != NVE_INJECT_OFF, state.started_ns);
		nve_thread_on_end = nve_collect_ended;
		nve_heat_begin(&state.options);
		target = (struct nve_model_target){
			.rlat_ps = state.options.rlat_ps,
			.wlat_ps = state.options.wlat_ps,
			.own_ps = dram_lat_ps(),
			.symmetric = state.options.model == NVE_MODEL_SYMMETRIC,
		};
		nve_monitor_setup(&target, state.host.thread_create);
		what = "CPU-time timer";
		start_record();
		rc = nve_life_begin(0, record());
	}
	if (rc)
		tell_missing(what, rc);
	return rc;
}

static void name_files(void)
{
	const struct nve_outfile_words words = {
		.pid = state.pid,
		.root = state.root,
		.program = state.snapshot.program,
		.host = state.snapshot.host,
		.started_at_s = state.started_at_s,
		.cwd = state.cwd,
	};

	nve_outputs_name(&state.options, &words);
}

static void remember_process(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	state.pid = getpid();
	state.started_ns = nve_clock_ns(CLOCK_MONOTONIC);
	state.started_at_s = (uint64_t)now.tv_sec;
}

/* With nothing to replay, yes; with a record of another program, no: that runs natively. */
static bool is_recorded_program(void)
{
	struct nve_options_message error;

	if (!replays())
		return true;
	if (nve_recording_load(&state.replay, state.options.replay, state.cwd, &error))
		end_process(error.text);
	if (nve_recording_is_of(&state.replay, state.snapshot.program))
		return true;
	nve_format(state.why_not, sizeof(state.why_not), "the record is of another program, %s",
		   state.replay.header.program);
	/* What only executes that program says nothing: it never comes to its end. */
	state.tells_native = nve_lineage_is_root();
	return false;
}

/* From here to after_fork_* no signal comes between: none of ours delays the fork. */
static void before_fork(void)
{
	sigset_t all, mask;

	if (atomic_load(&state.stopped))
		return;
	nve_sigmask_fill(&all);
	nve_sigmask(SIG_BLOCK, &all, &mask);
	nve_handover_company();
	nve_thread_before_fork();
	state.fork_mask = mask;
	state.forking = true;
}

static void after_fork_parent(void)
{
	sigset_t mask = state.fork_mask;

	if (!state.forking)
		return;
	state.forking = false;
	nve_thread_after_fork(false);
	nve_sigmask(SIG_SETMASK, &mask, NULL);
}

/* NVM_FOLLOW=off: nothing of ours is left in it. It keeps its parent's state.pid. */
static void leave_child(void)
{
	atomic_store(&state.stopped, true);
	state.emulates = false;
	nve_action_withdraw(true);
	if (nve_action_blocked)
		sigaddset(&state.fork_mask, NVE_INJECT_SIGNAL);
}

static void begin_child(void)
{
	bool emulated = nve_thread_self != NULL;

	nve_handover_end();
	nve_guard_after_fork();
	nve_markers_before_child();
	nve_thread_after_fork(true);
	nve_life_after_fork();
	if (!state.options.follow) {
		leave_child();
		return;
	}
	nve_ahead_after_fork();
	nve_pmu_after_fork();
	state.root = false;
	state.forked = true;
	atomic_store(&state.threads_made, 0);
	remember_process();
	nve_collect_after_fork(state.started_ns);
	name_files();
	nve_recorder_after_fork();
	if (emulated)
		start_record();
	if (emulated && nve_life_begin(0, record()))
		nve_log(NVE_LOG_INFO, "forked child is not emulated: no timer");
}

static void after_fork_child(void)
{
	if (!state.forking)
		return;
	state.forking = false;
	begin_child();
	nve_sigmask(SIG_SETMASK, &state.fork_mask, NULL);
}

char *const *nve_runtime_environment(char *const envp[], const char *path, bool child,
				     struct nve_carry_room *room)
{
	return nve_programs_environment(
		envp, path, !state.options.follow && (child || getpid() != state.pid), room);
}

static void tell_impossible(void)
{
	if (state.options.strict)
		end_process(state.why_not);
	if (nve_lineage_is_root())
		nve_log(NVE_LOG_WARN, "runs natively: %s", state.why_not);
}

void nve_runtime_start(const struct nve_runtime_host *host)
{
	state.host = *host;
	remember_process();
	/* Kept: a program that shows its state in its arguments writes over them. */
	nve_format(state.snapshot.program, sizeof(state.snapshot.program), "%s",
		   program_invocation_short_name ? program_invocation_short_name : "?");
	read_options();
	load_placement();
	if (state.options.heat || nve_placing_on())
		nve_allocation_start(&state.options, &host->allocation);
	if (!nve_options_measure(&state.options) && !nve_options_bind(&state.options)) {
		atomic_store(&state.stopped, true);
		return;
	}
	state.root = (!state.options.out[0] && !state.options.record[0] && state.options.follow) ||
		     nve_lineage_is_root();
	if (!state.options.follow && !state.root) {
		atomic_store(&state.stopped, true);
		return;
	}
	gethostname(state.snapshot.host, sizeof(state.snapshot.host) - 1);
	if (!getcwd(state.cwd, sizeof(state.cwd)))
		state.cwd[0] = '\0';
	nve_programs_setup(state.host.library, state.cwd, state.host.envp, state.options.follow);
	nve_calibrated_cpu(state.cpu, state.host.envp);
	name_files();
	if (!is_recorded_program())
		return;
	if (!nve_options_measure(&state.options)) {
		nve_placing_tell_bound(state.why_not, sizeof(state.why_not));
		return;
	}
	state.emulates = start_emulation() == 0;
	if (!state.emulates)
		tell_impossible();
	if (state.emulates)
		pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

bool nve_runtime_emulates(void)
{
	return state.emulates;
}

bool nve_runtime_follows_threads(void)
{
	return state.emulates && !atomic_load(&state.stopped);
}

bool nve_runtime_hides_signals(void)
{
	return state.emulates && !atomic_load(&state.filtered) && getpid() == state.pid;
}

/* False in a child by a raw clone: it may share our memory, and has none of our threads. */
static bool is_own_process(void)
{
	return getpid() == state.pid;
}

uint64_t nve_runtime_before_thread(void)
{
	if (is_own_process())
		nve_life_before_thread();
	return atomic_fetch_add(&state.threads_made, 1) + 1;
}

void nve_runtime_thread_begin(uint64_t number)
{
	int rc = is_own_process() ? nve_life_begin(number, record()) : 0;

	if (rc)
		nve_log(NVE_LOG_INFO, "thread is not emulated: %s", strerror(-rc));
}

void nve_runtime_thread_end(void)
{
	struct nve_thread *t = nve_thread_self;

	if (t && !atomic_load(&state.filtered))
		nve_life_end(t);
}

void nve_runtime_alone(bool enter)
{
	if (nve_thread_self && nve_runtime_follows_threads() && is_own_process())
		nve_life_alone(enter);
}

static void fill_snapshot(struct nve_snapshot *s, const char *ended_by)
{
	s->ended_by = ended_by;
	s->pid = state.pid;
	s->ppid = getppid();
	s->started_at_s = state.started_at_s;
	s->wall_ns = nve_clock_ns(CLOCK_MONOTONIC) - state.started_ns;
	s->emulated = state.emulates;
	memcpy(s->why_not, state.why_not, sizeof(s->why_not));
	if (!state.emulates || replays())
		nve_counters_tell_all(&s->sources, state.emulates ? "replay" : "none");
	s->counter_events = nve_counters_events();
	nve_traffic_tell(&s->sources.of[NVE_QUANTITY_TRAFFIC]);
	s->timer_source = state.emulates ? nve_tick_source() : "none";
	s->options = state.options;
	memcpy(s->machine.cpu, state.cpu, sizeof(s->machine.cpu));
	nve_calibrated_fill(&state.cal, &state.options, dram_lat_ps(), llc_lat_ps(), &s->machine);
	nve_collect_fill(s);
	nve_placing_fill(&s->placement, &state.options);
	if (replays())
		nve_recording_fill_replay(&state.replay, state.options.replay, s);
}

/* Short of a sample there is nothing to tell: a child between fork and exec, say. */
void nve_runtime_before_exec(void)
{
	if (!nve_runtime_follows_threads() || !is_own_process() || !nve_collect_any())
		return;
	if (nve_thread_self)
		nve_life_settle(nve_thread_self);
	if (!state.options.out[0])
		return;
	fill_snapshot(&state.snapshot, "exec");
	/* The name itself is for the program that this process becomes. */
	nve_outputs_report(&state.snapshot, ".exec", state.root, state.exec_report);
}

void nve_runtime_exec_failed(void)
{
	if (!is_own_process())
		return;
	if (nve_thread_self)
		nve_life_go_on(nve_thread_self);
	if (state.exec_report[0])
		unlink(state.exec_report);
	state.exec_report[0] = '\0';
}

static void stop(const char *ended_by)
{
	static char path[NVE_FILE_PATH_BYTES];

	if (atomic_load(&state.stopped) || !is_own_process() ||
	    atomic_exchange(&state.stopped, true))
		return;
	if (nve_thread_self) {
		nve_life_close(nve_thread_self);
		nve_recording_thread_end(nve_thread_self);
	}
	if (state.tells_native)
		nve_log(NVE_LOG_WARN, "%s ran natively: %s", state.snapshot.program, state.why_not);
	if (!state.options.out[0] && !state.options.record[0])
		return;
	fill_snapshot(&state.snapshot, ended_by);
	nve_recording_end(&state.snapshot);
	if (state.options.out[0])
		nve_outputs_report(&state.snapshot, NULL, state.root, path);
}

void nve_runtime_before_filter(void)
{
	if (atomic_load(&state.stopped) || getpid() != state.pid)
		return;
	stop("system-call filter");
	atomic_store(&state.filtered, true);
	nve_handover_off();
	nve_markers_off();
	nve_life_silence();
}

void nve_runtime_stop(void)
{
	stop("exit");
}
