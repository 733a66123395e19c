#include "count/assess.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/base.h"
#include "base/log.h"
#include "count/pmu/why.h"

enum {
	MANY_THREADS = 64, /* fewer timers left than this are soon used up */
	USUAL_TICK_NS = 4000000,
	PS_PER_NS = 1000,
};

/* Adds a finding; its mend is formatted by the second function. */
__attribute__((format(printf, 4, 5))) static struct nve_finding *find(struct nve_assessment *a,
								      const char *subject,
								      enum nve_severity severity,
								      const char *format, ...)
{
	struct nve_finding *finding = &a->findings[a->count++];
	va_list args;

	va_start(args, format);
	nve_vformat(finding->text, sizeof(finding->text), format, args);
	va_end(args);
	finding->subject = subject;
	finding->severity = severity;
	finding->mend[0] = '\0';
	a->severity = NVE_MAX(a->severity, severity);
	return finding;
}

static void mend(struct nve_finding *finding, const char *text)
{
	nve_format(finding->mend, sizeof(finding->mend), "%s", text);
}

static void assess_cpu(const struct nve_facts *f, struct nve_assessment *a)
{
	const struct nve_cpu_id *cpu = &f->cpu;
	const char *name = cpu->name[0] ? cpu->name : "a CPU without a name";

	if (!f->rows[0])
		find(a, "cpu", NVE_SEVERITY_NOTE,
		     "%s, family %u, model %u, stepping %u: no events are known for it", name,
		     cpu->family, cpu->model, cpu->stepping);
	else
		find(a, "cpu", NVE_SEVERITY_FINE, "%s, family %u, model %u, stepping %u: %s%s%s",
		     name, cpu->family, cpu->model, cpu->stepping, f->rows[0],
		     f->rows[1] ? "; " : "", f->rows[1] ? f->rows[1] : "");
	if (f->rows[0] && f->errata)
		find(a, "errata", NVE_SEVERITY_NOTE, "%s", f->errata);
}

static void assess_place(const struct nve_facts *f, struct nve_assessment *a)
{
	find(a, "kernel", NVE_SEVERITY_FINE, "%s", f->kernel);
	if (f->cpu.hypervisor)
		find(a, "virtual", NVE_SEVERITY_NOTE,
		     "a virtual machine: its neighbours change the latency of memory, and most "
		     "hosts "
		     "pass on no PMU");
	else
		find(a, "virtual", NVE_SEVERITY_FINE, "the CPU does not say that it is virtual");
	if (f->container[0])
		find(a, "container", NVE_SEVERITY_NOTE,
		     "%s hints at a container, whose filters may forbid system calls",
		     f->container);
}

static void assess_filters(const struct nve_facts *f, struct nve_assessment *a)
{
	if (f->seccomp)
		find(a, "filters", NVE_SEVERITY_NOTE,
		     "seccomp mode %u filters the system calls of this process%s", f->seccomp,
		     f->no_new_privileges ? ", which gains no rights by exec" : "");
	else
		find(a, "filters", NVE_SEVERITY_FINE, "no seccomp filter%s",
		     f->no_new_privileges ? "; no rights are gained by exec" : "");
}

/* What an error of perf_event_open means on this machine, and its mend. */
static void explain(const struct nve_facts *f, int error, struct nve_reason *reason)
{
	const struct nve_pmu_world world = {
		.paranoid = f->paranoid,
		.paranoid_known = f->paranoid_known,
		.hypervisor = f->cpu.hypervisor,
	};

	nve_pmu_why(-error, NVE_PMU_SCOPE_THREAD, &world, reason);
}

static void assess_perf(const struct nve_facts *f, struct nve_assessment *a)
{
	struct nve_reason reason;

	if (f->task_clock_error) {
		explain(f, f->task_clock_error, &reason);
		mend(find(a, "perf", NVE_SEVERITY_NOTE, "not even a software event opens%s: %s",
			  f->no_look_ahead ? "" : ", but look-ahead does without", reason.why),
		     reason.mend);
	} else if (f->paranoid_known) {
		find(a, "perf", NVE_SEVERITY_FINE,
		     "software events open; kernel.perf_event_paranoid is %d", f->paranoid);
	} else {
		find(a, "perf", NVE_SEVERITY_FINE,
		     "software events open; kernel.perf_event_paranoid cannot be read");
	}
	find(a, "pmus", NVE_SEVERITY_FINE, "%s", f->pmus[0] ? f->pmus : "none in sysfs");
	if (!f->events_tried)
		return;
	if (f->events_open == f->events_tried) {
		find(a, "events", NVE_SEVERITY_FINE, "all %u of this CPU open", f->events_tried);
		return;
	}
	explain(f, f->events_error, &reason);
	mend(find(a, "events", NVE_SEVERITY_NOTE,
		  "%u of %u of this CPU open; the first refusal: %s", f->events_open,
		  f->events_tried, reason.why),
	     reason.mend);
}

static const char *mend_of_timer(const struct nve_facts *f)
{
	return f->timer_error == EAGAIN ? "raise the limit of pending signals (ulimit -i)"
					: "let the container's filter allow timer_create";
}

/* Events stand in for timers, where there is a monitor to hold them. */
static bool has_ticks(const struct nve_facts *f)
{
	return !f->timer_error ||
	       (!f->task_clock_error && !f->monitor_error && !f->own_files_error);
}

static void assess_timer(const struct nve_facts *f, struct nve_assessment *a)
{
	struct nve_finding *finding;

	if (f->timer_error) {
		finding = find(a, "timers",
			       has_ticks(f) ? NVE_SEVERITY_DEGRADED : NVE_SEVERITY_IMPOSSIBLE,
			       "no CPU-time timer to be had: %s%s", strerror(f->timer_error),
			       has_ticks(f) ? "; software events of the kernel do instead" : "");
		mend(finding, mend_of_timer(f));
		return;
	}
	if (f->tick_ns > USUAL_TICK_NS)
		finding =
			find(a, "timers", NVE_SEVERITY_NOTE,
			     "CPU-time timers work; the kernel's tick of %u ms makes samples rarer "
			     "than usual",
			     (unsigned)(f->tick_ns / 1000000));
	else
		finding = find(a, "timers", NVE_SEVERITY_FINE, "CPU-time timers work, every %u ms",
			       (unsigned)(f->tick_ns / 1000000));
	if (f->tick_ns > USUAL_TICK_NS)
		mend(finding, "a kernel with CONFIG_HZ=250 or 1000");
}

/* Each thread's timer takes one slot of the user's. */
static void assess_pending(const struct nve_facts *f, struct nve_assessment *a)
{
	int64_t left = f->pending_limit - f->pending_used;

	if (f->timer_error)
		return;
	if (f->pending_limit == NVE_PENDING_UNLIMITED)
		find(a, "pending signals", NVE_SEVERITY_FINE, "no limit");
	else if (left >= MANY_THREADS)
		find(a, "pending signals", NVE_SEVERITY_FINE, "%lld of %lld in use, one per thread",
		     (long long)f->pending_used, (long long)f->pending_limit);
	else
		mend(find(a, "pending signals", NVE_SEVERITY_DEGRADED,
			  "%lld of %lld in use: for threads beyond the limit software events "
			  "do instead, or they run natively",
			  (long long)f->pending_used, (long long)f->pending_limit),
		     "raise the limit of pending signals (ulimit -i)");
}

static bool has_source(const char *source)
{
	return source && strcmp(source, "none") != 0;
}

static void assess_look_ahead(const struct nve_facts *f, struct nve_assessment *a)
{
	if (f->no_look_ahead && !f->counts_stalls)
		find(a, "look-ahead", NVE_SEVERITY_IMPOSSIBLE, "nothing counts here: %s",
		     f->counters_why[0] ? f->counters_why : f->no_look_ahead);
	else if (f->no_look_ahead && !has_source(f->sources.of[NVE_QUANTITY_DIRTY].name))
		mend(find(a, "look-ahead", NVE_SEVERITY_DEGRADED,
			  "%s, and nothing else tells the dirty fraction: all misses count as "
			  "read-only",
			  f->no_look_ahead),
		     "let the socket's events be counted (why not stands below)");
	else if (f->no_look_ahead)
		find(a, "look-ahead", NVE_SEVERITY_NOTE, "%s", f->no_look_ahead);
	else if (f->maps_error)
		mend(find(a, "look-ahead", NVE_SEVERITY_DEGRADED,
			  "/proc/self/maps cannot be read (%s): windows end at once",
			  strerror(f->maps_error)),
		     "mount /proc");
	else if (f->resident_error)
		mend(find(a, "look-ahead", NVE_SEVERITY_DEGRADED,
			  "mincore fails (%s): windows end at memory that they have not seen",
			  strerror(f->resident_error)),
		     "let the container's filter allow mincore");
	else if (f->executable_error)
		mend(find(a, "look-ahead", NVE_SEVERITY_DEGRADED,
			  "no executable memory (%s): vector and floating-point results stay "
			  "unknown, and windows end there",
			  strerror(f->executable_error)),
		     "allow memory that is writable and executable");
	else if (f->ask_error)
		find(a, "look-ahead", NVE_SEVERITY_NOTE,
		     "works; move_pages fails (%s): new mappings are known a little later",
		     strerror(f->ask_error));
	else
		find(a, "look-ahead", NVE_SEVERITY_FINE, "all that it needs is there");
}

static void assess_monitor(const struct nve_facts *f, struct nve_assessment *a)
{
	if (f->monitor_error)
		mend(find(a, "monitors", NVE_SEVERITY_DEGRADED,
			  "no threads of our own (%s): the program's threads do the work",
			  strerror(f->monitor_error)),
		     "raise the limit of processes (ulimit -u) or the control group's pids.max");
	else if (f->own_files_error)
		find(a, "monitors", NVE_SEVERITY_NOTE,
		     "threads work; without a file table of their own (%s) their files are among "
		     "the program's",
		     strerror(f->own_files_error));
	else
		find(a, "monitors", NVE_SEVERITY_FINE, "threads with a file table of their own");
}

static void assess_cores(const struct nve_facts *f, struct nve_assessment *a)
{
	char quota[64] = "";

	if (f->quota_milli)
		nve_format(quota, sizeof(quota), ", CPU time for %u.%02u of them",
			   (unsigned)(f->quota_milli / 1000),
			   (unsigned)(f->quota_milli % 1000 / 10));
	if (f->quota_milli && f->quota_milli < 1000)
		mend(find(a, "cores", NVE_SEVERITY_NOTE,
			  "%u online, %u for this process%s: it is stopped now and then, which "
			  "elapsed time shows and CPU time does not",
			  f->cores_online, f->cores_allowed, quota),
		     "compare CPU times, or raise the control group's cpu.max");
	else if (f->cores_allowed == 1)
		find(a, "cores", NVE_SEVERITY_NOTE,
		     "%u online, 1 for this process%s: monitors share it with the program",
		     f->cores_online, quota);
	else
		find(a, "cores", NVE_SEVERITY_FINE, "%u online, %u for this process%s",
		     f->cores_online, f->cores_allowed, quota);
}

static void assess_calibration(const struct nve_facts *f, struct nve_assessment *a)
{
	const struct nve_calibration *c = &f->calibration;

	if (f->calibration_error) {
		mend(find(a, "calibration", NVE_SEVERITY_IMPOSSIBLE,
			  "this machine's memory could not be measured: %s",
			  f->calibration_error == ERANGE
				  ? "the readings make no sense, it is too busy"
				  : strerror(f->calibration_error)),
		     "nvmemu calibrate in a quiet moment, with 128 MiB to spare");
		return;
	}
	find(a, "calibration", NVE_SEVERITY_FINE, "DRAM %u.%u ns, last-level cache %u.%u ns, %s %s",
	     c->dram_lat_ps / PS_PER_NS, c->dram_lat_ps % PS_PER_NS / 100,
	     c->llc_lat_ps / PS_PER_NS, c->llc_lat_ps % PS_PER_NS / 100,
	     f->calibration_fresh ? "measured just now," : "kept since", f->calibrated_at);
	if (f->keep_error)
		mend(find(a, "calibration", NVE_SEVERITY_DEGRADED,
			  "it cannot be kept%s%s (%s): each program measures again, for 0.1 s",
			  f->kept_in[0] ? " in " : "", f->kept_in, strerror(f->keep_error)),
		     "set XDG_CACHE_HOME to a directory of yours");
}

static void assess_pages(const struct nve_facts *f, struct nve_assessment *a)
{
	bool none = !f->huge_pages[0] || !strcmp(f->huge_pages, "never");

	if (f->calibration_error || f->calibration.huge_pages)
		find(a, "huge pages", NVE_SEVERITY_FINE, "transparent ones: %s",
		     none ? "none" : f->huge_pages);
	else
		mend(find(a, "huge pages", NVE_SEVERITY_NOTE,
			  "transparent ones: %s; the calibration had none, so its latencies hold "
			  "page walks",
			  none ? "none" : f->huge_pages),
		     none ? "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
			  : "nvmemu calibrate when there is more free memory");
}

static void assess_clock(const struct nve_facts *f, struct nve_assessment *a)
{
	if (!f->governor[0])
		find(a, "frequency", NVE_SEVERITY_NOTE,
		     "its governor is not to be seen: the clock may follow the load");
	else if (strcmp(f->governor, "performance"))
		mend(find(a, "frequency", NVE_SEVERITY_NOTE,
			  "governor %s: the clock follows the load, and with it the latencies",
			  f->governor),
		     "cpupower frequency-set -g performance");
	else
		find(a, "frequency", NVE_SEVERITY_FINE, "governor performance");
	if (!f->smt_known)
		find(a, "smt", NVE_SEVERITY_NOTE, "not told whether threads share cores");
	else if (f->smt)
		mend(find(a, "smt", NVE_SEVERITY_NOTE,
			  "on: a busy sibling takes part of a core's time and cache"),
		     "leave siblings idle (taskset), or echo off > "
		     "/sys/devices/system/cpu/smt/control");
	else
		find(a, "smt", NVE_SEVERITY_FINE, "off");
}

static void assess_settings(const struct nve_facts *f, struct nve_assessment *a)
{
	if (f->setting_problem[0])
		find(a, "settings", NVE_SEVERITY_IMPOSSIBLE, "%s", f->setting_problem);
	else if (f->counters_demanded && !f->counts_stalls && !f->calibration_error)
		mend(find(a, "settings", NVE_SEVERITY_IMPOSSIBLE, "NVM_COUNTERS=pmu: %s",
			  f->counters_why),
		     "NVM_COUNTERS=auto takes look-ahead where there are none");
}

static const char *injection(const struct nve_facts *f)
{
	if (!f->delays)
		return "none, a dry run";
	return f->sleeps ? "sleeping at the thread's ticks, spinning for the rest"
			 : "spinning at the thread's ticks";
}

static void choose_sources(const struct nve_facts *f, struct nve_assessment *a)
{
	struct nve_choice *samples = &a->choices[NVE_QUANTITIES], *delay = samples + 1;

	for (int q = 0; q < NVE_QUANTITIES; q++) {
		a->choices[q] = (struct nve_choice){nve_quantity_label((enum nve_quantity)q),
						    f->sources.of[q]};
		if (!f->sources.of[q].name)
			nve_source_set(&a->choices[q].source, "none", "");
	}
	samples->quantity = "time samples";
	nve_source_set(&samples->source,
		       !has_ticks(f)    ? "none"
		       : f->timer_error ? "software events of the kernel, on each thread's CPU time"
					: "the kernel's tick, by timers on each thread's CPU time",
		       "");
	if (f->timer_error)
		nve_reason_set(&samples->source.no_better, strerror(f->timer_error),
			       mend_of_timer(f));
	delay->quantity = "delay";
	nve_source_set(&delay->source, has_ticks(f) ? injection(f) : "none", "");
}

void nve_assess(const struct nve_facts *facts, struct nve_assessment *assessment)
{
	void (*const parts[])(const struct nve_facts *, struct nve_assessment *) = {
		assess_cpu,     assess_place,   assess_filters,    assess_perf,  assess_timer,
		assess_pending, assess_monitor, assess_look_ahead, assess_cores, assess_calibration,
		assess_pages,   assess_clock,   assess_settings,
	};

	assessment->severity = NVE_SEVERITY_FINE;
	assessment->count = 0;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(parts); i++)
		parts[i](facts, assessment);
	choose_sources(facts, assessment);
}

const char *nve_severity_name(enum nve_severity severity)
{
	static const char *const names[] = {"fine", "note", "degraded", "impossible"};

	return names[severity];
}
