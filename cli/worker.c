#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "bench/chase.h"
#include "bench/stream.h"
#include "cli.h"

enum { POLL_MS = 200, NOT_STARTED = 127 };

/* The first answer of a worker. */
struct greeting {
	int32_t error; /* of making the chase */
	int32_t huge;
};

static int read_all(int fd, void *data, size_t size)
{
	char *p = data;

	while (size) {
		ssize_t got = read(fd, p, size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EPIPE;
		p += got;
		size -= (size_t)got;
	}
	return 0;
}

static int write_all(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size) {
		ssize_t put = write(fd, p, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		p += put;
		size -= (size_t)put;
	}
	return 0;
}

/* What a worker has to walk over, and where it is. */
struct walk {
	struct bench_node *(*follow)(struct bench_node *node, uint64_t steps);
	struct bench_chase chase;
	struct bench_node *node;
	const struct bench_stream_kernel *kernel; /* NULL: the chase */
	struct bench_stream_part arrays;
	size_t at;
};

/* 0, or -errno: -EINVAL where there is no such work. */
static int make(struct walk *w, const char *work, uint64_t bytes, bool huge)
{
	int err;

	*w = (struct walk){0};
	if (!strcmp(work, "read"))
		w->follow = bench_chase_read;
	else if (!strcmp(work, "write"))
		w->follow = bench_chase_write;
	else
		w->kernel = bench_stream_find(work);
	if (!w->follow && (!w->kernel || bytes < CLI_WORKER_WORDS * sizeof(double)))
		return -EINVAL;
	if (w->kernel)
		return bench_stream_make(&w->arrays, bytes, huge);
	err = bench_chase_make(&w->chase, bytes, huge, (uint64_t)getpid());
	w->node = w->chase.nodes;
	return err;
}

/* Round and round, in pieces as long as they can be. */
static void run_kernel(struct walk *w, uint64_t steps)
{
	const struct bench_stream_part *all = &w->arrays;

	while (steps) {
		uint64_t left = (all->words - w->at) / CLI_WORKER_WORDS;
		uint64_t now = NVE_MIN(steps, left);
		const struct bench_stream_part part = {all->a + w->at, all->b + w->at,
						       all->c + w->at, now * CLI_WORKER_WORDS};

		if (now)
			w->kernel->run(&part, 3);
		w->at = now < left ? w->at + part.words : 0;
		steps -= now;
	}
}

static void unmake(struct walk *w)
{
	if (w->kernel)
		bench_stream_free(&w->arrays);
	else
		bench_chase_free(&w->chase);
}

/*
 * The worker's side. Arguments: what to do, bytes, on or off. Ends with its standard input.
 */
int cli_worker_main(int argc, char **argv)
{
	struct greeting greeting;
	struct walk walk;
	uint64_t bytes, steps;
	bool huge;

	if (argc != 4 || cli_parse_bytes(argv[2], &bytes) || cli_parse_switch(argv[3], &huge)) {
		fprintf(stderr, "nvmemu: '%s' is for nvmemu itself\n", CLI_WORKER_NAME);
		return CLI_USAGE;
	}
	greeting.error = make(&walk, argv[1], bytes, huge);
	greeting.huge = walk.chase.huge;
	if (write_all(STDOUT_FILENO, &greeting, sizeof(greeting)))
		return CLI_FAILED;
	while (!greeting.error && !read_all(STDIN_FILENO, &steps, sizeof(steps))) {
		uint64_t cpu = nve_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		uint64_t wall = nve_clock_ns(CLOCK_MONOTONIC);
		struct cli_turn turn;

		if (walk.kernel)
			run_kernel(&walk, steps);
		else
			walk.node = walk.follow(walk.node, steps);
		turn.cpu_ns = nve_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
		turn.wall_ns = nve_clock_ns(CLOCK_MONOTONIC) - wall;
		if (write_all(STDOUT_FILENO, &turn, sizeof(turn)))
			return CLI_FAILED;
	}
	if (!greeting.error)
		unmake(&walk);
	return CLI_OK;
}

static void set_latency(const char *name, uint64_t ns)
{
	char text[32];

	unsetenv(name);
	if (!ns)
		return;
	snprintf(text, sizeof(text), "%lluns", (unsigned long long)ns);
	setenv(name, text, 1);
}

/*
 * What a user would set, and two things more: delay is spun, since what is measured is CPU time;
 * and an emulation that is impossible ends the worker.
 */
static void set_environment(const struct cli_job *job)
{
	unsetenv("LD_PRELOAD");
	set_latency("NVM_RLAT", job->rlat_ns);
	set_latency("NVM_WLAT", job->wlat_ns);
	if (job->device)
		setenv("NVM_DEVICE", job->device, 1);
	if (!job->library)
		return;
	setenv("LD_PRELOAD", job->library, 1);
	setenv("NVM_INJECT", "spin", 0);
	setenv("NVM_STRICT", "on", 1);
}

static void become_worker(const struct cli_job *job, pid_t parent, int in, int out)
{
	char self[PATH_MAX], bytes[24];
	char *const arguments[] = {
		"nvmemu", CLI_WORKER_NAME, (char *)job->work, bytes, job->huge ? "on" : "off", NULL,
	};

	/* The terminal's Ctrl-C is the coordinator's business; but no worker survives it. */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(NOT_STARTED);
	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)job->bytes);
	set_environment(job);
	if (realpath("/proc/self/exe", self))
		execv(self, arguments);
	cli_error("cannot start %s: %m", self);
	_exit(NOT_STARTED);
}

static void name_worker(struct cli_worker *worker, const struct cli_job *job)
{
	const char *bench = !strcmp(job->work, "write")  ? "wbbench"
			    : !strcmp(job->work, "read") ? "robench"
							 : job->work;
	uint64_t ns = job->rlat_ns ? job->rlat_ns : job->wlat_ns;

	if (!job->library)
		snprintf(worker->name, sizeof(worker->name), "native %s", bench);
	else if (job->device)
		snprintf(worker->name, sizeof(worker->name), "%s on %.40s", bench, job->device);
	else
		snprintf(worker->name, sizeof(worker->name), "%s with %s=%lluns", bench,
			 job->rlat_ns ? "NVM_RLAT" : "NVM_WLAT", (unsigned long long)ns);
}

int cli_worker_start(struct cli_worker *worker, const struct cli_job *job)
{
	int to[2], from[2], err;
	pid_t parent = getpid();

	name_worker(worker, job);
	if (pipe2(to, O_CLOEXEC)) {
		err = -errno;
		goto out_message;
	}
	if (pipe2(from, O_CLOEXEC)) {
		err = -errno;
		goto out_close_to;
	}
	fflush(NULL);
	worker->pid = fork();
	if (worker->pid < 0) {
		err = -errno;
		goto out_close_from;
	}
	if (!worker->pid)
		become_worker(job, parent, to[0], from[1]);
	close(to[0]);
	close(from[1]);
	worker->to = to[1];
	worker->from = from[0];
	return 0;

out_close_from:
	close(from[0]);
	close(from[1]);
out_close_to:
	close(to[0]);
	close(to[1]);
out_message:
	worker->pid = 0;
	cli_error("cannot start %s: %s", worker->name, strerror(-err));
	return err;
}

static void close_pipes(struct cli_worker *worker)
{
	close(worker->to);
	close(worker->from);
	worker->pid = 0;
}

void cli_worker_stop(struct cli_worker *worker)
{
	if (!worker->pid)
		return;
	kill(worker->pid, SIGKILL);
	while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close_pipes(worker);
}

/* The worker's pipe broke: says why. */
static int explain_death(struct cli_worker *worker)
{
	int status = 0;

	/* Both of its pipes are closed by its end alone, so this does not wait. */
	while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
		;
	close_pipes(worker);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CLI_IMPOSSIBLE) {
		cli_error("%s: emulation is impossible here; the library has said why",
			  worker->name);
		return -ENOTSUP;
	}
	if (WIFSIGNALED(status))
		cli_error("%s was killed by signal %d (%s)", worker->name, WTERMSIG(status),
			  strsignal(WTERMSIG(status)));
	else
		cli_error("%s ended before its time, with status %d", worker->name,
			  WEXITSTATUS(status));
	return -ECHILD;
}

static int receive(struct cli_worker *worker, void *data, size_t size)
{
	struct pollfd fd = {.fd = worker->from, .events = POLLIN};
	int ready;

	/* In pieces, for a signal may come between the look at the flag and the wait. */
	do {
		if (cli_interrupted)
			return -EINTR;
		ready = poll(&fd, 1, POLL_MS);
	} while (!ready || (ready < 0 && errno == EINTR));
	if (read_all(worker->from, data, size))
		return explain_death(worker);
	return 0;
}

/*
 * Is the library among the worker's mappings? The loader ignores one that it cannot load, and a
 * table of native runs would be the result. 0, -ENOTSUP where it is not, -ESRCH where the worker
 * has no mappings any more: it has died.
 */
static int look_for_library(const struct cli_worker *worker, const char *library)
{
	char path[64], line[PATH_MAX + 128], real[PATH_MAX];
	int answer = -ESRCH;
	FILE *maps;

	if (!realpath(library, real))
		return -ENOTSUP;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)worker->pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno == ESRCH ? -ESRCH : -ENOTSUP;
	while (answer && fgets(line, sizeof(line), maps))
		answer = strstr(line, real) ? 0 : -ENOTSUP;
	fclose(maps);
	return answer;
}

int cli_worker_ready(struct cli_worker *worker, const struct cli_job *job, bool *huge)
{
	struct greeting greeting;
	int err = receive(worker, &greeting, sizeof(greeting));

	if (err)
		return err;
	if (greeting.error) {
		cli_error("%s: no memory for its list: %s", worker->name,
			  strerror(-greeting.error));
		return greeting.error;
	}
	if (job->library)
		err = look_for_library(worker, job->library);
	if (err == -ESRCH)
		return explain_death(worker);
	if (err) {
		cli_error("%s runs without %s, which could not be loaded", worker->name,
			  job->library);
		return err;
	}
	*huge = greeting.huge;
	return 0;
}

int cli_worker_turn(struct cli_worker *worker, uint64_t steps, struct cli_turn *turn)
{
	if (write_all(worker->to, &steps, sizeof(steps)))
		return explain_death(worker);
	return receive(worker, turn, sizeof(*turn));
}
