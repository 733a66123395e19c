/*
 * The contract with the kernel's performance events. The provider talks to the kernel through these
 * functions alone, so that tests can play a kernel that refuses, multiplexes or wraps.
 *
 * All but close return -errno where they fail. No malloc, no stdio; signal-safe.
 */
#ifndef NVE_COUNT_PMU_PERF_H
#define NVE_COUNT_PMU_PERF_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct nve_perf {
	/* Returns a close-on-exec descriptor. tid -1: whatever runs on cpu; cpu -1: wherever the
	 * thread runs. leader -1: a group of its own. */
	int (*open)(void *world, const struct perf_event_attr *attr, int tid, int cpu, int leader);
	/* Returns the bytes read; 0: the event is in an error state. */
	long (*read)(void *world, int fd, void *buf, size_t size);
	/* Starts counting: the leader and its group. */
	int (*enable)(void *world, int fd);
	void (*close)(void *world, int fd);
	/* The event's ring of samples, at offset 0, or the area of packets, where the ring's first
	 * page says that it is to be; NULL and -errno. */
	int (*map)(void *world, int fd, size_t bytes, uint64_t offset, void **ring);
	void (*unmap)(void *world, void *ring, size_t bytes);
	void *world; /* handed to each of them */
};

/* The real one. */
extern const struct nve_perf nve_perf_kernel;

#endif
