/*
 * The life of the program's threads under emulation: what each gets at its birth, and its last
 * words. A program of one thread stays so in its own eyes and those of the C library, which then
 * takes no locks: monitors begin with the first thread that it makes; but hardware counters and
 * records need them from the start.
 */
#ifndef NVE_LIFE_H
#define NVE_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "count/replay.h"
#include "emu/thread.h"

/* Gives the calling thread a state, a timer, and perhaps a monitor. number: of the thread; replay:
 * the record, or NULL. 0 or -errno. */
int nve_life_begin(uint64_t number, struct nve_replay *replay);

/* The program is about to make a thread. */
void nve_life_before_thread(void);

/* A forked child has one thread, and has made none. */
void nve_life_after_fork(void);

/* The calling thread's last epoch ends here, and what it owes is served before anybody may go on.
 */
void nve_life_close(struct nve_thread *t);

/* The same, and the thread is forgotten. */
void nve_life_end(struct nve_thread *t);

/* The epoch so far ends, and what the calling thread owes is served; its monitor pauses until
 * nve_life_go_on(). */
void nve_life_settle(struct nve_thread *t);
void nve_life_go_on(struct nve_thread *t);

/* All monitors end, or start again. */
void nve_life_alone(bool enter);

/* All timers and monitors end, for good. */
void nve_life_silence(void);

#endif
