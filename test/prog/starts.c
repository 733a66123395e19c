/*
 * starts WAY ENVIRONMENT [COMMAND...]: works, starts COMMAND in one of many ways with one of some
 * environments, and waits for it. Without COMMAND itself, as "starts show" or "starts show-all":
 * tells all that a program inherits, works, and ends with status 3. Without anything it starts
 * programs that are not there.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

extern char **environ;

static char self[PATH_MAX];
static char *words[16] = {self, "show"};
static char *const none[] = {NULL};
static char *own[] = {"FIRST=1", "PATH=/usr/bin:/bin", "LAST=2", NULL};
static char *const named[] = {"LD_PRELOAD=", "OTHER=3", NULL};

/* signals: also those that the kernel has blocked, ignored or pending. */
static void show_status(int signals)
{
	static const char *const keys[] = {
		"SigBlk:",       "SigIgn:",  "SigPnd:",  "ShdPnd:", "SigCgt:",
		"Cpus_allowed:", "Seccomp:", "Threads:", "CapEff:", "NoNewPrivs:"};
	enum { KEYS = sizeof(keys) / sizeof(keys[0]), OF_SIGNALS = 5 };
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];

	CHECK(file);
	while (fgets(line, sizeof(line), file)) {
		for (int i = signals ? 0 : OF_SIGNALS; i < KEYS; i++) {
			if (!strncmp(line, keys[i], strlen(keys[i])))
				fputs(line, stdout);
		}
	}
	fclose(file);
}

static void show_files(void)
{
	DIR *dir = opendir("/proc/self/fd");

	for (struct dirent *e; (e = readdir(dir));) {
		if (e->d_name[0] != '.' && atoi(e->d_name) != dirfd(dir))
			printf("fd %s\n", e->d_name);
	}
	closedir(dir);
}

static int show(const char *how, char **envp)
{
	struct rlimit limit;
	sigset_t mask;

	for (char **e = envp; *e; e++) {
		/* Set for the test itself, where the caller's environment is passed on. */
		if (strncmp(*e, "NVM_", 4) && strncmp(*e, "LD_PRELOAD=/", 12))
			puts(*e);
	}
	CHECK(envp == environ);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int sig = 1; sig < NSIG; sig++) {
		struct sigaction action;

		if (sigismember(&mask, sig) == 1)
			printf("blocked %d\n", sig);
		if (!sigaction(sig, NULL, &action) && action.sa_handler != SIG_DFL)
			printf("not default %d\n", sig);
	}
	show_files();
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		if (!getrlimit(i, &limit))
			printf("limit %d %lx %lx\n", i, (long)limit.rlim_cur, (long)limit.rlim_max);
	}
	printf("nice %d slack %d dumpable %d umask %o\n", getpriority(PRIO_PROCESS, 0),
	       prctl(PR_GET_TIMERSLACK), prctl(PR_GET_DUMPABLE), umask(0));
	show_status(!strcmp(how, "show-all"));
	work_ms(30);
	return 3;
}

static void exec_in_many_ways(const char *way, char *const envp[])
{
	if (strstr(way, "execle"))
		execle(words[0], words[0], words[1], (char *)NULL, envp);
	else if (strstr(way, "fexecve"))
		fexecve(open(words[0], O_RDONLY | O_CLOEXEC), words, envp);
	else if (strstr(way, "execveat"))
		execveat(AT_FDCWD, words[0], words, envp, 0);
	else if (strstr(way, "syscall"))
		syscall(SYS_execve, words[0], words, envp);
	else if (strstr(way, "execvpe"))
		execvpe(words[0], words, envp);
	else if (envp != environ || strstr(way, "execve"))
		execve(words[0], words, envp);
	else if (strstr(way, "execvp"))
		execvp(words[0], words);
	else if (strstr(way, "execlp"))
		execlp(words[0], words[0], words[1], (char *)NULL);
	else if (strstr(way, "execl"))
		execl(words[0], words[0], words[1], (char *)NULL);
	else
		execv(words[0], words);
	_exit(111);
}

static pid_t start(const char *way, char *const envp[])
{
	pid_t child;

	if (!strncmp(way, "spawn", 5)) {
		CHECK(!(strstr(way, "spawnp") ? posix_spawnp : posix_spawn)(&child, words[0], NULL,
									    NULL, words, envp));
		return child;
	}
	child = !strncmp(way, "vfork", 5) ? vfork() : fork();
	if (!child)
		exec_in_many_ways(way, envp);
	CHECK(child > 0);
	return child;
}

/* Its parent ends: it is nobody's child when it starts the program. */
static int start_orphan(char *const envp[])
{
	int done[2], status;
	pid_t child, parent;
	char byte;

	CHECK(!pipe(done));
	child = fork();
	if (!child) {
		parent = getpid();
		if (fork())
			_exit(0);
		while (getppid() == parent)
			usleep(1000);
		close(done[0]);
		exec_in_many_ways("execve", envp);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	close(done[1]);
	/* The pipe stays open as long as the program runs. */
	CHECK(read(done[0], &byte, 1) == 0);
	return 3;
}

static int run(const char *way, char *const envp[])
{
	int status;
	pid_t child;

	if (!strcmp(way, "system"))
		return WEXITSTATUS(system(words[0]));
	if (!strcmp(way, "popen"))
		return WEXITSTATUS(pclose(popen(words[0], "w")));
	if (!strcmp(way, "orphan"))
		return start_orphan(envp);
	child = start(way, envp);
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* A program that fails to start another one goes on. */
static int fail(void)
{
	char *const argv[] = {"none", NULL};

	for (int i = 0; i < 3; i++) {
		CHECK(execve("/none/at/all", argv, environ) < 0 && errno == ENOENT);
		CHECK(execl("/none/at/all", "none", (char *)NULL) < 0 && errno == ENOENT);
		CHECK(execvp("/none/at/all", argv) < 0 && errno == ENOENT);
		work_ms(30);
	}
	return 4;
}

static char *const *environment(const char *name)
{
	if (!strcmp(name, "none"))
		return none;
	if (!strcmp(name, "own"))
		return own;
	if (!strcmp(name, "named"))
		return named;
	return environ;
}

static void *run_in_thread(void *argv)
{
	char **arg = argv;

	return (void *)(long)run(arg[1], environment(arg[2]));
}

int main(int argc, char **argv, char **envp)
{
	sigset_t urgent;
	pthread_t thread;
	void *result;

	CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	if (argc < 3)
		return argc == 2 ? show(argv[1], envp) : fail();
	for (int i = 3; i < argc && i < 13; i++)
		words[i - 3] = argv[i];
	if (argc > 3)
		words[argc - 3] = NULL;
	work_ms(30);
	if (!strncmp(argv[1], "deaf-", 5)) {
		argv[1] += 5;
		sigemptyset(&urgent);
		sigaddset(&urgent, SIGURG);
		CHECK(!sigprocmask(SIG_BLOCK, &urgent, NULL));
		CHECK(signal(SIGHUP, SIG_IGN) != SIG_ERR);
		/* What is ignored is not passed on by posix_spawn() under the library. */
		if (strstr(argv[1], "fork"))
			CHECK(signal(SIGURG, SIG_IGN) != SIG_ERR);
	}
	if (!strncmp(argv[1], "thread-", 7)) {
		argv[1] += 7;
		CHECK(!pthread_create(&thread, NULL, run_in_thread, argv));
		CHECK(!pthread_join(thread, &result));
		return (int)(long)result;
	}
	if (!strncmp(argv[1], "exec", 4))
		exec_in_many_ways(argv[1], environment(argv[2]));
	return run(argv[1], environment(argv[2]));
}
