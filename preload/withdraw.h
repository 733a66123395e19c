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
	void *hook, *next;
};

/* start, end: our library in memory. */
void nve_withdraw(const struct nve_withdraw_pair *pairs, size_t count, uint64_t start,
		  uint64_t end);

#endif
