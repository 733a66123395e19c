/*
 * How look-ahead windows see memory, beside how a program sees it. A window reads the same lines as
 * the program, but between its reads the interpreter works, whose data push page tables and other
 * things out of the caches: its readings are a per cent or two longer. Real windows over a chase
 * that runs in turns with them tell the ratio.
 */
#ifndef NVE_COUNT_CALIBRATE_WINDOW_H
#define NVE_COUNT_CALIBRATE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct nve_window_machine;

/*
 * node: of a cyclic chase larger than the cache; the first word of a node is the address of the
 * next. Runs until deadline_ns (CLOCK_MONOTONIC_RAW), at least a few turns. Gives TSC ticks per
 * step of the chase over ticks per miss in windows, fences subtracted, in parts per million. Uses
 * SIGURG and a timer of the calling thread meanwhile. 0, -ENOMEM, or -ERANGE when no window saw a
 * miss.
 */
int nve_calibrate_window(void *node, const struct nve_window_machine *machine, uint64_t deadline_ns,
			 uint32_t *ratio_ppm);

#endif
