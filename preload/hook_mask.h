/* What the thread hooks share of the hooks of the signal mask. */
#ifndef NVE_PRELOAD_HOOK_MASK_H
#define NVE_PRELOAD_HOOK_MASK_H

#include <stdbool.h>

/* At the start of the calling thread: does it inherit our signal blocked, as the program sees it?
 */
void nve_hook_mask_begin(bool inherited);

/*
 * Before the calling thread starts a program: where the program has our signal blocked, it is
 * blocked in truth, for the new one inherits that. False: nothing was done. The second makes it
 * undone. Neither changes errno.
 */
bool nve_hook_mask_show(void);
void nve_hook_mask_hide(void);

#endif
