#include "count/pmu/ticks.h"

#include <errno.h>
#include <fcntl.h>

#include "count/pmu/perf.h"

/* Not in the middle of system calls: no call is cut short, and kernel.perf_event_paranoid may be 2.
 */
static int open_event(int tid, uint64_t period_ns)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = period_ns,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return nve_perf_kernel.open(nve_perf_kernel.world, &attr, tid, -1, -1);
}

static int send_to(int fd, int tid, int signal)
{
	const struct f_owner_ex owner = {F_OWNER_TID, tid};

	if (fcntl(fd, F_SETSIG, signal) || fcntl(fd, F_SETOWN_EX, &owner) ||
	    fcntl(fd, F_SETFL, O_ASYNC))
		return -errno;
	return 0;
}

int nve_pmu_ticks_open(int tid, int signal, uint64_t period_ns)
{
	int fd = open_event(tid, period_ns), rc;

	if (fd < 0)
		return fd;
	rc = send_to(fd, tid, signal);
	if (!rc)
		return fd;
	nve_pmu_ticks_close(fd);
	return rc;
}

void nve_pmu_ticks_close(int fd)
{
	nve_perf_kernel.close(nve_perf_kernel.world, fd);
}

bool nve_pmu_ticks_sent(const siginfo_t *info, int fd)
{
	return (info->si_code == POLL_IN || info->si_code == POLL_HUP) && info->si_fd == fd;
}
