/* What traffic needs of the thread's windows. In the handler. */
#ifndef NVE_AHEAD_TRAFFIC_H
#define NVE_AHEAD_TRAFFIC_H

#include "count/ahead/stream.h"
#include "count/ahead/window.h"

/* A thread's, zeroed, whose windows these are. most: lines per ns that it can move; 0: not known.
 */
void nve_traffic_begin(struct nve_stream *stream, struct nve_window *window, double most);

#endif
