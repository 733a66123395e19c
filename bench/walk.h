/*
 * What robench and wbbench share: command line, timing, the printed line.
 */
#ifndef BENCH_WALK_H
#define BENCH_WALK_H

#include "chase.h"

typedef struct bench_node *(*bench_walker)(struct bench_node *node, uint64_t steps);

/* Footprint when none is asked for; why it is so large stands in walk.c. */
size_t bench_walk_bytes(void);

/* The whole program: exit status. */
int bench_walk_main(int argc, char **argv, const char *name, bench_walker walk);

#endif
