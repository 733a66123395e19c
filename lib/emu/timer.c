#include "emu/timer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int nve_timer_make(clockid_t clock, int signal, void *value, int *id)
{
	struct sigevent event;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = signal;
	event.sigev_value.sival_ptr = value;
	event._sigev_un._tid = (int)syscall(SYS_gettid);
	return syscall(SYS_timer_create, clock, &event, id) ? -errno : 0;
}

int nve_timer_arm(int id, uint64_t after_ns)
{
	struct itimerspec spec = {
		.it_value = {.tv_sec = (time_t)(after_ns / 1000000000),
			     .tv_nsec = (long)(after_ns % 1000000000)},
	};

	return syscall(SYS_timer_settime, id, 0, &spec, NULL) ? -errno : 0;
}

void nve_timer_delete(int id)
{
	syscall(SYS_timer_delete, id);
}
