/* The public interface (nvmemu.h) where another copy of this library is at work in the process. */
#ifndef NVE_PRELOAD_HOOK_MARKERS_H
#define NVE_PRELOAD_HOOK_MARKERS_H

/* Ours does nothing by itself from now on: what it is asked goes to the other one. once, at the
 * start; look_up: a function of that other one by its name, or NULL. */
void nve_hook_markers_forward(void *(*look_up)(const char *name));

#endif
