#include "preload/real.h"

#include <dlfcn.h>

struct nve_real nve_real;

void nve_real_setup(void)
{
	if (!nve_real.pthread_create)
		*(void **)&nve_real.pthread_create = dlsym(RTLD_NEXT, "pthread_create");
}
