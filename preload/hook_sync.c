/*
 * Calls that let another thread go on, or wait for one: the delay that the calling thread owes is
 * served before. All of them come from the rows of real_sync.h.
 *
 * Most threads owe nothing, or hardly anything: then a hook is a look at a variable of the thread
 * and a jump.
 */
#include "emu/handover.h"
#include "preload/real.h"
#include "preload/real_sync.h"

#define ADDRESS()     ((uint64_t)(uintptr_t)__builtin_return_address(0))
#define IS_ARMED(bit) __builtin_expect((nve_handover_armed & (bit)) != 0, 0)

/* The rare way is a function of its own, so that the usual one needs no stack. */
#define PASS(bit, type, name, params, args)                                                        \
	static __attribute__((noinline)) type pass_##name params                                   \
	{                                                                                          \
		nve_handover_pass(ADDRESS());                                                      \
		return nve_real_sync.name args;                                                    \
	}                                                                                          \
	NVE_EXPORT type name params                                                                \
	{                                                                                          \
		return IS_ARMED(bit) ? pass_##name args : nve_real_sync.name args;                 \
	}

#define WAIT(bit, type, name, params, args)                                                        \
	static __attribute__((noinline)) type wait_##name params                                   \
	{                                                                                          \
		type result;                                                                       \
                                                                                                   \
		nve_handover_before_wait();                                                        \
		result = nve_real_sync.name args;                                                  \
		nve_handover_after_wait(ADDRESS());                                                \
		return result;                                                                     \
	}                                                                                          \
	NVE_EXPORT type name params                                                                \
	{                                                                                          \
		return IS_ARMED(bit) ? wait_##name args : nve_real_sync.name args;                 \
	}

#define SYNC_PASS(type, name, params, args) PASS(NVE_HANDOVER_SYNC, type, name, params, args)
#define SYNC_WAIT(type, name, params, args) WAIT(NVE_HANDOVER_SYNC, type, name, params, args)
#define IO_WAIT(type, name, params, args)   WAIT(NVE_HANDOVER_IO, type, name, params, args)

#define HOOK(kind, type, name, params, args, version) kind(type, name, params, args)
NVE_REAL_SYNC(HOOK)

/* Other libraries' constructors may call before ours has run. */
#define FIRST(kind, type, name, params, args, version)                                             \
	static type first_##name params                                                            \
	{                                                                                          \
		nve_real_setup();                                                                  \
		return nve_real_sync.name args;                                                    \
	}
NVE_REAL_SYNC(FIRST)

#define INITIAL(kind, type, name, params, args, version) .name = first_##name,
struct nve_real_sync nve_real_sync = {NVE_REAL_SYNC(INITIAL)};
