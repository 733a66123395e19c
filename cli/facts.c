#include "facts.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/log.h"
#include "cgroup.h"
#include "cli.h"
#include "count/ahead/ahead.h"
#include "count/calstore.h"
#include "count/pmu/identify.h"
#include "count/pmu/perf.h"
#include "count/pmu/sysfs.h"
#include "count/pmu/trial.h"
#include "counters.h"
#include "presets.h"
#include "report/utc.h"
#include "traffic.h"

enum { TEXT_BYTES = 8192, CPUS_MAX = 8192 };

/* One line without its end, or the whole of a small file. */
static bool read_line(const char *path, char *text, size_t size)
{
	size_t length;

	if (nve_file_read(path, text, size, &length))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return true;
}

static void gather_cpu(struct nve_facts *f)
{
	struct nve_pmu_kind kinds[NVE_PMU_KINDS];
	struct utsname name;
	size_t count;

	nve_cpu_read(&f->cpu);
	count = nve_pmu_kinds_find(&f->cpu, NVE_PMU_SYSFS_ROOT, kinds);
	for (size_t i = 0; i < count; i++)
		f->rows[i] = kinds[i].row->name;
	f->errata = count ? kinds[0].row->errata : NULL;
	if (!uname(&name))
		nve_format(f->kernel, sizeof(f->kernel), "%s %s %s", name.sysname, name.release,
			   name.machine);
}

static void gather_container(struct nve_facts *f)
{
	static const char *const files[] = {"/.dockerenv", "/run/.containerenv",
					    "/run/systemd/container"};
	static const char *const words[] = {"docker", "kubepods", "containerd", "libpod", "lxc"};
	char text[TEXT_BYTES];
	size_t length;

	for (size_t i = 0; i < NVE_ARRAY_SIZE(files); i++) {
		if (access(files[i], F_OK))
			continue;
		nve_format(f->container, sizeof(f->container), "%s", files[i]);
		return;
	}
	if (nve_file_read("/proc/1/cgroup", text, sizeof(text), &length))
		return;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(words); i++)
		if (strstr(text, words[i]))
			nve_format(f->container, sizeof(f->container), "'%s' in /proc/1/cgroup",
				   words[i]);
}

/* The text behind "name:" and blanks; "" where there is none. */
static const char *field_of(const char *status, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, length) && line[length] == ':')
			return line + length + 1 + strspn(line + length + 1, " \t");
	}
	return "";
}

static void gather_status(struct nve_facts *f)
{
	char text[TEXT_BYTES];
	long long used, limit;
	unsigned long long most;
	size_t length;

	f->pending_limit = NVE_PENDING_UNLIMITED;
	if (nve_file_read("/proc/self/status", text, sizeof(text), &length))
		return;
	f->seccomp = (unsigned)atoi(field_of(text, "Seccomp"));
	f->no_new_privileges = atoi(field_of(text, "NoNewPrivs")) != 0;
	if (sscanf(field_of(text, "SigQ"), "%lld/%llu", &used, &most) != 2)
		return;
	limit = most > INT64_MAX ? NVE_PENDING_UNLIMITED : (long long)most;
	f->pending_used = used;
	f->pending_limit = limit;
}

static void gather_perf(struct nve_facts *f)
{
	const struct nve_pmu_code task_clock = {.type = PERF_TYPE_SOFTWARE,
						.config = {PERF_COUNT_SW_TASK_CLOCK}};
	const struct nve_perf *perf = &nve_perf_kernel;
	struct nve_pmu_names names;
	struct perf_event_attr attr;
	char text[TEXT_BYTES];
	int fd, used = 0;

	f->paranoid_known = read_line("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));
	f->paranoid = f->paranoid_known ? atoi(text) : 0;
	nve_pmu_attr_thread(&task_clock, &attr);
	fd = perf->open(perf->world, &attr, 0, -1, -1);
	if (fd < 0)
		f->task_clock_error = -fd;
	else
		perf->close(perf->world, fd);

	nve_pmu_sysfs_list(NVE_PMU_SYSFS_ROOT, NULL, &names);
	for (size_t i = 0; i < names.count && (size_t)used < sizeof(f->pmus) - 1; i++)
		used += nve_format(f->pmus + used, sizeof(f->pmus) - (size_t)used, "%s%s",
				   i ? " " : "", names.names[i]);
	if (names.more)
		strcpy(f->pmus + sizeof(f->pmus) - 4, "...");
}

static void gather_events(struct cli_facts *facts)
{
	struct nve_facts *f = &facts->machine;
	struct nve_pmu_kind kinds[NVE_PMU_KINDS];
	size_t count = nve_pmu_kinds_find(&f->cpu, NVE_PMU_SYSFS_ROOT, kinds);

	facts->trial_count =
		nve_pmu_try(&nve_perf_kernel, kinds, count, NVE_PMU_SYSFS_ROOT, facts->trials);
	facts->formula = count ? nve_pmu_formula_text(kinds[0].row->formula) : NULL;
	f->events_tried = (unsigned)facts->trial_count;
	for (size_t i = 0; i < facts->trial_count; i++) {
		int error = -facts->trials[i].error;

		f->events_open += !error;
		f->events_error = f->events_error ? f->events_error : error;
	}
}

/* One like those that interrupt the program's threads. Its signal is ignored by default. */
static int try_timer(void)
{
	const struct itimerspec soon = {.it_value = {.tv_sec = 1}};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG};
	int id, err = 0;

	event._sigev_un._tid = (int)syscall(SYS_gettid);
	if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &id))
		return errno;
	if (syscall(SYS_timer_settime, id, 0, &soon, NULL))
		err = errno;
	syscall(SYS_timer_delete, id);
	return err;
}

static void gather_timers(struct nve_facts *f)
{
	struct timespec tick;

	f->timer_error = try_timer();
	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &tick))
		f->tick_ns = (uint64_t)tick.tv_sec * 1000000000 + (uint64_t)tick.tv_nsec;
}

/* As a monitor begins. */
static void *try_own_files(void *error)
{
	*(int *)error = syscall(SYS_unshare, CLONE_FILES) ? errno : 0;
	return NULL;
}

static void gather_monitors(struct nve_facts *f)
{
	pthread_t thread;

	f->monitor_error = pthread_create(&thread, NULL, try_own_files, &f->own_files_error);
	if (!f->monitor_error)
		pthread_join(thread, NULL);
}

/* One page; or, where it may not be writable and executable at once, two views of a file. */
static int try_executable(size_t page)
{
	void *at = mmap(NULL, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	int fd, err = 0;

	if (at != MAP_FAILED) {
		munmap(at, page);
		return 0;
	}
	fd = memfd_create("nvmemu-doctor", MFD_CLOEXEC);
	if (fd < 0)
		return errno;
	at = ftruncate(fd, (off_t)page)
		     ? MAP_FAILED
		     : mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		err = errno;
	else
		munmap(at, page);
	close(fd);
	return err;
}

static void gather_look_ahead(struct nve_facts *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), length;
	char *at = aligned_alloc(page, page), text[TEXT_BYTES];
	void *pages[] = {at};
	unsigned char resident;
	int status, rc;

	f->no_look_ahead = nve_ahead_why_not();
	f->executable_error = try_executable(page);
	rc = nve_file_read("/proc/self/maps", text, sizeof(text), &length);
	f->maps_error = rc && rc != -EFBIG ? -rc : 0;
	if (!at)
		return;
	*at = 1;
	if (syscall(SYS_mincore, at, page, &resident))
		f->resident_error = errno;
	if (syscall(SYS_move_pages, 0, 1ul, pages, NULL, &status, 0))
		f->ask_error = errno;
	free(at);
}

static void gather_cores(struct nve_facts *f)
{
	cpu_set_t *allowed = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX), length;
	char text[TEXT_BYTES];

	f->cores_online = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	f->cores_allowed = f->cores_online;
	if (allowed && !sched_getaffinity(0, size, allowed))
		f->cores_allowed = (unsigned)CPU_COUNT_S(size, allowed);
	CPU_FREE(allowed);
	if (!nve_file_read("/proc/self/cgroup", text, sizeof(text), &length))
		f->quota_milli = cli_cgroup_quota_milli(text, "/sys/fs/cgroup");
}

static void gather_clock(struct nve_facts *f)
{
	static const char *const governors[] = {
		"/sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
		"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"};
	char text[TEXT_BYTES], *mode;

	for (size_t i = 0; i < NVE_ARRAY_SIZE(governors) && !f->governor[0]; i++)
		if (read_line(governors[i], text, sizeof(text)))
			nve_format(f->governor, sizeof(f->governor), "%s", text);
	f->smt_known = read_line("/sys/devices/system/cpu/smt/active", text, sizeof(text));
	f->smt = f->smt_known && text[0] == '1';
	if (!read_line("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof(text)))
		return;
	/* "always [madvise] never" */
	mode = strchr(text, '[');
	if (mode)
		nve_format(f->huge_pages, sizeof(f->huge_pages), "%.*s",
			   (int)strcspn(mode + 1, "]"), mode + 1);
}

static void gather_calibration(struct nve_facts *f, struct nve_calstore *store)
{
	struct nve_calibration *c = &f->calibration;
	char date[NVE_UTC_BYTES];
	const char *reason;
	int rc, keep_error = 0;

	nve_calstore_setup(store, environ);
	rc = nve_calstore_load(store, c, &reason);
	if (rc) {
		rc = cli_measure_calibration(store, c, &keep_error);
		f->calibration_fresh = true;
	}
	f->calibration_error = -rc;
	f->keep_error = -keep_error;
	nve_format(f->kept_in, sizeof(f->kept_in), "%s", store->path);
	nve_utc_format(c->measured_at_s, date);
	nve_format(f->calibrated_at, sizeof(f->calibrated_at), "%s", date);
}

static void gather_sources(const struct nve_options *o, struct nve_facts *f,
			   struct nve_calstore *store)
{
	const struct nve_calibration *c = &f->calibration;
	const struct nve_counters_world world = {
		.options = o,
		.store = store,
		.dram_lat_ps = o->dram_lat_ps ? o->dram_lat_ps : c->dram_lat_ps,
		.llc_lat_ps = o->llc_lat_ps ? o->llc_lat_ps : c->llc_lat_ps,
		.no_ahead = f->no_look_ahead,
		.load_pfm = cli_load_pfm,
	};
	struct nve_options options = *o;
	struct nve_options_message error;

	f->counters_demanded = o->counters == NVE_COUNTERS_PMU;
	f->delays = o->inject != NVE_INJECT_OFF;
	f->sleeps = o->inject == NVE_INJECT_SLEEP;
	if (f->calibration_error)
		return;
	if (nve_presets_load(&options, environ, &error) ||
	    nve_presets_apply(&options, world.dram_lat_ps, &error) ||
	    nve_options_check_latency(&options, world.dram_lat_ps, &error))
		nve_format(f->setting_problem, sizeof(f->setting_problem), "%s", error.text);
	if (o->counters == NVE_COUNTERS_REPLAY) {
		nve_counters_tell_all(&f->sources, "replay");
		f->counts_stalls = true;
		return;
	}
	nve_traffic_foretell(&options, f->no_look_ahead, &f->sources.of[NVE_QUANTITY_TRAFFIC]);
	if (nve_counters_start(&world, &f->calibration, &f->sources, f->counters_why,
			       sizeof(f->counters_why)) == -EINVAL)
		nve_format(f->setting_problem, sizeof(f->setting_problem), "%s", f->counters_why);
	f->counts_stalls = nve_counters_events()[0] != '\0';
}

void cli_facts_gather(const struct nve_options *options, struct cli_facts *facts)
{
	static struct nve_calstore store;
	struct nve_facts *f = &facts->machine;

	memset(facts, 0, sizeof(*facts));
	gather_cpu(f);
	gather_container(f);
	gather_status(f);
	gather_perf(f);
	gather_events(facts);
	gather_timers(f);
	gather_monitors(f);
	gather_look_ahead(f);
	gather_cores(f);
	gather_clock(f);
	gather_calibration(f, &store);
	gather_sources(options, f, &store);
}
