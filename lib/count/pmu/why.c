#include "count/pmu/why.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

/* Debian's own level: nothing at all for ordinary users. */
enum { PARANOID_NOBODY = 3 };

/*
 * EPERM and EACCES are the paranoid level's answer; but a system-call filter's, too: then the level
 * would have let the call through.
 */
static void why_forbidden(enum nve_pmu_scope scope, const struct nve_pmu_world *world, char *buf,
			  size_t size)
{
	static const int levels[] = {
		[NVE_PMU_SCOPE_THREAD] = 2, [NVE_PMU_SCOPE_WHOLE] = 1, [NVE_PMU_SCOPE_SOCKET] = 0};
	int allowed = levels[scope];

	if (world->paranoid_known && world->paranoid <= allowed)
		nve_format(buf, size,
			   "a system-call filter or security module forbids perf_event_open "
			   "(kernel.perf_event_paranoid is %d, which would allow it); let the "
			   "container's profile allow perf_event_open",
			   world->paranoid);
	else if (!world->paranoid_known)
		nve_format(buf, size,
			   "perf_event_open is forbidden and kernel.perf_event_paranoid cannot be "
			   "read; sysctl kernel.perf_event_paranoid=%d on the host",
			   allowed);
	else if (world->paranoid >= PARANOID_NOBODY)
		nve_format(buf, size,
			   "kernel.perf_event_paranoid is %d: for CAP_SYS_ADMIN only; sysctl "
			   "kernel.perf_event_paranoid=%d",
			   world->paranoid, allowed);
	else
		nve_format(buf, size,
			   "kernel.perf_event_paranoid is %d and this process has no CAP_PERFMON; "
			   "sysctl kernel.perf_event_paranoid=%d",
			   world->paranoid, allowed);
}

static void why_absent(const struct nve_pmu_world *world, char *buf, size_t size)
{
	if (world->hypervisor)
		nve_format(buf, size,
			   "this virtual machine has no PMU, or not this event; let its host pass "
			   "one on (virtual PMU)");
	else
		nve_format(buf, size,
			   "the kernel has no driver for this PMU, or not for this event; use a "
			   "newer kernel, or one built with it");
}

void nve_pmu_why(int error, enum nve_pmu_scope scope, const struct nve_pmu_world *world, char *buf,
		 size_t size)
{
	const char *text;

	switch (-error) {
	case EPERM:
	case EACCES: why_forbidden(scope, world, buf, size); return;
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP: why_absent(world, buf, size); return;
	case ENOSYS:
		text = "the kernel is built without performance events, or a system-call filter "
		       "hides them; allow perf_event_open";
		break;
	case EMFILE: text = "no file descriptors left; raise RLIMIT_NOFILE (ulimit -n)"; break;
	case ENFILE:
		text = "the system has no files left; raise sysctl fs.file-max, or end others";
		break;
	case EBUSY:
		text = "another profiler has the counters for itself; end it (perf, a watchdog "
		       "with kernel.nmi_watchdog=1)";
		break;
	case EINVAL:
		text = "the kernel refuses the event, or so many in one group; NVM_PMU_EVENTS "
		       "names others";
		break;
	case ESRCH: text = "the thread has ended"; break;
	case ENODATA:
		text = "the counters never ran: others have them; end other profilers, or count "
		       "fewer events by NVM_PMU_EVENTS";
		break;
	case ENOLCK:
		text = "no more memory may be locked for rings; raise RLIMIT_MEMLOCK (ulimit -l) "
		       "or "
		       "sysctl kernel.perf_event_mlock_kb";
		break;
	case ENOSPC: text = "the hardware has not that many counters"; break;
	default: nve_format(buf, size, "%s", strerror(-error)); return;
	}
	nve_format(buf, size, "%s", text);
}
