/* What made-up machines mean for emulation: each lack has its severity, its word and its mend. */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "count/assess.h"

static struct nve_assessment assessment;

/* A machine that lacks nothing. */
static struct nve_facts good(void)
{
	return (struct nve_facts){
		.cpu = {.vendor = NVE_CPU_INTEL, .family = 6, .model = 143, .name = "Xeon"},
		.rows = {"Sapphire Rapids"},
		.kernel = "Linux 6.1 x86_64",
		.paranoid_known = true,
		.pmus = "cpu software",
		.events_tried = 7,
		.events_open = 7,
		.tick_ns = 4000000,
		.pending_limit = 10000,
		.pending_used = 3,
		.cores_online = 8,
		.cores_allowed = 8,
		.huge_pages = "madvise",
		.calibrated_at = "2026-11-30T13:14:15Z",
		.kept_in = "/home/u/.cache/nvmemu/calibration",
		.calibration = {.dram_lat_ps = 122540, .llc_lat_ps = 18000, .huge_pages = true},
		.governor = "performance",
		.smt_known = true,
		.sources = {.of = {[NVE_QUANTITY_STALL] = {.name = "hardware counters",
							   .how = "one group"},
				   [NVE_QUANTITY_DIRTY] = {.name = "socket-wide counters"},
				   [NVE_QUANTITY_ADDRESSES] = {.name = "look-ahead"}}},
		.counts_stalls = true,
		.delays = true,
	};
}

static const struct nve_finding *finding(const char *subject)
{
	const struct nve_finding *found = NULL;

	for (size_t i = 0; i < assessment.count; i++)
		if (!strcmp(assessment.findings[i].subject, subject))
			found = &assessment.findings[i];
	if (!found)
		fail_msg("nothing is said of %s", subject);
	return found;
}

static void expect(const struct nve_facts *facts, const char *subject, enum nve_severity severity,
		   const char *word, const char *mend)
{
	const struct nve_finding *f;

	nve_assess(facts, &assessment);
	f = finding(subject);
	if (f->severity != severity || !strstr(f->text, word) || !strstr(f->mend, mend) ||
	    (!*mend && *f->mend))
		fail_msg("%s: %s: %s; %s", subject, nve_severity_name(f->severity), f->text,
			 f->mend);
	assert_int_equal(assessment.severity, severity);
}

static void test_good(void **state)
{
	struct nve_facts f = good();

	(void)state;
	nve_assess(&f, &assessment);
	assert_int_equal(assessment.severity, NVE_SEVERITY_FINE);
	for (size_t i = 0; i < assessment.count; i++) {
		assert_int_equal(assessment.findings[i].severity, NVE_SEVERITY_FINE);
		assert_true(*assessment.findings[i].text && !*assessment.findings[i].mend);
	}
	assert_non_null(strstr(finding("cpu")->text, "Xeon, family 6, model 143, stepping 0: "
						     "Sapphire Rapids"));
	assert_non_null(strstr(finding("calibration")->text,
			       "DRAM 122.5 ns, last-level cache 18.0 ns, kept since 2026-11-30"));
	assert_string_equal(assessment.choices[0].quantity, "stall time");
	assert_string_equal(assessment.choices[0].source.name, "hardware counters");
	assert_string_equal(assessment.choices[0].source.no_better.why, "");
	assert_string_equal(assessment.choices[1].source.name, "socket-wide counters");
	assert_string_equal(assessment.choices[NVE_QUANTITIES + 1].source.name,
			    "spinning at the thread's ticks");
}

/* What is a note only: emulation is possible, and nothing is missing that could be there. */
static void test_notes(void **state)
{
	struct nve_facts f;

	(void)state;
#define NOTE(change, subject, word, mend)                                                          \
	do {                                                                                       \
		f = good();                                                                        \
		change;                                                                            \
		expect(&f, subject, NVE_SEVERITY_NOTE, word, mend);                                \
	} while (0)
	NOTE(f.rows[0] = NULL, "cpu", "no events are known", "");
	NOTE(f.errata = "HSD29", "errata", "HSD29", "");
	NOTE(f.cpu.hypervisor = true, "virtual", "virtual machine", "");
	NOTE(strcpy(f.container, "/.dockerenv"), "container", "/.dockerenv", "");
	NOTE(f.seccomp = 2, "filters", "mode 2", "");
	NOTE(f.task_clock_error = ENOSYS, "perf", "does without: the kernel is built without",
	     "allow perf_event_open");
	NOTE((f.task_clock_error = EPERM, f.paranoid = 3), "perf", "perf_event_paranoid is 3",
	     "sysctl kernel.perf_event_paranoid=2");
	NOTE((f.task_clock_error = EPERM, f.paranoid = 2), "perf", "filter", "container's profile");
	NOTE((f.events_open = 0, f.events_error = ENOENT), "events",
	     "0 of 7 of this CPU open; the first refusal: the kernel has no driver",
	     "newer kernel");
	NOTE(f.tick_ns = 10000000, "timers", "tick of 10 ms", "CONFIG_HZ");
	NOTE(f.own_files_error = EPERM, "monitors", "Operation not permitted", "");
	NOTE(f.ask_error = EPERM, "look-ahead", "move_pages", "");
	NOTE((f.no_look_ahead = "no look-ahead on this processor",
	      f.sources.of[NVE_QUANTITY_DIRTY].name = "socket-wide counters"),
	     "look-ahead", "no look-ahead", "");
	NOTE(f.cores_allowed = 1, "cores", "8 online, 1 for this process: monitors share", "");
	NOTE(f.quota_milli = 500, "cores", "CPU time for 0.50 of them: it is stopped", "cpu.max");
	NOTE(f.calibration.huge_pages = false, "huge pages", "page walks", "nvmemu calibrate");
	NOTE((f.calibration.huge_pages = false, strcpy(f.huge_pages, "never")), "huge pages",
	     "none", "transparent_hugepage/enabled");
	NOTE(strcpy(f.governor, "powersave"), "frequency", "powersave", "cpupower");
	NOTE(f.governor[0] = '\0', "frequency", "not to be seen", "");
	NOTE(f.smt = true, "smt", "sibling", "taskset");
	NOTE(f.smt_known = false, "smt", "not told", "");
#undef NOTE
}

static void test_degraded(void **state)
{
	struct nve_facts f;

	(void)state;
#define DEGRADED(change, subject, word, mend)                                                      \
	do {                                                                                       \
		f = good();                                                                        \
		change;                                                                            \
		expect(&f, subject, NVE_SEVERITY_DEGRADED, word, mend);                            \
	} while (0)
	DEGRADED(f.pending_used = 9990, "pending signals", "9990 of 10000 in use", "ulimit -i");
	DEGRADED(f.timer_error = EAGAIN, "timers", "temporarily unavailable; software events",
		 "ulimit -i");
	DEGRADED(f.monitor_error = EAGAIN, "monitors", "temporarily unavailable", "ulimit -u");
	DEGRADED(f.maps_error = ENOENT, "look-ahead", "/proc/self/maps", "mount /proc");
	DEGRADED(f.resident_error = EPERM, "look-ahead", "mincore", "filter");
	DEGRADED(f.executable_error = EACCES, "look-ahead", "executable",
		 "writable and executable");
	DEGRADED((f.no_look_ahead = "none here", f.counts_stalls = true,
		  f.sources.of[NVE_QUANTITY_DIRTY].name = "none"),
		 "look-ahead", "none here, and nothing else tells the dirty fraction", "socket");
	DEGRADED(f.keep_error = ENOENT, "calibration",
		 "cannot be kept in /home/u/.cache/nvmemu/calibration (No such file", "XDG_CACHE");
#undef DEGRADED
}

static void test_impossible(void **state)
{
	struct nve_facts f;

	(void)state;
#define IMPOSSIBLE(change, subject, word, mend)                                                    \
	do {                                                                                       \
		f = good();                                                                        \
		change;                                                                            \
		expect(&f, subject, NVE_SEVERITY_IMPOSSIBLE, word, mend);                          \
	} while (0)
	IMPOSSIBLE(f.timer_error = f.monitor_error = EAGAIN, "timers", "temporarily unavailable",
		   "ulimit -i");
	IMPOSSIBLE((f.timer_error = EPERM, f.monitor_error = EAGAIN), "timers", "not permitted",
		   "timer_create");
	IMPOSSIBLE(f.calibration_error = ERANGE, "calibration", "too busy", "nvmemu calibrate");
	IMPOSSIBLE(f.calibration_error = ENOMEM, "calibration", "allocate", "128 MiB");
	IMPOSSIBLE((f.no_look_ahead = "none here", f.counts_stalls = false), "look-ahead",
		   "nothing counts here: none here", "");
	IMPOSSIBLE((f.no_look_ahead = "none here", f.counts_stalls = false,
		    strcpy(f.counters_why, "paranoid; sysctl; and none here")),
		   "look-ahead", "nothing counts here: paranoid; sysctl", "");
	IMPOSSIBLE((f.counters_demanded = true, f.counts_stalls = false,
		    strcpy(f.counters_why, "no PMU")),
		   "settings", "NVM_COUNTERS=pmu: no PMU", "NVM_COUNTERS=auto");
	IMPOSSIBLE(strcpy(f.setting_problem, "NVM_RLAT: 10ns is below"), "settings", "NVM_RLAT",
		   "");
#undef IMPOSSIBLE
}

/* Missing perf_event_open alone makes nothing worse than a note. */
static void test_no_pmu_is_no_lack(void **state)
{
	struct nve_facts f = good();

	(void)state;
	f.task_clock_error = EPERM;
	f.events_open = 0;
	f.events_error = EPERM;
	f.counts_stalls = false;
	f.paranoid_known = false;
	f.pmus[0] = '\0';
	nve_source_set(&f.sources.of[NVE_QUANTITY_STALL], "look-ahead", "by windows");
	nve_reason_set(&f.sources.of[NVE_QUANTITY_STALL].no_better, "no PMU", "get one");
	nve_assess(&f, &assessment);
	assert_int_equal(assessment.severity, NVE_SEVERITY_NOTE);
	assert_string_equal(assessment.choices[0].source.name, "look-ahead");
	assert_string_equal(assessment.choices[0].source.how, "by windows");
	assert_string_equal(assessment.choices[0].source.no_better.why, "no PMU");
	assert_string_equal(assessment.choices[0].source.no_better.mend, "get one");
	assert_non_null(strstr(finding("perf")->text, "cannot be read"));
	assert_non_null(strstr(finding("pmus")->text, "none in sysfs"));
}

static void test_unlimited(void **state)
{
	struct nve_facts f = good();

	(void)state;
	f.pending_limit = NVE_PENDING_UNLIMITED;
	f.pending_used = 5;
	expect(&f, "pending signals", NVE_SEVERITY_FINE, "no limit", "");
	f.quota_milli = 2500;
	expect(&f, "cores", NVE_SEVERITY_FINE, "CPU time for 2.50 of them", "");
}

/* The worst counts, and everything wrong at once still has room. */
static void test_all_wrong(void **state)
{
	struct nve_facts f = good();

	(void)state;
	f.rows[0] = "one";
	f.rows[1] = "two";
	f.errata = "errata";
	f.cpu.hypervisor = true;
	strcpy(f.container, "a file");
	f.seccomp = 2;
	f.no_new_privileges = true;
	f.task_clock_error = f.events_error = EPERM;
	f.events_open = 0;
	f.pending_used = f.pending_limit;
	f.monitor_error = f.keep_error = f.resident_error = EAGAIN;
	f.calibration.huge_pages = false;
	f.governor[0] = '\0';
	f.smt = true;
	f.counters_demanded = true;
	f.counts_stalls = false;
	f.delays = false;
	memset(f.counters_why, 'x', sizeof(f.counters_why) - 1);
	nve_assess(&f, &assessment);
	assert_int_equal(assessment.severity, NVE_SEVERITY_IMPOSSIBLE);
	assert_true(assessment.count <= NVE_FINDINGS);
	assert_non_null(strstr(finding("cpu")->text, "one; two"));
	assert_string_equal(assessment.choices[NVE_QUANTITIES + 1].source.name, "none, a dry run");
	f.delays = f.sleeps = true;
	nve_assess(&f, &assessment);
	assert_non_null(strstr(assessment.choices[NVE_QUANTITIES + 1].source.name, "sleeping"));
	f.timer_error = EAGAIN;
	nve_assess(&f, &assessment);
	assert_string_equal(assessment.choices[NVE_QUANTITIES].source.name, "none");
	assert_string_equal(assessment.choices[NVE_QUANTITIES + 1].source.name, "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_degraded),
		cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_no_pmu_is_no_lack),
		cmocka_unit_test(test_unlimited),
		cmocka_unit_test(test_all_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
