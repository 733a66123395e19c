/*
 * Life cycle of the preloaded library, and the hooks that end a process without exit handlers.
 */
#include <link.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heap/heap.h"
#include "preload/hook_alloc.h"
#include "preload/hook_mask.h"
#include "preload/hook_thread.h"
#include "preload/real.h"
#include "runtime.h"

extern char **environ;

/* The library's own range in memory: samples in it are not the program's. */
static int find_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct nve_runtime_host *host = arg;
	uint64_t here = (uint64_t)(uintptr_t)find_library;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || here - start >= p->p_memsz)
			continue;
		host->library = info->dlpi_name;
		host->library_start = start;
		host->library_end = start + p->p_memsz;
		return 1;
	}
	return 0;
}

__attribute__((constructor)) static void start(void)
{
	struct nve_runtime_host host = {.envp = environ};

	nve_real_setup();
	if (getauxval(AT_SECURE))
		return;
	dl_iterate_phdr(find_library, &host);
	if (!nve_real_is_first(host.library_start, host.library_end))
		return;
	if (nve_real_is_thread_sanitized())
		host.obstacle = "the program is built with ThreadSanitizer";
	host.thread_create = nve_real.pthread_create;
	host.sigaction = nve_real.sigaction;
	host.load_pfm = nve_real_load_pfm;
	host.allocation = (struct nve_allocation_host){
		.library_start = host.library_start,
		.library_end = host.library_end,
		.next = nve_hook_alloc_next,
		.next_mapped = nve_hook_alloc_next_mapped,
		.load_unwind = nve_real_load_unwind,
		.load_arenas = nve_real_load_arenas,
		.begin = nve_hook_alloc_begin,
	};
	nve_runtime_start(&host);
	if (!nve_heap_is_on())
		nve_hook_alloc_withdraw(host.library_start, host.library_end);
	/* What was put in front of this program's environment is not its own. */
	environ += nve_carry_count(environ);
	nve_hook_thread_watch_end();
	nve_hook_mask_begin(false);
	at_quick_exit(nve_runtime_stop);
}

__attribute__((destructor)) static void stop(void)
{
	nve_runtime_stop();
}

NVE_EXPORT void _exit(int status)
{
	nve_runtime_stop();
	for (;;)
		syscall(SYS_exit_group, status);
}

NVE_EXPORT void _Exit(int status)
{
	_exit(status);
}
