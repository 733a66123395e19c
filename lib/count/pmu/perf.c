#include "count/pmu/perf.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(void *world, const struct perf_event_attr *attr, int tid, int cpu, int leader)
{
	long fd = syscall(SYS_perf_event_open, attr, tid, cpu, leader, PERF_FLAG_FD_CLOEXEC);

	(void)world;
	return fd < 0 ? -errno : (int)fd;
}

/* A straight system call: read() is a point where threads are cancelled. */
static long read_event(void *world, int fd, void *buf, size_t size)
{
	long got;

	(void)world;
	do
		got = syscall(SYS_read, fd, buf, size);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static int enable(void *world, int fd)
{
	(void)world;
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) ? -errno : 0;
}

static void close_event(void *world, int fd)
{
	(void)world;
	syscall(SYS_close, fd);
}

static int map_ring(void *world, int fd, size_t bytes, uint64_t offset, void **ring)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	(void)world;
	if (at == MAP_FAILED)
		return -errno;
	*ring = at;
	return 0;
}

static void unmap_ring(void *world, void *ring, size_t bytes)
{
	(void)world;
	munmap(ring, bytes);
}

const struct nve_perf nve_perf_kernel = {
	.open = open_event,
	.read = read_event,
	.enable = enable,
	.close = close_event,
	.map = map_ring,
	.unmap = unmap_ring,
};
