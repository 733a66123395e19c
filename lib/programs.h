/* The environment of programs that this one starts: carry.h with what this process knows. */
#ifndef NVE_PROGRAMS_H
#define NVE_PROGRAMS_H

#include <stdbool.h>

#include "carry.h"

/* library: our path as the loader has it, relative to cwd; envp: what the process was started with;
 * follow: enum nve_option_follow. Once. */
void nve_programs_setup(const char *library, const char *cwd, char *const envp[], int follow);

/* For a program in the file path (NULL: not known); native: it is a child that is not emulated. The
 * result is envp, or lies in room. Signal-safe; in a child by vfork, too. */
char *const *nve_programs_environment(char *const envp[], const char *path, bool native,
				      struct nve_carry_room *room);

#endif
