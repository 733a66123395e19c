#include "count/pmu/why.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "base/log.h"

/* Debian's own level: nothing at all for ordinary users. */
enum { PARANOID_NOBODY = 3 };

/*
 * EPERM and EACCES are the paranoid level's answer; but a system-call filter's, too: then the level
 * would have let the call through.
 */
static void why_forbidden(enum nve_pmu_scope scope, const struct nve_pmu_world *world,
			  struct nve_reason *reason)
{
	static const int levels[] = {
		[NVE_PMU_SCOPE_THREAD] = 2, [NVE_PMU_SCOPE_WHOLE] = 1, [NVE_PMU_SCOPE_SOCKET] = 0};
	int allowed = levels[scope];
	bool filtered = world->paranoid_known && world->paranoid <= allowed;

	if (filtered)
		nve_format(reason->why, sizeof(reason->why),
			   "a system-call filter or security module forbids perf_event_open "
			   "(kernel.perf_event_paranoid is %d, which would allow it)",
			   world->paranoid);
	else if (!world->paranoid_known)
		nve_format(reason->why, sizeof(reason->why),
			   "perf_event_open is forbidden and kernel.perf_event_paranoid cannot be "
			   "read");
	else if (world->paranoid >= PARANOID_NOBODY)
		nve_format(reason->why, sizeof(reason->why),
			   "kernel.perf_event_paranoid is %d: for CAP_SYS_ADMIN only",
			   world->paranoid);
	else
		nve_format(reason->why, sizeof(reason->why),
			   "kernel.perf_event_paranoid is %d and this process has no CAP_PERFMON",
			   world->paranoid);
	if (filtered)
		nve_format(reason->mend, sizeof(reason->mend),
			   "let the container's profile allow perf_event_open");
	else
		nve_format(reason->mend, sizeof(reason->mend),
			   "sysctl kernel.perf_event_paranoid=%d%s", allowed,
			   world->paranoid_known ? "" : " on the host");
}

static void why_absent(const struct nve_pmu_world *world, struct nve_reason *reason)
{
	if (world->hypervisor)
		nve_reason_set(reason, "this virtual machine has no PMU, or not this event",
			       "let its host pass one on (virtual PMU)");
	else
		nve_reason_set(reason,
			       "the kernel has no driver for this PMU, or not for this event",
			       "use a newer kernel, or one built with it");
}

static const struct {
	int error;
	const char *why, *mend;
} others[] = {
	{ENOSYS,
	 "the kernel is built without performance events, or a system-call filter hides them",
	 "allow perf_event_open"},
	{EMFILE, "no file descriptors left", "raise RLIMIT_NOFILE (ulimit -n)"},
	{ENFILE, "the system has no files left", "raise sysctl fs.file-max, or end others"},
	{EBUSY, "another profiler has the counters for itself",
	 "end it (perf, a watchdog with kernel.nmi_watchdog=1)"},
	{EINVAL, "the kernel refuses the event, or so many in one group",
	 "NVM_PMU_EVENTS names others"},
	{ESRCH, "the thread has ended", ""},
	{ENODATA, "the counters never ran: others have them",
	 "end other profilers, or count fewer events by NVM_PMU_EVENTS"},
	{ENOLCK, "no more memory may be locked for rings",
	 "raise RLIMIT_MEMLOCK (ulimit -l) or sysctl kernel.perf_event_mlock_kb"},
	{ENOSPC, "the hardware has not that many counters", ""},
};

void nve_pmu_why(int error, enum nve_pmu_scope scope, const struct nve_pmu_world *world,
		 struct nve_reason *reason)
{
	switch (-error) {
	case EPERM:
	case EACCES: why_forbidden(scope, world, reason); return;
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP: why_absent(world, reason); return;
	default: break;
	}
	for (size_t i = 0; i < NVE_ARRAY_SIZE(others); i++) {
		if (others[i].error != -error)
			continue;
		nve_reason_set(reason, others[i].why, others[i].mend);
		return;
	}
	nve_reason_set(reason, strerror(-error), "");
}
