/* opener LIBRARY: loads the library while running, and unloads it again. */
#include <dlfcn.h>

#include "work.h"

int main(int argc, char **argv)
{
	void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);

	CHECK(library && dlsym(library, "nvmemu_version"));
	work_ms(100);
	CHECK(!dlclose(library));
	work_ms(100);
	puts("hello");
	return 0;
}
