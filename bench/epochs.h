/* What an epoch costs a computing thread, all in all. */
#ifndef BENCH_EPOCHS_H
#define BENCH_EPOCHS_H

#include <stdint.h>

/* A group's events; read and applied once an epoch by settle(), in the monitor. open and close are
 * called in the monitor, too. */
struct epochs_reader {
	int (*open)(int tid);
	void (*settle)(void);
	void (*close)(void);
};

/*
 * Fixed work on one CPU, again and again: alone; with a monitor that is woken so many times a turn
 * and comes in the place of the thread; and with one that reads then. *whole_ns and *switch_ns: the
 * median of what a wake of the latter two costs in CPU time of both threads, beyond the work alone
 * of the same turn; *read_ns: of the difference of these. 0, or -errno.
 */
int epochs_measure(const struct epochs_reader *reader, int cpu, double seconds, double *whole_ns,
		   double *switch_ns, double *read_ns);

#endif
