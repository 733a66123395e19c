/*
 * The monitor threads: one for each thread of the program. A monitor sleeps until its thread's
 * handler has ended an epoch; then it asks the model what the epoch cost and adds that to the delay
 * owed. While its thread sleeps, so does it.
 */
#ifndef NVE_EMU_MONITOR_H
#define NVE_EMU_MONITOR_H

#include "emu/thread.h"

typedef int nve_thread_create_fn(pthread_t *thread, const pthread_attr_t *attr,
				 void *(*start)(void *), void *arg);

/* The target of the emulation, and the function that makes threads (libc's own, not the hook);
 * once, before the first monitor. */
void nve_monitor_setup(const struct nve_model_target *target, nve_thread_create_fn *create);

/* 0 or -errno: then the thread's epochs are settled by its own handler. */
int nve_monitor_start(struct nve_thread *t);

/* Ends the monitor, waits for it, and settles what it left. The caller keeps others from doing the
 * same. */
void nve_monitor_stop(struct nve_thread *t);

/* The same for a while: after the first the monitor is no more a thread of the process. */
void nve_monitor_pause(struct nve_thread *t);
void nve_monitor_go_on(struct nve_thread *t);

/* Model and debt of all epochs in the ring. Returns at once when somebody else does it. */
void nve_monitor_settle(struct nve_thread *t);

/* Keeps others from settling the thread's epochs, so that what it has been given can be read: true,
 * or false where somebody has been at it for long (and may have died of it). */
bool nve_monitor_hold(struct nve_thread *t);
void nve_monitor_release(struct nve_thread *t);

/* What the model makes of a nanosecond of the thread's stall time, ns, recently; before its first
 * epoch that of other threads; 0: not known. Signal-safe. */
double nve_monitor_delay_per_stall(const struct nve_thread *t);

/* By the thread itself, before it wakes its monitor for an epoch: where that reads hardware
 * counters it is to do so on the thread's own core. Signal-safe. */
void nve_monitor_come_near(struct nve_thread *t);

/* Wakes the monitor. Signal-safe. */
void nve_monitor_wake(struct nve_thread *t);

#endif
