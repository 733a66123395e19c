#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "cli.h"

#define LIBRARY_NAME "libnvmemu.so"

enum { PATIENCE_MS = 3000, NOT_STARTED = 127 };

const char *cli_variable(const char *name)
{
	size_t length = strlen(name);

	for (char **entry = environ; *entry; entry++)
		if (!strncmp(*entry, name, length) && (*entry)[length] == '=')
			return *entry + length + 1;
	return NULL;
}

/* Also with a version behind it. */
static bool is_library(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t length = strlen(LIBRARY_NAME);

	return !strncmp(name, LIBRARY_NAME, length) && (!name[length] || name[length] == '.');
}

static void append(char *list, size_t size, const char *item)
{
	size_t used = strlen(list);

	snprintf(list + used, size - used, "%s%s", used ? ":" : "", item);
}

/* What the caller preloads stays, behind the library. */
static int set_preload(const char *library)
{
	const char *old = cli_variable("LD_PRELOAD");
	size_t size = (old ? strlen(old) : 0) + (library ? strlen(library) : 0) + 2;
	char *list = calloc(1, size), *copy = old ? strdup(old) : NULL;
	int rc = -ENOMEM;

	if (list && (copy || !old)) {
		if (library)
			append(list, size, library);
		for (char *item = copy ? strtok(copy, ": ") : NULL; item; item = strtok(NULL, ": "))
			if (!is_library(item))
				append(list, size, item);
		rc = *list ? setenv("LD_PRELOAD", list, 1) : unsetenv("LD_PRELOAD");
		rc = rc ? -errno : 0;
	}
	free(list);
	free(copy);
	return rc;
}

static int set_environment(const struct cli_launch *launch)
{
	for (size_t i = 0; i < launch->setting_count; i++) {
		const struct cli_setting *s = &launch->settings[i];

		if (s->value ? setenv(s->name, s->value, 1) : unsetenv(s->name))
			return -errno;
	}
	return set_preload(launch->library);
}

static int redirect(int from, int to)
{
	return from < 0 || dup2(from, to) >= 0 ? 0 : -errno;
}

static int prepare(const struct cli_launch *launch, pid_t parent)
{
	int rc = set_environment(launch);

	if (launch->dies_with_us) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			return -ECANCELED;
	}
	if (!rc)
		rc = redirect(launch->in, STDIN_FILENO);
	if (!rc)
		rc = redirect(launch->out, STDOUT_FILENO);
	return rc ? rc : redirect(launch->err, STDERR_FILENO);
}

/* Does not return. What went wrong goes into the pipe, which a successful exec closes. */
static void become(const struct cli_launch *launch, pid_t parent, int pipe)
{
	int error = -prepare(launch, parent);

	if (launch->on_child)
		sigaction(SIGCHLD, launch->on_child, NULL);
	if (launch->mask)
		sigprocmask(SIG_SETMASK, launch->mask, NULL);
	if (!error) {
		execvp(launch->argv[0], launch->argv);
		error = errno;
	}
	while (write(pipe, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(NOT_STARTED);
}

static int exec_error(int pipe)
{
	int error = 0;
	ssize_t got;

	do
		got = read(pipe, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	return got == sizeof(error) ? -error : 0;
}

int cli_launch(const struct cli_launch *launch, struct cli_child *child)
{
	pid_t parent = getpid();
	int pipes[2], rc;

	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	child->started_ns = nve_clock_ns(CLOCK_MONOTONIC);
	child->pid = fork();
	if (child->pid == 0)
		become(launch, parent, pipes[1]);
	rc = child->pid < 0 ? -errno : 0;
	close(pipes[1]);
	if (!rc)
		rc = exec_error(pipes[0]);
	close(pipes[0]);
	if (rc && child->pid > 0)
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
			;
	if (!rc)
		child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	return rc;
}

/* Until the program has ended, a signal has come, or the time is over. Between the look at the flag
 * and the wait no signal may slip through. 0, -EINTR or -ETIMEDOUT. */
static int wait_end(const struct cli_child *child, const struct timespec *timeout,
		    bool interruptible)
{
	struct pollfd fd = {.fd = child->pidfd, .events = POLLIN};
	sigset_t all, before;
	int ready;

	if (child->pidfd < 0)
		return 0;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	do
		ready = interruptible && cli_interrupted ? -2 : ppoll(&fd, 1, timeout, &before);
	while (ready == -1 && errno == EINTR && !(interruptible && cli_interrupted));
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (ready > 0)
		return 0;
	return ready ? -EINTR : -ETIMEDOUT;
}

static uint64_t time_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

static void reap(struct cli_child *child, struct cli_end *end)
{
	struct rusage usage = {0};

	end->status = 0;
	while (wait4(child->pid, &end->status, 0, &usage) < 0 && errno == EINTR)
		;
	end->wall_ns = nve_clock_ns(CLOCK_MONOTONIC) - child->started_ns;
	end->cpu_ns = time_ns(&usage.ru_utime) + time_ns(&usage.ru_stime);
	if (child->pidfd >= 0)
		close(child->pidfd);
	child->pid = 0;
}

int cli_launch_wait(struct cli_child *child, struct cli_end *end)
{
	int rc = wait_end(child, NULL, true);

	if (!rc)
		reap(child, end);
	return rc;
}

void cli_launch_stop(struct cli_child *child)
{
	const struct timespec patience = {.tv_sec = PATIENCE_MS / 1000};
	struct cli_end end;

	kill(child->pid, SIGTERM);
	kill(child->pid, SIGCONT);
	if (child->pidfd < 0 || wait_end(child, &patience, false))
		kill(child->pid, SIGKILL);
	reap(child, &end);
}

int cli_launch_failure(int error)
{
	return error == -ENOENT || error == -ENOTDIR ? 127 : 126;
}

/* Beside the command, as built or as installed; else where installations of this build go. */
static int find_own(char path[PATH_MAX])
{
	static const char installed[] = NVMEMU_LIBDIR "/" LIBRARY_NAME;
	char self[PATH_MAX], beside[PATH_MAX + 32];

	if (!realpath("/proc/self/exe", self))
		return -errno;
	*strrchr(self, '/') = 0;
	snprintf(beside, sizeof(beside), "%s/../lib/" LIBRARY_NAME, self);
	if (realpath(beside, path) || realpath(installed, path))
		return 0;
	cli_error("no " LIBRARY_NAME ", neither as %s nor as %s; --lib names another place", beside,
		  installed);
	return -ENOENT;
}

int cli_find_library(const char *given, char path[PATH_MAX])
{
	int rc = 0;

	if (!given)
		rc = find_own(path);
	else if (!realpath(given, path) || access(path, R_OK)) {
		rc = -errno;
		cli_error("cannot read the library %s: %m", given);
	}
	if (!rc && strpbrk(path, ": ")) {
		cli_error("%s: the loader takes no path with a blank or a colon", path);
		rc = -EINVAL;
	}
	return rc;
}
