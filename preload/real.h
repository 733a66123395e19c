/* The C library's own functions behind our hooks. */
#ifndef NVE_PRELOAD_REAL_H
#define NVE_PRELOAD_REAL_H

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>

#include "heap/arena.h"
#include "heap/unwind.h"

#define NVE_EXPORT __attribute__((visibility("default")))

typedef void (*nve_signal_handler)(int sig);

struct link_map;
struct nve_pfm; /* count/pmu/encode.h */

typedef int nve_spawn_fn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			 const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);

struct nve_real {
	long (*syscall)(long number, ...); /* first: hook_syscall.c */
	int (*pthread_create)(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
			      void *arg);
	int (*thrd_create)(thrd_t *thread, thrd_start_t start, void *arg);
	int (*sigaction)(int sig, const struct sigaction *act, struct sigaction *old);
	nve_signal_handler (*signal)(int sig, nve_signal_handler handler);
	nve_signal_handler (*sysv_signal)(int sig, nve_signal_handler handler);
	int (*siginterrupt)(int sig, int interrupt);
	int (*sigaltstack)(const stack_t *stack, stack_t *old);
	int (*pthread_sigmask)(int how, const sigset_t *set, sigset_t *old);
	int (*sigprocmask)(int how, const sigset_t *set, sigset_t *old);
	int (*sigwait)(const sigset_t *set, int *sig);
	int (*sigwaitinfo)(const sigset_t *set, siginfo_t *info);
	int (*sigtimedwait)(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);
	int (*prctl)(int option, ...);
	int (*unshare)(int flags);
	int (*setns)(int fd, int type);
	int (*setuid)(uid_t uid);
	int (*seteuid)(uid_t uid);
	int (*setreuid)(uid_t real, uid_t effective);
	int (*setresuid)(uid_t real, uid_t effective, uid_t saved);
	int (*setgid)(gid_t gid);
	int (*setegid)(gid_t gid);
	int (*setregid)(gid_t real, gid_t effective);
	int (*setresgid)(gid_t real, gid_t effective, gid_t saved);
	int (*setgroups)(size_t count, const gid_t *groups);
	int (*initgroups)(const char *user, gid_t group);
	int (*execve)(const char *path, char *const argv[], char *const envp[]);
	int (*execvpe)(const char *file, char *const argv[], char *const envp[]);
	int (*fexecve)(int fd, char *const argv[], char *const envp[]);
	int (*execveat)(int fd, const char *path, char *const argv[], char *const envp[],
			int flags);
	nve_spawn_fn *posix_spawn, *posix_spawnp;
	int (*system)(const char *command);
	FILE *(*popen)(const char *command, const char *type);
};

extern struct nve_real nve_real;

/* Looks them up; hooks that may run before our constructor call it too. */
void nve_real_setup(void);

/* libpfm4, loaded at the first call: few runs need it. NULL where it is not installed. */
const struct nve_pfm *nve_real_load_pfm(void);

/* libunwind's unw_backtrace(), loaded for us alone: nobody's exceptions may come to it. NULL: it is
 * not installed. */
nve_unwind_fn *nve_real_load_unwind(void);

/* jemalloc, from libnvmemu-arenas.so beside our own library, for us alone. -ENOENT: it is not
 * there, or cannot be loaded any more, since we were loaded late ourselves. */
int nve_real_load_arenas(struct nve_arena_functions *arenas);

/* The entry of one of our own functions in our table of symbols; NULL: it has none. */
void *nve_real_symbol_of(void *function);

/* The module that a function is in. NULL: not known. */
const struct link_map *nve_real_module_of(void *function);

/* The function of that name that would be called from caller without us, wherever the loader has it
 * from; at the least that of the named library. NULL: none. Takes the loader's locks. */
void *nve_real_for(const char *name, const char *library, const void *caller);

/* Is the program built with ThreadSanitizer? Its runtime knows the threads that it has made itself,
 * and those only once it has begun them: ours is there before, and uses what it has replaced. */
bool nve_real_is_thread_sanitized(void);

/* Are we the only copy of this library here, or the first? Given our range in memory. */
bool nve_real_is_first(uint64_t start, uint64_t end);

#endif
