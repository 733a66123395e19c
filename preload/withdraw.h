/*
 * Hooks that take themselves out of the way: the words through which modules call them get the
 * functions behind instead, and the loader finds our symbols no more. What cannot be changed goes
 * on leading to the hook, which passes the call on.
 */
#ifndef NVE_PRELOAD_WITHDRAW_H
#define NVE_PRELOAD_WITHDRAW_H

#include <stddef.h>
#include <stdint.h>

struct nve_withdraw_pair {
	const char *name;
	void *hook, *next;
};

/* start, end: our library in memory. */
void nve_withdraw(const struct nve_withdraw_pair *pairs, size_t count, uint64_t start,
		  uint64_t end);

/*
 * The opposite: who looks for the functions behind in their own module alone finds our hooks. Those
 * are plugins that are loaded with RTLD_DEEPBIND: what they free must come to who has allocated it.
 */
void nve_withdraw_others(const struct nve_withdraw_pair *pairs, size_t count);

#endif
