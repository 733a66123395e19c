/* What other hooks share of the signal hooks. */
#ifndef NVE_PRELOAD_HOOK_SIGNAL_H
#define NVE_PRELOAD_HOOK_SIGNAL_H

#include <stdbool.h>

struct nve_kernel_sigaction;

/* rt_sigaction, the system call. False: not one of the signals that we share with the program. Else
 * *result is 0, or -1 and errno is set. */
bool nve_hook_rt_sigaction(int sig, const struct nve_kernel_sigaction *act,
			   struct nve_kernel_sigaction *old, long *result);

#endif
