/* What the start shares of the thread hooks. */
#ifndef NVE_PRELOAD_HOOK_THREAD_H
#define NVE_PRELOAD_HOOK_THREAD_H

/* The calling thread's end will be told to the runtime, if it follows threads. */
void nve_hook_thread_watch_end(void);

#endif
