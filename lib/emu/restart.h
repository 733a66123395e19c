/*
 * System calls that our signal cut short.
 *
 * A tick may meet a thread on its way into a blocking call, which then returns EINTR where
 * SA_RESTART does not reach (poll, nanosleep, futex ...). The program never asked for our signal,
 * so the call should be made again.
 */
#ifndef NVE_EMU_RESTART_H
#define NVE_EMU_RESTART_H

#include <ucontext.h>

/* In the handler: if *uc returns from such a call, it is changed so that the call is made again,
 * where this processor allows that. */
void nve_restart_call(ucontext_t *uc);

enum nve_restart {
	NVE_RESTART_NONE,      /* the signal met no call that blocked */
	NVE_RESTART_BY_KERNEL, /* the kernel makes the call again, for as long as is left */
	NVE_RESTART_EINTR,     /* it returns EINTR */
};

/* Has our signal found the thread in a blocking call? Before nve_restart_call(). Where this
 * processor does not tell: none. */
enum nve_restart nve_restart_kind(const ucontext_t *uc);

#endif
