/*
 * To be preloaded beside ours: a library that stands before mmap, open and getenv as others do,
 * finds what is behind by dlsym, and allocates there.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *behind(const char *name)
{
	free(malloc(100));
	return dlsym(RTLD_NEXT, name);
}

void *mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	static void *(*next)(void *, size_t, int, int, int, off_t);

	if (!next)
		*(void **)&next = behind("mmap");
	return next(addr, size, prot, flags, fd, offset);
}

int open(const char *path, int flags, ...)
{
	static int (*next)(const char *, int, ...);
	va_list args;
	int mode;

	if (!next)
		*(void **)&next = behind("open");
	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	return next(path, flags, mode);
}

char *getenv(const char *name)
{
	static char *(*next)(const char *);

	if (!next)
		*(void **)&next = behind("getenv");
	return next(name);
}
