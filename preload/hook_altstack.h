/* What the thread hooks share of the hook of sigaltstack(). */
#ifndef NVE_PRELOAD_HOOK_ALTSTACK_H
#define NVE_PRELOAD_HOOK_ALTSTACK_H

/* At the end of the calling thread: it gets back the stack that it gave. */
void nve_hook_altstack_end(void);

#endif
