/*
 * Programs that the program starts. What has been measured is told before another one takes its
 * place; the new one finds the environment, the signal mask and the ignored signals that it would
 * have found without us. Most of this may run in a child by vfork: it changes nothing in memory but
 * the stack.
 */
#include "preload/hook_exec.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "emu/action.h"
#include "preload/hook_mask.h"
#include "preload/real.h"
#include "runtime.h"

extern char **environ;

enum function { EXECVE, EXECVPE, FEXECVE, EXECVEAT };

struct call {
	enum function function;
	int fd, flags;
	const char *path;
	char *const *argv, *const *envp;
};

static int make(const struct call *c, char *const envp[])
{
	switch (c->function) {
	case EXECVE: return nve_real.execve(c->path, c->argv, envp);
	case EXECVPE: return nve_real.execvpe(c->path, c->argv, envp);
	case FEXECVE: return nve_real.fexecve(c->fd, c->argv, envp);
	default: return nve_real.execveat(c->fd, c->path, c->argv, envp, c->flags);
	}
}

/* Returns only if the program could not be started. */
static int run(const struct call *c)
{
	struct nve_carry_room room;
	bool blocked, ignored;
	char *const *envp;
	int rc, error;

	nve_real_setup();
	envp = nve_runtime_environment(c->envp, c->path, false, &room);
	if (!nve_runtime_follows_threads())
		return make(c, envp);
	nve_runtime_before_exec();
	blocked = nve_hook_mask_show();
	ignored = nve_action_withdraw(false);
	rc = make(c, envp);
	error = errno;
	if (ignored)
		nve_action_resume();
	if (blocked)
		nve_hook_mask_hide();
	nve_runtime_exec_failed();
	errno = error;
	return rc;
}

int nve_hook_execve(const char *path, char *const argv[], char *const envp[])
{
	return run(&(struct call){EXECVE, 0, 0, path, argv, envp});
}

int nve_hook_execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	return run(&(struct call){EXECVEAT, fd, flags, path, argv, envp});
}

NVE_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	return nve_hook_execve(path, argv, envp);
}

NVE_EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	return nve_hook_execveat(fd, path, argv, envp, flags);
}

NVE_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	return run(&(struct call){FEXECVE, fd, 0, NULL, argv, envp});
}

NVE_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return run(&(struct call){EXECVPE, 0, 0, file, argv, envp});
}

NVE_EXPORT int execv(const char *path, char *const argv[])
{
	return nve_hook_execve(path, argv, environ);
}

NVE_EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

/* Arguments after the first, and the NULL. */
static size_t count_args(va_list args)
{
	va_list copy;
	size_t n = 1;

	va_copy(copy, args);
	while (va_arg(copy, char *))
		n++;
	va_end(copy);
	return n;
}

static void copy_args(char **argv, const char *first, va_list *args)
{
	*argv = (char *)first;
	while (*argv)
		*++argv = va_arg(*args, char *);
}

/* On the stack, as all that a child by vfork may use; the caller of these gives them room there. */
#define EXEC_LIST(function, path, first, environment)                                              \
	do {                                                                                       \
		char **argv;                                                                       \
		va_list args;                                                                      \
		int rc;                                                                            \
                                                                                                   \
		va_start(args, first);                                                             \
		argv = alloca(((first) ? count_args(args) + 1 : 1) * sizeof(char *));              \
		copy_args(argv, first, &args);                                                     \
		rc = run(&(struct call){function, 0, 0, path, argv, environment});                 \
		va_end(args);                                                                      \
		return rc;                                                                         \
	} while (0)

NVE_EXPORT int execl(const char *path, const char *first, ...)
{
	EXEC_LIST(EXECVE, path, first, environ);
}

NVE_EXPORT int execlp(const char *file, const char *first, ...)
{
	EXEC_LIST(EXECVPE, file, first, environ);
}

/* The environment comes after the NULL. */
NVE_EXPORT int execle(const char *path, const char *first, ...)
{
	EXEC_LIST(EXECVE, path, first, va_arg(args, char *const *));
}

#define SPAWN(real)                                                                                \
	do {                                                                                       \
		struct nve_carry_room room;                                                        \
		bool blocked;                                                                      \
		int rc;                                                                            \
                                                                                                   \
		nve_real_setup();                                                                  \
		blocked = nve_hook_mask_show();                                                    \
		rc = real(pid, path, actions, attr, argv,                                          \
			  nve_runtime_environment(envp, path, true, &room));                       \
		if (blocked)                                                                       \
			nve_hook_mask_hide();                                                      \
		return rc;                                                                         \
	} while (0)

NVE_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	SPAWN(nve_real.posix_spawn);
}

NVE_EXPORT int posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	SPAWN(nve_real.posix_spawnp);
}

NVE_EXPORT int system(const char *command)
{
	bool blocked;
	int rc;

	nve_real_setup();
	blocked = nve_hook_mask_show();
	rc = nve_real.system(command);
	if (blocked)
		nve_hook_mask_hide();
	return rc;
}

NVE_EXPORT FILE *popen(const char *command, const char *type)
{
	bool blocked;
	FILE *stream;

	nve_real_setup();
	blocked = nve_hook_mask_show();
	stream = nve_real.popen(command, type);
	if (blocked)
		nve_hook_mask_hide();
	return stream;
}
