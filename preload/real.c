#include "preload/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "base/log.h"
#include "preload/real_alloc.h"
#include "preload/real_sync.h"
#include "runtime.h"

struct nve_real nve_real;

/* clang-format off */
static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define FUNCTION(name) {#name, offsetof(struct nve_real, name)}
	FUNCTION(pthread_create),
	FUNCTION(thrd_create),
	FUNCTION(sigaction),
	FUNCTION(signal),
	FUNCTION(sysv_signal),
	FUNCTION(siginterrupt),
	FUNCTION(sigaltstack),
	FUNCTION(pthread_sigmask),
	FUNCTION(sigprocmask),
	FUNCTION(sigwait),
	FUNCTION(sigwaitinfo),
	FUNCTION(sigtimedwait),
	FUNCTION(prctl),
	FUNCTION(unshare),
	FUNCTION(setns),
	FUNCTION(setuid),
	FUNCTION(seteuid),
	FUNCTION(setreuid),
	FUNCTION(setresuid),
	FUNCTION(setgid),
	FUNCTION(setegid),
	FUNCTION(setregid),
	FUNCTION(setresgid),
	FUNCTION(setgroups),
	FUNCTION(initgroups),
	FUNCTION(execve),
	FUNCTION(execvpe),
	FUNCTION(fexecve),
	FUNCTION(execveat),
	FUNCTION(posix_spawn),
	FUNCTION(posix_spawnp),
	FUNCTION(system),
	FUNCTION(popen),
	FUNCTION(syscall),
#undef FUNCTION
};
/* clang-format on */

/* clang-format off */
static const struct {
	const char *name, *version;
	size_t offset;
} sync_functions[] = {
#define FUNCTION(kind, type, name, params, args, version)                                          \
	{#name, version, offsetof(struct nve_real_sync, name)},
	NVE_REAL_SYNC(FUNCTION)
#undef FUNCTION
};
/* clang-format on */

static void *look_up(const char *name, const char *version)
{
	void *found = version ? dlvsym(RTLD_NEXT, name, version) : NULL;

	return found ? found : dlsym(RTLD_NEXT, name);
}

void nve_real_setup(void)
{
	if (nve_real.syscall) /* the last one in the table */
		return;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(sync_functions); i++)
		*(void **)((char *)&nve_real_sync + sync_functions[i].offset) =
			look_up(sync_functions[i].name, sync_functions[i].version);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(functions); i++)
		*(void **)((char *)&nve_real + functions[i].offset) =
			dlsym(RTLD_NEXT, functions[i].name);
}

/* clang-format off */
static const struct {
	const char *name;
	size_t offset;
} alloc_functions[] = {
#define FUNCTION(type, name, params, args) {#name, offsetof(struct nve_real_alloc, name)},
	NVE_REAL_ALLOC(FUNCTION)
#undef FUNCTION
};
/* clang-format on */

/* The C library's own names: what serves until the search is over. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void __libc_free(void *p);

struct nve_real_alloc nve_real_alloc;

void nve_real_alloc_setup(void)
{
	struct nve_real_alloc found;

	if (nve_real_alloc.malloc)
		return;
	nve_real_alloc.malloc = __libc_malloc;
	nve_real_alloc.calloc = __libc_calloc;
	nve_real_alloc.realloc = __libc_realloc;
	nve_real_alloc.free = __libc_free;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(alloc_functions); i++)
		*(void **)((char *)&found + alloc_functions[i].offset) =
			dlsym(RTLD_NEXT, alloc_functions[i].name);
	nve_real_alloc = found;
}

void *(*nve_real_alloc_mremap(void))(void *, size_t, size_t, int, ...)
{
	static void *(*found)(void *, size_t, size_t, int, ...);

	if (!found)
		*(void **)&found = dlsym(RTLD_NEXT, "mremap");
	return found;
}

bool nve_real_alloc_is_ours(void *hook)
{
	return dlsym(RTLD_DEFAULT, "malloc") == hook;
}

void *nve_real_symbol_of(void *function)
{
	Dl_info info;
	void *symbol = NULL;

	if (!dladdr1(function, &info, &symbol, RTLD_DL_SYMENT) || info.dli_saddr != function)
		return NULL;
	return symbol;
}

const struct link_map *nve_real_module_of(void *function)
{
	struct link_map *map = NULL;
	Dl_info info;

	return dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

nve_unwind_fn *nve_real_load_unwind(void)
{
	void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);

	return library ? (nve_unwind_fn *)dlsym(library, "unw_backtrace") : NULL;
}

/* A library beside our own. */
static void *load_beside(const char *name)
{
	char path[PATH_MAX];
	Dl_info info;
	const char *slash;

	if (!dladdr((void *)load_beside, &info) || !(slash = strrchr(info.dli_fname, '/')))
		return NULL;
	nve_format(path, sizeof(path), "%.*s/%s", (int)(slash - info.dli_fname), info.dli_fname,
		   name);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

int nve_real_load_arenas(struct nve_arena_functions *arenas)
{
	void *library = load_beside("libnvmemu-arenas.so");

	if (!library)
		return -ENOENT;
	*(void **)&arenas->malloc = dlsym(library, "je_malloc");
	*(void **)&arenas->mallocx = dlsym(library, "je_mallocx");
	*(void **)&arenas->sdallocx = dlsym(library, "je_sdallocx");
	*(void **)&arenas->nallocx = dlsym(library, "je_nallocx");
	*(void **)&arenas->mallctl = dlsym(library, "je_mallctl");
	*(void **)&arenas->mallctlnametomib = dlsym(library, "je_mallctlnametomib");
	*(void **)&arenas->mallctlbymib = dlsym(library, "je_mallctlbymib");
	return arenas->malloc && arenas->mallctlbymib ? 0 : -ENOENT;
}

const struct nve_pfm *nve_real_load_pfm(void)
{
	static struct nve_pfm pfm;
	void *library = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return NULL;
	*(void **)&pfm.initialize = dlsym(library, "pfm_initialize");
	*(void **)&pfm.get_os_event_encoding = dlsym(library, "pfm_get_os_event_encoding");
	return pfm.initialize && pfm.get_os_event_encoding ? &pfm : NULL;
}

static void *look_in(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD), *found;

	if (!handle)
		return NULL;
	found = dlsym(handle, name);
	dlclose(handle);
	return found;
}

/* Libraries that were loaded for somebody alone are found among what he needs. */
void *nve_real_for(const char *name, const char *library, const void *caller)
{
	void *found = dlsym(RTLD_NEXT, name);
	struct link_map *map;
	Dl_info info;

	if (found || !dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map->l_name[0])
		return found;
	found = look_in(map->l_name, name);
	return found ? found : look_in(library, name);
}

bool nve_real_is_thread_sanitized(void)
{
	return dlsym(RTLD_DEFAULT, "__tsan_init") != NULL;
}

bool nve_real_is_first(uint64_t start, uint64_t end)
{
	uint64_t found = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "nvmemu_version");

	return !found || found - start < end - start;
}
