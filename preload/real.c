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
#include "source_lines.h"

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

/* clang-format off */
static const struct {
	const char *name;
	size_t offset;
} dw_functions[] = {
#define FUNCTION(name) {"dwarf_" #name, offsetof(struct nve_dw, name)}
	FUNCTION(begin), FUNCTION(end), FUNCTION(nextcu), FUNCTION(offdie), FUNCTION(child),
	FUNCTION(siblingof), FUNCTION(tag), FUNCTION(attr), FUNCTION(formudata), FUNCTION(ranges),
	FUNCTION(getsrcfiles), FUNCTION(filesrc), FUNCTION(getsrclines), FUNCTION(onesrcline),
	FUNCTION(lineno), FUNCTION(lineaddr), FUNCTION(linesrc), FUNCTION(lineendsequence),
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

const struct nve_dw *nve_real_load_dw(void)
{
	static struct nve_dw dw;
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return NULL;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(dw_functions); i++) {
		void *found = dlsym(library, dw_functions[i].name);

		if (!found)
			return NULL;
		*(void **)((char *)&dw + dw_functions[i].offset) = found;
	}
	return &dw;
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

static bool defines(const struct link_map *map, const char *name)
{
	void *found = map->l_name[0] ? look_in(map->l_name, name) : NULL;

	return found && nve_real_module_of(found) == map;
}

/* Of all libraries, ours is the first that has it. */
static bool is_first_library(const char *name, void *hook)
{
	const struct link_map *map = nve_real_module_of(hook);

	for (map = map ? map->l_prev : NULL; map && map->l_prev; map = map->l_prev) {
		if (defines(map, name))
			return false;
	}
	return true;
}

/* In a program at a fixed address that takes the address of malloc(), its own way there stands for
 * the function, by a symbol that is not defined but has a value. */
bool nve_real_alloc_is_ours(void *hook)
{
	void *found = dlsym(RTLD_DEFAULT, "malloc");
	const ElfW(Sym) *symbol = found && found != hook ? nve_real_symbol_of(found) : NULL;

	if (symbol && symbol->st_shndx == SHN_UNDEF)
		return is_first_library("malloc", hook);
	return found == hook;
}

bool nve_real_is_thread_sanitized(void)
{
	return dlsym(RTLD_DEFAULT, "__tsan_init") != NULL;
}

static const char *first; /* path; NULL: what everybody finds */

/* Copies that were loaded for somebody alone are not found by their functions. */
bool nve_real_is_first(uint64_t start, uint64_t end, const char *earlier)
{
	uint64_t found = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "nvmemu_version");

	if (found && found - start >= end - start)
		return false;
	first = earlier;
	return !earlier;
}

void *nve_real_of_first(const char *name)
{
	return first ? look_in(first, name) : dlsym(RTLD_DEFAULT, name);
}
