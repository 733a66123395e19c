#include "attend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

enum { KILLED = 128 };

void cli_attend_begin(struct cli_attendance *attendance)
{
	const struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &attendance->mask);
	/* Where it is ignored, as some parents leave it, nobody learns of a child's end. */
	sigaction(SIGCHLD, &usual, &attendance->on_child);
}

/* 'T' in /proc/PID/stat, behind the name, which may hold anything. */
static bool is_stopped(pid_t pid)
{
	char path[32], text[1024];
	const char *state;
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (nve_file_read(path, text, sizeof(text), &length))
		return false;
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'T';
}

static bool is_of_terminal(int signal)
{
	switch (signal) {
	case SIGHUP:
	case SIGINT:
	case SIGQUIT:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGWINCH: return true;
	default: return false;
	}
}

static void pass_on(pid_t pid, const siginfo_t *info)
{
	int signal = info->si_signo;

	if (info->si_code == SI_KERNEL && is_of_terminal(signal))
		return;
	/* natively the program's parent would have taken it */
	if (info->si_code <= 0 && info->si_pid == pid)
		return;
	/* Shells continue all of the group: then the program goes on already. */
	if (signal == SIGCONT && !is_stopped(pid))
		return;
	if (info->si_code == SI_QUEUE)
		sigqueue(pid, signal, info->si_value);
	else
		kill(pid, signal);
}

/* Stops the command as the program was stopped, for whoever watches it; returns when it goes on. */
static void stop_like(pid_t pid, int signal)
{
	const struct sigaction usual = {.sa_handler = SIG_DFL};
	struct sigaction before;
	sigset_t only, all;

	/* SIGCONT may be waiting already, and would be lost with the stop. */
	sigemptyset(&only);
	sigaddset(&only, signal);
	if (!is_stopped(pid))
		return;
	if (signal == SIGSTOP) {
		raise(signal);
		return;
	}
	sigaction(signal, &usual, &before);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &only, &all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigaction(signal, &before, NULL);
}

/* After SIGCHLD. Has it ended? */
static bool has_ended(pid_t pid)
{
	siginfo_t info;

	for (;;) {
		memset(&info, 0, sizeof(info));
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT))
			return true;
		if (!info.si_pid)
			return false;
		if (info.si_code != CLD_STOPPED && info.si_code != CLD_TRAPPED)
			return true;
		waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG);
		stop_like(pid, info.si_status);
	}
}

int cli_attend(struct cli_child *child, struct cli_end *end)
{
	sigset_t all;
	siginfo_t info;

	sigfillset(&all);
	while (!has_ended(child->pid)) {
		if (sigwaitinfo(&all, &info) < 0)
			continue;
		if (info.si_signo != SIGCHLD)
			pass_on(child->pid, &info);
	}
	return cli_launch_wait(child, end);
}

static void die_by(int signal)
{
	const struct rlimit none = {0, 0};
	sigset_t only;

	/* The program has left its core; this one would take its place. */
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	if (signal != SIGKILL)
		sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	raise(signal);
	sigemptyset(&only);
	sigaddset(&only, signal);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
}

int cli_attend_finish(const struct cli_attendance *attendance, int status)
{
	if (WIFSIGNALED(status)) {
		die_by(WTERMSIG(status));
		return KILLED + WTERMSIG(status);
	}
	sigprocmask(SIG_SETMASK, &attendance->mask, NULL);
	return WEXITSTATUS(status);
}
