/* ends HOW: works a little and ends in one of many ways; ends with status 7 where it can choose. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

enum { STATUS = 7 };

static void say(void)
{
	puts("exit handler");
	fflush(stdout);
}

static void *leave(void *how)
{
	work_ms(60);
	if (!strcmp(how, "exit-in-thread"))
		exit(STATUS);
	if (!strcmp(how, "_exit-in-thread"))
		_exit(STATUS);
	return NULL;
}

/* main ends first; the process with its last thread, then with status 0. */
static void leave_to_thread(char *how)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, leave, how));
	pthread_detach(thread);
	pthread_exit(NULL);
}

static int crash(void)
{
	volatile char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return *page;
}

static sigjmp_buf back;

static void jump(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static void leave_handler(int sig)
{
	(void)sig;
	_exit(STATUS);
}

/* Recovers from faults, as some programs do. */
static int recover(void)
{
	struct sigaction act = {.sa_handler = jump, .sa_flags = SA_NODEFER};

	CHECK(!sigaction(SIGSEGV, &act, NULL));
	for (volatile int i = 0; i < 200; i++) {
		if (!sigsetjmp(back, 1)) {
			crash();
			return 1;
		}
	}
	return STATUS;
}

static int break_pipe(void)
{
	int ends[2];

	CHECK(!pipe(ends) && !close(ends[0]));
	return write(ends[1], "x", 1) < 0;
}

/* Ends by a signal; or returns the status. */
static int end_by(const char *how)
{
	struct sigaction act = {.sa_handler = leave_handler};

	if (!strncmp(how, "raise-", 6))
		return raise(atoi(how + 6)) + 1;
	if (!strcmp(how, "trap"))
		__builtin_trap();
	if (!strcmp(how, "pipe"))
		return break_pipe();
	if (!strcmp(how, "recover"))
		return recover();
	if (!strcmp(how, "abort-handler")) {
		CHECK(!sigaction(SIGABRT, &act, NULL));
		abort();
	}
	CHECK(!strcmp(how, "alarm"));
	ualarm(30000, 0);
	work_ms(10000);
	return 1;
}

static void *work_forever(void *unused)
{
	for (;;)
		work_ms(10);
	return unused;
}

static int fork_without_exec(void)
{
	int status;
	pid_t child = fork();

	work_ms(60);
	if (!child)
		exit(3);
	CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
	return STATUS;
}

static int move_away(void)
{
	int fd;

	CHECK(!chdir("/"));
	closefrom(3);
	for (fd = 3; fd < 40; fd++)
		CHECK(open("/dev/null", O_RDONLY) == fd);
	work_ms(20);
	for (fd = 3; fd < 40; fd++)
		CHECK(!close(fd));
	return STATUS;
}

/* As servers do that show in their arguments what they are at. */
static int rename_self(char *name)
{
	memset(name, '/', strlen(name));
	return STATUS;
}

int main(int argc, char **argv)
{
	char *how = argc > 1 ? argv[1] : "";

	atexit(say);
	at_quick_exit(say);
	if (!strncmp(how, "busy-", 5)) {
		pthread_t thread;

		how += 5;
		CHECK(!pthread_create(&thread, NULL, work_forever, NULL));
	}
	work_ms(60);
	if (!strcmp(how, "return"))
		return STATUS;
	if (!strcmp(how, "exit"))
		exit(STATUS);
	if (!strcmp(how, "_exit"))
		_exit(STATUS);
	if (!strcmp(how, "_Exit"))
		_Exit(STATUS);
	if (!strcmp(how, "quick_exit"))
		quick_exit(STATUS);
	if (!strcmp(how, "exit_group"))
		syscall(SYS_exit_group, STATUS);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		return crash();
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	if (!strcmp(how, "fork"))
		return fork_without_exec();
	if (!strcmp(how, "renamed"))
		return rename_self(argv[0]);
	if (!strcmp(how, "moved"))
		return move_away();
	if (strstr(how, "thread"))
		leave_to_thread(how);
	return end_by(how);
}
