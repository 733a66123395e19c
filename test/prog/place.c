/*
 * Memory of two allocation sites: `near` is read at random, `far` is written at random, less often.
 * Each access waits for the one before.
 *
 *   plain    far by malloc()
 *   marked   far by nvmemu_malloc(), if there is one
 *   mapped   far by mmap()
 *   data     far is static data
 *   fork     the walk is a child's
 *   bound    no walk; tells where the memory of either is bound, from numa_maps
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 5000000, BYTES = 96 << 20, FAR_ONE_OF = 4, SKIPPED = 77 };

/* A call, and no jump; in a function that is not made one with its neighbour. */
#define CALLED(p, name) __asm__ volatile("/* " name " */" : "+r"(p))

static __attribute__((noinline)) void *make_near(size_t bytes)
{
	void *p = malloc(bytes); /* site: near */

	CALLED(p, "near");
	return p;
}

static __attribute__((noinline)) void *make_far(size_t bytes)
{
	void *p = malloc(bytes); /* site: far */

	CALLED(p, "far");
	return p;
}

static void *(*marked_malloc)(size_t bytes);

static __attribute__((noinline)) void *make_marked(size_t bytes)
{
	void *p = marked_malloc(bytes);

	CALLED(p, "marked");
	return p;
}

static __attribute__((noinline)) void *make_mapped(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CALLED(p, "mapped");
	return p == MAP_FAILED ? NULL : p;
}

static unsigned char data[BYTES];

static void walk(const unsigned char *near, unsigned char *far)
{
	uint64_t x = 1, seen = 0;

	for (int i = 0; i < STEPS; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u + seen;
		if (i % FAR_ONE_OF)
			seen = near[(x >> 33) % BYTES];
		else
			seen = (uint64_t)far[(x >> 33) % BYTES]++ >> 8;
	}
	if (seen)
		puts("not all zeros");
}

static void tell_binding(const char *name, const void *p)
{
	char line[512], policy[64] = "?", found[64];
	FILE *f = fopen("/proc/self/numa_maps", "re");
	uint64_t at;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %63s", &at, found) == 2 && at <= (uintptr_t)p)
			memcpy(policy, found, sizeof(policy));
	}
	if (f)
		fclose(f);
	printf("%s %s\n", name, f ? policy : "none");
}

static int in_child(const unsigned char *near, unsigned char *far)
{
	int status = 0;

	if (!fork()) {
		walk(near, far);
		exit(0);
	}
	wait(&status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	unsigned char *near = make_near(BYTES), *far;

	*(void **)&marked_malloc = dlsym(RTLD_DEFAULT, "nvmemu_malloc");
	if (!strcmp(mode, "marked") && !marked_malloc)
		return SKIPPED;
	far = !strcmp(mode, "marked")   ? make_marked(BYTES)
	      : !strcmp(mode, "mapped") ? make_mapped(BYTES)
	      : !strcmp(mode, "data")   ? data
					: make_far(BYTES);
	if (!near || !far)
		return 1;
	if (!strcmp(mode, "bound")) {
		tell_binding("near", near);
		tell_binding("far", far);
		return 0;
	}
	memset(near, 0, BYTES);
	memset(far, 0, BYTES);
	if (!strcmp(mode, "fork"))
		return in_child(near, far);
	walk(near, far);
	free(near);
	if (!strcmp(mode, "plain"))
		free(far);
	return 0;
}
