/*
 * libnvmemu: emulate slower memory under unmodified programs.
 *
 * No program needs this header: LD_PRELOAD=libnvmemu.so is enough. One that links with the library
 * (-lnvmemu) can mark regions of its run, for which the report then tells time, stall time, misses
 * and delay one by one, and to which emulation can be confined (NVM_REGIONS=only). It runs natively
 * unless the environment asks for emulation (NVM_RLAT, NVM_WLAT); then all of these functions do
 * nothing, in a few nanoseconds.
 *
 * A program that shall also run where there is no library defines NVMEMU_WEAK before it includes
 * this header, does not link with the library (LD_PRELOAD brings it), and asks NVMEMU_PRESENT
 * before it calls. Compile such a program with -fPIE or -fPIC, as is usual.
 *
 * All functions may be called from any thread, and all but nvmemu_stats() from signal handlers.
 * None of them sets errno.
 */
#ifndef NVMEMU_H
#define NVMEMU_H

#include <stddef.h>
#include <stdint.h>

/* Of this header. The library's own may be later; see nvmemu_version. */
#define NVMEMU_VERSION_MAJOR 0
#define NVMEMU_VERSION_MINOR 1
#define NVMEMU_VERSION_PATCH 0
#define NVMEMU_VERSION       "0.1.0"

#ifdef NVMEMU_WEAK
#define NVMEMU_API     __attribute__((weak))
#define NVMEMU_PRESENT (nvmemu_region_begin != 0)
#else
#define NVMEMU_API
#define NVMEMU_PRESENT 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that the program runs with, as "0.1.0". A constant; never NULL. */
NVMEMU_API const char *nvmemu_version(void);

/*
 * From here to nvmemu_region_end() the calling thread is in a region of that name. Regions nest, 64
 * deep; a region is told apart by its name and by the one that it was begun in, and a process may
 * have 255 of them. name is copied; what is beyond 63 bytes is cut. Misuse (too many, too deep, no
 * name, an end without a begin) is counted, told by the report, and otherwise without consequence.
 *
 * A new thread begins outside of all regions, a forked child where the forking thread was.
 */
NVMEMU_API void nvmemu_region_begin(const char *name);

/* Ends the innermost region of the calling thread. */
NVMEMU_API void nvmemu_region_end(void);

/* Ends the innermost region of that name, with those that were begun in it and not ended, which are
 * counted as misnested. */
NVMEMU_API void nvmemu_region_end_named(const char *name);

/* Between these the calling thread is not emulated: what it does is counted, but no delay is owed
 * for it. They nest; regions may begin and end in between. */
NVMEMU_API void nvmemu_pause(void);
NVMEMU_API void nvmemu_resume(void);

#define NVMEMU_PROCESS 0 /* all threads, also those that have ended */
#define NVMEMU_THREAD  1 /* the calling one */

/* Totals so far, as in the report: to the end of each thread's last epoch, 20 ms of its CPU time
 * unless NVM_EPOCH says otherwise. Times are nanoseconds. */
struct nvmemu_stats {
	size_t size;                    /* set by the caller: sizeof(struct nvmemu_stats) */
	int scope;                      /* set by the caller: NVMEMU_PROCESS or NVMEMU_THREAD */
	int emulated;                   /* 0: not emulated, and all that follows is 0 */
	uint64_t cpu_ns;                /* CPU time of the program itself */
	uint64_t stall_ns, stall_wb_ns; /* waiting for memory; for lines that get written */
	uint64_t ma_ro, ma_wb;          /* missing accesses, read-only and write-back */
	uint64_t delay_owed_ns, delay_paid_ns;
	uint64_t epochs;
};

/* Fills the structure. Returns 0; -EINVAL where size or scope are none. Takes a lock; not for
 * signal handlers. */
NVMEMU_API int nvmemu_stats(struct nvmemu_stats *stats);

/*
 * Memory that is on the emulated NVM whatever the guidance file (NVM_PLACE=FILE) says; with
 * NVM_BIND, on that node. Without such a file, or where the library is inert, the two are malloc()
 * and free(). It is the call that counts: all memory of one call path is on NVM. Either kind of
 * block may be given to realloc() and to free(), too, and what realloc() moves is its caller's.
 * NULL, with errno set to ENOMEM: no memory. Thread-safe; not for signal handlers.
 */
NVMEMU_API void *nvmemu_malloc(size_t size);
NVMEMU_API void nvmemu_free(void *p);

#ifdef __cplusplus
}

namespace nvmemu
{

/* A region from here to the end of the block, however that is left. */
class region
{
      public:
	explicit region(const char *name)
	{
		if (NVMEMU_PRESENT)
			nvmemu_region_begin(name);
	}

	~region()
	{
		if (NVMEMU_PRESENT)
			nvmemu_region_end();
	}

      private:
	region(const region &);
	region &operator=(const region &);
};

/* No emulation from here to the end of the block. */
class pause
{
      public:
	pause()
	{
		if (NVMEMU_PRESENT)
			nvmemu_pause();
	}

	~pause()
	{
		if (NVMEMU_PRESENT)
			nvmemu_resume();
	}

      private:
	pause(const pause &);
	pause &operator=(const pause &);
};

} /* namespace nvmemu */
#endif

#endif
