/*
 * The environment of programs that this one starts, so that children are emulated, or are not.
 *
 * A program may start another with an environment of its own making, in which neither the library
 * nor its settings are left. They are carried over: in front of that environment, from where the
 * library takes them away again at its start in the new program (nve_carry_count), before main()
 * and in the order that the kernel has laid out. An environment that names LD_PRELOAD, or one of
 * our settings, was not cleaned: what it says holds.
 *
 * Pure; no malloc, signal-safe, and fit for a child by vfork that borrows its parent's memory.
 */
#ifndef NVE_CARRY_H
#define NVE_CARRY_H

#include <stddef.h>

enum { NVE_CARRY_ENTRIES = 512, NVE_CARRY_OWN = 32, NVE_CARRY_BYTES = 8192 };

/* What is carried. Zeroed: nothing. */
struct nve_carry {
	size_t count;
	char *entry[NVE_CARRY_OWN];
	size_t used;
	char text[NVE_CARRY_BYTES];
};

/* Room for a changed environment; on the stack of the thread that starts a program. */
struct nve_carry_room {
	char *entry[NVE_CARRY_ENTRIES];
	char preload[1024];
};

/* From the environment that this process was started with; library: its absolute path. Nothing is
 * carried if the library did not come by LD_PRELOAD, or if there is no room for all of it. */
void nve_carry_setup(struct nve_carry *c, char *const envp[], const char *library);

/* envp (NULL: empty) with what was cleaned away from it; or envp itself, also where it is too long.
 * The result may lie in room. */
char *const *nve_carry_add(const struct nve_carry *c, char *const envp[],
			   struct nve_carry_room *room);

/* envp without the library in its LD_PRELOAD, in the same way. */
char *const *nve_carry_strip(char *const envp[], const char *library, struct nve_carry_room *room);

/* How many entries at the start of envp were put there by nve_carry_add. */
size_t nve_carry_count(char *const envp[]);

#endif
