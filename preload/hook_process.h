/* What the hook of syscall() shares with those of the calls by name. */
#ifndef NVE_PRELOAD_HOOK_PROCESS_H
#define NVE_PRELOAD_HOOK_PROCESS_H

#include <stdbool.h>

/* Before prctl() and seccomp(). */
void nve_hook_before_prctl(int option, unsigned long mode, unsigned long filter);
void nve_hook_before_seccomp(unsigned operation, unsigned long filter);

/* Does unshare() with these flags want a process of one thread? setns() always may. */
bool nve_hook_unshare_wants_one(unsigned long flags);

#endif
