/*
 * Loads a module and lets it run; then copies of the library, by path, for itself alone: whatever
 * they are asked is to be done once, by the one that is at work.
 *
 *   regions_opener MODULE [COPY...]
 */
#include <dlfcn.h>

#include "work.h"

static void mark_by(const char *path)
{
	void *copy = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*begin)(const char *name);
	void (*end)(void);

	if (!copy)
		fprintf(stderr, "%s\n", dlerror());
	CHECK(copy);
	*(void **)&begin = dlsym(copy, "nvmemu_region_begin");
	*(void **)&end = dlsym(copy, "nvmemu_region_end");
	CHECK(begin && end);
	begin("by a copy");
	work_ms(20);
	end();
}

int main(int argc, char **argv)
{
	void *module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	void (*run)(void);

	if (!module)
		fprintf(stderr, "%s\n", dlerror());
	CHECK(module);
	*(void **)&run = dlsym(module, "module_run");
	CHECK(run);
	run();
	for (int i = 2; i < argc; i++)
		mark_by(argv[i]);
	return 0;
}
