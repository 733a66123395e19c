/*
 * Start, stop and fork of the whole: the one place that knows every module.
 */
#ifndef NVE_RUNTIME_H
#define NVE_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "allocation.h"
#include "carry.h"
#include "count/pmu/encode.h"
#include "emu/action.h"
#include "emu/monitor.h"

struct nve_runtime_host {
	char *const *envp;
	const char *library;  /* our path, as the loader has it */
	const char *obstacle; /* what in this program does not let it be emulated; NULL: nothing */
	uint64_t library_start, library_end; /* our code in memory */
	nve_thread_create_fn *thread_create; /* libc's own */
	nve_sigaction_fn *sigaction;
	const struct nve_pfm *(*load_pfm)(void); /* libpfm4, or NULL where there is none */
	struct nve_allocation_host allocation;
};

/*
 * In the constructor. Reads the settings; ends the process with status 125 where they are wrong, or
 * where NVM_STRICT is on and emulation is impossible. Otherwise the program runs natively with one
 * line on stderr.
 */
void nve_runtime_start(const struct nve_runtime_host *host);

/* Serves what the calling thread owes and writes the report. Once; later calls and those of a
 * process that only borrows our memory (vfork) do nothing. */
void nve_runtime_stop(void);

/* Are new threads emulated? */
bool nve_runtime_follows_threads(void);

/* Must our signals be kept from the program's eyes here? Not in a process that only borrows our
 * memory (vfork), and not where system calls of our own are forbidden. */
bool nve_runtime_hides_signals(void);

/*
 * The environment for a program (path; NULL: not known) that is started in a child process (child),
 * or in this one's place. It is envp, or lies in room. Signal-safe; in a child by vfork, too.
 */
char *const *nve_runtime_environment(char *const envp[], const char *path, bool child,
				     struct nve_carry_room *room);

/*
 * Before another program takes this one's place: what the calling thread owes is served, and what
 * has been measured is told, in a report of its own. If that program cannot be started, the second
 * makes it undone. Nothing of it in a child by vfork.
 */
void nve_runtime_before_exec(void);
void nve_runtime_exec_failed(void);

/* Around a call that wants a process of one thread: the monitors end, and start again. */
void nve_runtime_alone(bool enter);

/*
 * The process is about to put itself under a system-call filter, which may punish whatever we do
 * afterwards by death, or to do without the time stamp counter: emulation ends here, and the report
 * is written now.
 */
void nve_runtime_before_filter(void);

/* The program is about to make a thread. Its number: they count in the order of pthread_create(),
 * in which the threads themselves need not begin. */
uint64_t nve_runtime_before_thread(void);

/* Birth and death of the calling thread. */
void nve_runtime_thread_begin(uint64_t number);
void nve_runtime_thread_end(void);

#endif
