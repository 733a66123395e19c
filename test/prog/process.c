/* process WHAT: a program of one thread that forks, changes namespaces, and locks itself in. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static int ended(pid_t child)
{
	int status;

	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return status;
}

static pid_t spawn(int (*body)(void))
{
	pid_t child = fork();

	if (!child) {
		work_ms(30);
		exit(body());
	}
	return child;
}

static int new_user(void)
{
	if (unshare(CLONE_NEWUSER))
		return errno == EPERM || errno == ENOSPC ? 77 : 1;
	work_ms(50);
	return 0;
}

static int new_user_raw(void)
{
	if (syscall(SYS_unshare, CLONE_NEWUSER))
		return errno == EPERM || errno == ENOSPC ? 77 : 1;
	work_ms(50);
	return 0;
}

static int am_i_single(void)
{
	return unshare(CLONE_THREAD) != 0;
}

static int check_alone(void)
{
	int (*const bodies[])(void) = {new_user, new_user_raw, am_i_single};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		int status = ended(spawn(bodies[i]));

		if (status == 77 << 8)
			return 77;
		CHECK(status == 0);
	}
	return new_user();
}

static int grandchild(void)
{
	CHECK(ended(spawn(am_i_single)) == 0);
	return 0;
}

/* The same process tree by fork, vfork, and a child that changes what it must not share. */
static int check_fork(void)
{
	static volatile int shared = 1;
	struct sigaction act = {.sa_handler = SIG_IGN}, got;
	pid_t child;

	for (int i = 0; i < 10; i++)
		CHECK(ended(spawn(grandchild)) == 0);
	child = vfork();
	if (!child) {
		shared = 2;
		sigaction(SIGURG, &act, NULL);
		signal(SIGSEGV, SIG_IGN);
		_exit(5);
	}
	CHECK(ended(child) == 5 << 8 && shared == 2);
	CHECK(!sigaction(SIGURG, NULL, &got) && got.sa_handler == SIG_DFL);
	CHECK(!sigaction(SIGSEGV, NULL, &got) && got.sa_handler == SIG_DFL);
	CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
	work_ms(50);
	return 0;
}

/* What computing and ending needs, and nothing else: signal returns and opens mean death. */
static int lock_in(int by_syscall)
{
	static const int allowed[] = {
		SYS_read,   SYS_write,      SYS_close,         SYS_mmap,
		SYS_munmap, SYS_brk,        SYS_clock_gettime, SYS_nanosleep,
		SYS_exit,   SYS_exit_group, SYS_getrandom,     SYS_ioctl,
		SYS_fstat,  SYS_newfstatat, SYS_getpid,        SYS_rt_sigprocmask,
	};
	enum { ALLOWED = sizeof(allowed) / sizeof(allowed[0]) };
	struct sock_filter code[ALLOWED + 3] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {ALLOWED + 3, code};

	for (int i = 0; i < ALLOWED; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (unsigned)allowed[i], ALLOWED - i, 0);
	code[1 + ALLOWED] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[2 + ALLOWED] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	/* A question whether there are filters at all changes nothing. */
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) < 0 && errno == EFAULT);
	return by_syscall ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
			  : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int check_sandbox(const char *how)
{
	work_ms(60);
	if (lock_in(!strcmp(how, "sandbox-syscall")))
		return 77;
	work_ms(200);
	if (!strcmp(how, "sandbox-_exit"))
		_exit(0);
	return 0;
}

static void *thread_body(void *arg)
{
	work_ms(30);
	return arg;
}

/* What hooks do here must not wait for threads that are another process's. */
static int leave_namespaces(void *arg)
{
	(void)arg;
	setns(-1, 0);
	unshare(CLONE_NEWUSER);
	syscall(SYS_unshare, CLONE_THREAD);
	return 0;
}

static int thread_of_clone(void)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, thread_body, NULL));
	CHECK(!pthread_join(thread, NULL));
	return leave_namespaces(NULL);
}

/* Children made without the C library's knowledge: a copy, and two that share the memory. */
static int check_clone(void)
{
	enum { STACK = 1 << 16 };
	static char stack[2][STACK] __attribute__((aligned(16)));
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (!child)
		exit(thread_of_clone());
	CHECK(ended(child) == 0);
	CHECK(ended(clone(leave_namespaces, stack[0] + STACK, CLONE_VM | SIGCHLD, NULL)) == 0);
	CHECK(ended(clone(leave_namespaces, stack[1] + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD,
			  NULL)) == 0);
	work_ms(50);
	return 0;
}

static unsigned error_named(const char *name)
{
	static const struct {
		const char *name;
		unsigned error;
	} errors[] = {{"EPERM", EPERM},   {"EACCES", EACCES}, {"ENOENT", ENOENT},
		      {"ENOSYS", ENOSYS}, {"EMFILE", EMFILE}, {"EBUSY", EBUSY},
		      {"ENODEV", ENODEV}, {"EAGAIN", EAGAIN}};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (!strcmp(name, errors[i].name))
			return errors[i].error;
	}
	return 0;
}

static int run_filtered(const struct sock_fprog *program, char **argv)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program))
		return 77;
	execv(argv[0], argv);
	return 1;
}

/* Answers a system call with the error named and runs the rest of the command line. */
static int refuse(unsigned number, const char *name, char **argv)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_named(name)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), (struct sock_filter *)code};

	CHECK(error_named(name));
	return run_filtered(&program, argv);
}

/* The same for threads, but not for processes. */
static int refuse_threads(const char *name, char **argv)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		/* Its flags lie in memory: the C library falls back to clone(). */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 2),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_named(name)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), (struct sock_filter *)code};

	CHECK(error_named(name));
	return run_filtered(&program, argv);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int rc = 2;

	if (argc > 3 && !strcmp(what, "refuse-perf"))
		return refuse(SYS_perf_event_open, argv[2], argv + 3);
	if (argc > 3 && !strcmp(what, "refuse-unshare"))
		return refuse(SYS_unshare, argv[2], argv + 3);
	if (argc > 3 && !strcmp(what, "refuse-timer"))
		return refuse(SYS_timer_create, argv[2], argv + 3);
	if (argc > 3 && !strcmp(what, "refuse-threads"))
		return refuse_threads(argv[2], argv + 3);
	work_ms(20);
	if (!strcmp(what, "alone"))
		rc = check_alone();
	else if (!strcmp(what, "fork"))
		rc = check_fork();
	else if (!strncmp(what, "sandbox", 7))
		rc = check_sandbox(what);
	else if (!strcmp(what, "clone"))
		rc = check_clone();
	if (rc == 0)
		puts("done");
	return rc;
}
