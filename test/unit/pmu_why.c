/* Each error of the kernel becomes a line that says what it means and what mends it. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "count/pmu/why.h"

static const char *why(int error, enum nve_pmu_scope scope, int paranoid, bool hypervisor)
{
	static char text[300];
	const struct nve_pmu_world world = {
		.paranoid = paranoid, .paranoid_known = paranoid < 100, .hypervisor = hypervisor};

	struct nve_reason reason;

	nve_pmu_why(error, scope, &world, &reason);
	nve_reason_join(&reason, text, sizeof(text));
	return text;
}

static void expect(const char *text, const char *part)
{
	if (!strstr(text, part))
		print_error("'%s' not in: %s\n", part, text);
	assert_non_null(strstr(text, part));
}

/* The level is named, and the one that would do; a level that would do means a filter. */
static void forbidden(void **state)
{
	static const int errors[] = {-EPERM, -EACCES};

	(void)state;
	for (int i = 0; i < 2; i++) {
		const char *text = why(errors[i], NVE_PMU_SCOPE_THREAD, 3, false);

		expect(text, "perf_event_paranoid is 3");
		expect(text, "; sysctl kernel.perf_event_paranoid=2");
		expect(text, "CAP_SYS_ADMIN");
		text = why(errors[i], NVE_PMU_SCOPE_THREAD, 2, false);
		expect(text, "filter");
		expect(text, "profile");
		text = why(errors[i], NVE_PMU_SCOPE_SOCKET, 2, false);
		expect(text, "perf_event_paranoid is 2");
		expect(text, "CAP_PERFMON");
		expect(text, "; sysctl kernel.perf_event_paranoid=0");
		expect(why(errors[i], NVE_PMU_SCOPE_WHOLE, 2, false), "perf_event_paranoid=1");
		expect(why(errors[i], NVE_PMU_SCOPE_WHOLE, 1, false), "filter");
		expect(why(errors[i], NVE_PMU_SCOPE_SOCKET, 0, false), "filter");
		expect(why(errors[i], NVE_PMU_SCOPE_SOCKET, -1, false), "filter");
		expect(why(errors[i], NVE_PMU_SCOPE_THREAD, 100, false), "cannot be read");
	}
}

static void absent(void **state)
{
	static const int errors[] = {-ENOENT, -ENODEV, -EOPNOTSUPP};

	(void)state;
	for (int i = 0; i < 3; i++) {
		expect(why(errors[i], NVE_PMU_SCOPE_THREAD, 2, true), "virtual machine");
		expect(why(errors[i], NVE_PMU_SCOPE_THREAD, 2, false), "newer kernel");
	}
}

static void others(void **state)
{
	static const struct {
		int error;
		const char *meaning, *mend;
	} rows[] = {
		{ENOSYS, "without performance events", "; allow perf_event_open"},
		{EMFILE, "no file descriptors left", "; raise RLIMIT_NOFILE"},
		{ENFILE, "system has no files left", "; raise sysctl fs.file-max"},
		{EBUSY, "another profiler", "; end it"},
		{EINVAL, "refuses the event", "; NVM_PMU_EVENTS"},
		{ENODATA, "never ran", "; end other profilers"},
		{ESRCH, "thread has ended", ""},
		{ENOLCK, "no more memory may be locked", "; raise RLIMIT_MEMLOCK"},
		{ENOSPC, "not that many counters", ""},
		{EIO, "Input/output error", ""},
	};

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(rows); i++) {
		const char *text = why(-rows[i].error, NVE_PMU_SCOPE_THREAD, 2, false);

		expect(text, rows[i].meaning);
		expect(text, rows[i].mend);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forbidden),
		cmocka_unit_test(absent),
		cmocka_unit_test(others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
