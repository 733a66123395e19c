/*
 * The allocation family, and calls of the loader that allocation sites depend on. Each hook is a
 * jump to where its word in the table says: at first, to the search for the functions behind, then
 * to those, or to lib/heap.
 */
#include "preload/hook_alloc.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heap/alloc.h"
#include "heap/caller.h"
#include "heap/heap.h"
#include "heap/sites.h"
#include "nvmemu.h"
#include "placing.h"
#include "preload/real.h"
#include "preload/real_alloc.h"
#include "preload/withdraw.h"

#define FIRST(type, name, params, args)                                                            \
	static type first_##name params                                                            \
	{                                                                                          \
		nve_hook_alloc_next();                                                             \
		return nve_real_alloc.name args;                                                   \
	}
#define INITIAL(type, name, params, args) .name = first_##name,
#define DECLARE(type, name, params, args) static type first_##name params;
/* By its name, a hook may be somebody else's: of a library that stands before us. */
#define HOOK(type, name, params, args)                                                             \
	static type hook_##name params                                                             \
	{                                                                                          \
		return table.name args;                                                            \
	}                                                                                          \
	NVE_EXPORT type name params __attribute__((alias("hook_" #name)));
#define ADDRESS(type, name, params, args)                                                          \
	{#name, (void *)hook_##name, offsetof(struct nve_real_alloc, name)},

NVE_REAL_ALLOC(DECLARE)
static struct nve_real_alloc table = {NVE_REAL_ALLOC(INITIAL)};
NVE_REAL_ALLOC(FIRST)
NVE_REAL_ALLOC(HOOK)

static bool begun; /* the hooks lead to lib/heap */

NVE_EXPORT void *nvmemu_malloc(size_t size)
{
	struct nve_caller caller = NVE_CALLER();

	if (!nve_placing_on() || !nve_heap_is_on())
		return table.malloc(size);
	return nve_placing_malloc(size, &caller);
}

NVE_EXPORT void nvmemu_free(void *p)
{
	table.free(p);
}

struct nve_alloc_next nve_hook_alloc_next(void)
{
	nve_real_alloc_setup();
	/* Not while they are looked for: some of them may be needed for that. */
	if (nve_real_alloc.prlimit64 && table.malloc == first_malloc)
		table = nve_real_alloc;
	return (struct nve_alloc_next){
		.malloc = nve_real_alloc.malloc,
		.calloc = nve_real_alloc.calloc,
		.realloc = nve_real_alloc.realloc,
		.free = nve_real_alloc.free,
		.memalign = nve_real_alloc.memalign,
		.malloc_usable_size = nve_real_alloc.malloc_usable_size,
	};
}

struct nve_mapped_next nve_hook_alloc_next_mapped(void)
{
	nve_real_alloc_setup();
	return (struct nve_mapped_next){
		.mmap = nve_real_alloc.mmap,
		.munmap = nve_real_alloc.munmap,
		.mremap = nve_real_alloc_mremap(),
	};
}

/* Its last argument need not be there: reading it is harmless, and so is passing it on. */
NVE_EXPORT void *mremap(void *addr, size_t old_size, size_t size, int flags, ...)
{
	va_list args;
	void *wanted;

	va_start(args, flags);
	wanted = va_arg(args, void *);
	va_end(args);
	if (!begun)
		return nve_real_alloc_mremap()(addr, old_size, size, flags, wanted);
	return nve_mapped_mremap(addr, old_size, size, flags, wanted);
}

/* While a visitor is called, the loader's list of modules is locked. */
static int iterate(nve_phdr_fn *visit, void *arg)
{
	int result;

	nve_alloc_in_loader(1);
	result = nve_real_alloc.dl_iterate_phdr(visit, arg);
	nve_alloc_in_loader(0);
	return result;
}

static int close_module(void *handle)
{
	int result = nve_real_alloc.dlclose(handle);

	nve_sites_modules_changed();
	return result;
}

/* What we have reserved of the address space counts: it must fit before a limit comes. */
static void make_room(pid_t pid, enum __rlimit_resource what, uint64_t bytes)
{
	if (what == RLIMIT_AS && (!pid || pid == getpid()))
		nve_alloc_limit(bytes);
}

static int limit(__rlimit_resource_t what, const struct rlimit *given)
{
	make_room(0, what, given ? given->rlim_cur : RLIM_INFINITY);
	return nve_real_alloc.setrlimit(what, given);
}

static int limit64(__rlimit_resource_t what, const struct rlimit64 *given)
{
	make_room(0, what, given ? given->rlim_cur : RLIM64_INFINITY);
	return nve_real_alloc.setrlimit64(what, given);
}

static int limit_of(pid_t pid, enum __rlimit_resource what, const struct rlimit *given,
		    struct rlimit *old)
{
	make_room(pid, what, given ? given->rlim_cur : RLIM_INFINITY);
	return nve_real_alloc.prlimit(pid, what, given, old);
}

static int limit64_of(pid_t pid, enum __rlimit_resource what, const struct rlimit64 *given,
		      struct rlimit64 *old)
{
	make_room(pid, what, given ? given->rlim_cur : RLIM64_INFINITY);
	return nve_real_alloc.prlimit64(pid, what, given, old);
}

/* Our hooks, and what is behind each. */
static const struct {
	const char *name;
	void *hook;
	size_t offset;
} hooks[] = {NVE_REAL_ALLOC(ADDRESS)};

enum { HOOKS = sizeof(hooks) / sizeof(hooks[0]) };

static void fill_pairs(struct nve_withdraw_pair pairs[HOOKS])
{
	for (size_t i = 0; i < HOOKS; i++) {
		pairs[i].name = hooks[i].name;
		pairs[i].hook = hooks[i].hook;
		pairs[i].next = *(void **)((char *)&nve_real_alloc + hooks[i].offset);
	}
}

int nve_hook_alloc_begin(void)
{
	struct nve_withdraw_pair pairs[HOOKS];

	if (!nve_real_alloc_is_ours((void *)hook_malloc))
		return -ENOTSUP;
	fill_pairs(pairs);
	nve_withdraw_others(pairs, HOOKS);
	begun = true;
	table = (struct nve_real_alloc){
		.malloc = nve_alloc_malloc,
		.calloc = nve_alloc_calloc,
		.realloc = nve_alloc_realloc,
		.reallocarray = nve_alloc_reallocarray,
		.free = nve_alloc_free,
		.memalign = nve_alloc_aligned,
		.aligned_alloc = nve_alloc_aligned,
		.posix_memalign = nve_alloc_posix_memalign,
		.valloc = nve_alloc_valloc,
		.pvalloc = nve_alloc_pvalloc,
		.malloc_usable_size = nve_alloc_usable_size,
		.mmap = nve_mapped_mmap,
		.mmap64 = nve_mapped_mmap,
		.munmap = nve_mapped_munmap,
		.dl_iterate_phdr = iterate,
		.dlclose = close_module,
		.setrlimit = limit,
		.setrlimit64 = limit64,
		.prlimit = limit_of,
		.prlimit64 = limit64_of,
	};
	return 0;
}

void nve_hook_alloc_withdraw(uint64_t start, uint64_t end)
{
	struct nve_withdraw_pair pairs[HOOKS];

	nve_hook_alloc_next();
	fill_pairs(pairs);
	nve_withdraw(pairs, HOOKS, start, end);
}
