/*
 * soaker SECONDS SEED: threads and processes are born and die at random. Now and then all of them
 * have ended; then a line tells what the process has: "ROUND threads N files N timers N mappings N
 * resident KIB".
 */
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { BATCH = 24, ROUND = 8, DATA_BYTES = 16 << 20, STEPS = 20000 };

static char data[DATA_BYTES];
static uint32_t seed;
static int alive; /* detached threads */

static void die(const char *what)
{
	fprintf(stderr, "soaker: %s\n", what);
	exit(1);
}

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

/* Some memory work, at times with a pause. */
static void work(uint32_t x)
{
	for (uint32_t i = 0, n = x % STEPS; i < n; i++) {
		x = x * 1664525u + 1013904223u;
		__atomic_fetch_add(&data[x % DATA_BYTES], 1, __ATOMIC_RELAXED);
	}
	if (x % 4 == 0 && poll(NULL, 0, (int)(x >> 8) % 3) != 0)
		die("poll was interrupted");
}

static void *live(void *x)
{
	char *p = malloc(1 + (uint32_t)(uintptr_t)x % 5000);

	work((uint32_t)(uintptr_t)x);
	free(p);
	return x;
}

static void *live_detached(void *x)
{
	live(x);
	__atomic_fetch_sub(&alive, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void *wait_for_end(void *x)
{
	work((uint32_t)(uintptr_t)x);
	for (;;)
		pause();
	return NULL;
}

static void *start_argument(void)
{
	return (void *)(uintptr_t)draw(UINT32_MAX);
}

/* A thread that a child makes, or the caller itself. */
static void join_one(void)
{
	void *x = start_argument(), *result;
	pthread_t thread;

	if (pthread_create(&thread, NULL, live, x) || pthread_join(thread, &result) || result != x)
		die("a thread went wrong");
}

static void detach_one(void)
{
	pthread_t thread;

	__atomic_fetch_add(&alive, 1, __ATOMIC_RELAXED);
	if (pthread_create(&thread, NULL, live_detached, start_argument()) ||
	    pthread_detach(thread))
		die("a detached thread went wrong");
}

static void cancel_one(void)
{
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, wait_for_end, start_argument()) ||
	    pthread_cancel(thread) || pthread_join(thread, &result) || result != PTHREAD_CANCELED)
		die("a thread could not be cancelled");
}

/* wanted: exit status, or the signal that is to kill it, as of wait(). */
static void reap(pid_t child, int wanted)
{
	int status;

	if (child <= 0 || waitpid(child, &status, 0) != child || status != wanted)
		die("a child went wrong");
}

static void fork_one(void)
{
	uint32_t how = draw(4);
	pid_t child = fork();

	if (child) {
		reap(child, how == 3 ? SIGKILL : (int)how << 8);
		return;
	}
	work(draw(UINT32_MAX));
	if (how == 1)
		join_one();
	if (how == 2)
		execl("/bin/sh", "sh", "-c", "exit 2", (char *)NULL);
	if (how == 3)
		raise(SIGKILL);
	_exit((int)how);
}

static void vfork_one(void)
{
	pid_t child = vfork();

	if (!child) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	reap(child, 0);
}

static void spawn_one(void)
{
	char *const argv[] = {"true", NULL}, *const none[] = {NULL};
	pid_t child = 0;

	if (posix_spawn(&child, "/bin/true", NULL, NULL, argv, draw(2) ? environ : none))
		die("posix_spawn failed");
	reap(child, 0);
}

static void batch(void)
{
	static void (*const births[])(void) = {join_one, detach_one, detach_one, cancel_one,
					       fork_one, vfork_one,  spawn_one};

	for (int i = 0; i < BATCH; i++)
		births[draw(sizeof(births) / sizeof(births[0]))]();
}

static int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	if (!dir)
		die(path);
	for (struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* Lines of a file that begin with a word. */
static int count_lines(const char *path, const char *word)
{
	FILE *file = fopen(path, "re");
	char line[4096];
	int n = 0;

	if (!file)
		die(path);
	while (fgets(line, sizeof(line), file))
		n += strncmp(line, word, strlen(word)) == 0;
	fclose(file);
	return n;
}

static long resident_kib(void)
{
	long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file || fscanf(file, "%*d %ld", &pages) != 1)
		die("/proc/self/statm");
	fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void tell(int round)
{
	const struct timespec rest = {0, 5000000};

	while (__atomic_load_n(&alive, __ATOMIC_ACQUIRE))
		nanosleep(&rest, NULL);
	nanosleep(&rest, NULL); /* those that have said goodbye end */
	printf("%d threads %d files %d timers %d mappings %d resident %ld\n", round,
	       count_entries("/proc/self/task"), count_entries("/proc/self/fd"),
	       count_lines("/proc/self/timers", "ID:"), count_lines("/proc/self/maps", ""),
	       resident_kib());
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct timespec now;
	time_t end;

	if (argc != 3) {
		fprintf(stderr, "usage: soaker SECONDS SEED\n");
		return 2;
	}
	seed = (uint32_t)strtoul(argv[2], NULL, 10);
	memset(data, 1, sizeof(data));
	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + strtol(argv[1], NULL, 10);
	for (int round = 0; now.tv_sec < end; round++) {
		for (int i = 0; i < ROUND; i++)
			batch();
		tell(round);
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
	return 0;
}
