#include "preload/real.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/base.h"

struct nve_real nve_real;

/* clang-format off */
static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define FUNCTION(name) {#name, offsetof(struct nve_real, name)}
	FUNCTION(pthread_create),
	FUNCTION(sigaction),
	FUNCTION(signal),
	FUNCTION(sysv_signal),
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
	FUNCTION(syscall),
#undef FUNCTION
};
/* clang-format on */

void nve_real_setup(void)
{
	if (nve_real.syscall) /* the last one in the table */
		return;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(functions); i++)
		*(void **)((char *)&nve_real + functions[i].offset) =
			dlsym(RTLD_NEXT, functions[i].name);
}

bool nve_real_is_first(uint64_t start, uint64_t end)
{
	uint64_t found = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "nvmemu_version");

	return !found || found - start < end - start;
}
