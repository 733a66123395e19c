/*
 * crowd WHAT: several threads at work while the program does what is hard on a library that follows
 * them: forks, starts programs, changes stacks, waits for signals, is halted, has very many
 * threads.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "work.h"

extern char **environ;

enum { WORKERS = 3 };

static int stop;

static int ended(pid_t child)
{
	int status;

	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return status;
}

/* Allocates blocks of all sizes, and frees them in another order. */
static void allocate(uint32_t x, int times)
{
	char *block[16] = {NULL};

	for (int i = 0; i < times; i++) {
		size_t size = 1 + (x >> 12) % (x & 64 ? 200000 : 500);
		char **at = &block[(x >> 16) % 16];

		x = x * 1664525u + 1013904223u;
		free(*at);
		*at = malloc(size);
		CHECK(*at);
		(*at)[0] = (*at)[size - 1] = 1;
	}
	for (int i = 0; i < 16; i++)
		free(block[i]);
}

static void *work_on(void *x)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		allocate((uint32_t)(uintptr_t)x, 100);
		work_ms(1);
	}
	return x;
}

static void begin_work(pthread_t *thread)
{
	for (int i = 0; i < WORKERS; i++)
		CHECK(!pthread_create(&thread[i], NULL, work_on, (void *)(uintptr_t)(i + 3)));
}

static void end_work(pthread_t *thread)
{
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < WORKERS; i++)
		CHECK(!pthread_join(thread[i], NULL));
}

static void *allocate_once(void *x)
{
	allocate(7, 200);
	return x;
}

/* A child of a process whose threads may hold any lock at that moment. */
static void live_as_child(int i)
{
	static char block[1];
	pthread_t thread;
	void *result;
	pid_t child;

	allocate((uint32_t)i, 300);
	CHECK(!pthread_create(&thread, NULL, allocate_once, block));
	CHECK(!pthread_join(thread, &result) && result == block);
	if (i % 3 == 0) {
		child = fork();
		if (!child) {
			allocate(9, 50);
			_exit(0);
		}
		CHECK(ended(child) == 0);
	}
	if (i % 2)
		exit(0);
	_exit(0);
}

static void check_fork(void)
{
	pthread_t thread[WORKERS];
	pid_t child;

	begin_work(thread);
	for (int i = 0; i < 40; i++) {
		child = fork();
		if (!child)
			live_as_child(i);
		CHECK(ended(child) == 0);
	}
	end_work(thread);
}

__attribute__((noinline)) static void start_all_ways(uint64_t mark)
{
	char *const argv[] = {"sh", "-c", "exit 5", NULL};
	volatile uint64_t guard[8];
	char text[8] = "";
	FILE *stream;
	pid_t child;

	for (int i = 0; i < 8; i++)
		guard[i] = mark + (uint64_t)i;
	child = vfork();
	if (!child) {
		execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
		_exit(126);
	}
	CHECK(ended(child) == 6 << 8);
	child = vfork();
	if (!child) {
		execl("/none/at/all", "none", (char *)NULL);
		_exit(125);
	}
	CHECK(ended(child) == 125 << 8);
	for (int i = 0; i < 8; i++)
		CHECK(guard[i] == mark + (uint64_t)i);
	CHECK(!posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ) && ended(child) == 5 << 8);
	stream = popen("echo a; echo b", "r");
	CHECK(stream && fread(text, 1, 4, stream) == 4 && !memcmp(text, "a\nb\n", 4));
	CHECK(pclose(stream) == 0 && system("exit 3") == 3 << 8);
}

static void *start_often(void *mark)
{
	for (uint64_t i = 0; i < 8; i++)
		start_all_ways((uint64_t)(uintptr_t)mark + i);
	return NULL;
}

static void check_start(void)
{
	pthread_t thread[WORKERS], starter[2];

	begin_work(thread);
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&starter[i], NULL, start_often, (void *)(uintptr_t)(i + 1)));
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_join(starter[i], NULL));
	end_work(thread);
}

enum { COROUTINES = 32, STACK_BYTES = 16384, PAGE_BYTES = 4096 };

static ucontext_t back, coroutine[COROUTINES];
static int current, finished;

static void run_coroutine(void)
{
	for (int i = 0; i < 3; i++) {
		work_ms(4);
		swapcontext(&coroutine[current], &back);
	}
	finished++;
}

/* Its stack ends in a page that may not be touched. */
static void make_coroutine(ucontext_t *c)
{
	char *stack = mmap(NULL, STACK_BYTES + PAGE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(stack != MAP_FAILED && !mprotect(stack, PAGE_BYTES, PROT_NONE));
	CHECK(!getcontext(c));
	c->uc_stack.ss_sp = stack + PAGE_BYTES;
	c->uc_stack.ss_size = STACK_BYTES;
	c->uc_link = &back;
	makecontext(c, run_coroutine, 0);
}

static void check_coroutines(void)
{
	for (int i = 0; i < COROUTINES; i++)
		make_coroutine(&coroutine[i]);
	for (int round = 0; round < 4; round++) {
		for (current = 0; current < COROUTINES; current++)
			CHECK(!swapcontext(&back, &coroutine[current]));
	}
	CHECK(finished == COROUTINES);
}

static const int served[] = {SIGTERM, SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGALRM, SIGQUIT, SIGURG};

enum { SERVED = sizeof(served) / sizeof(served[0]), SENT = 10 * SERVED };

static void send_one_by_one(pid_t to, int answer)
{
	char byte;

	for (int i = 0; i < SENT; i++) {
		usleep(2000);
		if (kill(to, served[i % SERVED]) || read(answer, &byte, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* A server: all of its threads block its signals, and one waits for them in two ways. */
static void check_server(void)
{
	struct timespec limit = {10, 0};
	struct signalfd_siginfo record;
	pthread_t thread[WORKERS];
	int answer[2], fd, got;
	pid_t me = getpid(), child;
	siginfo_t info;
	sigset_t set;

	sigemptyset(&set);
	for (int i = 0; i < SERVED; i++)
		sigaddset(&set, served[i]);
	CHECK(!sigprocmask(SIG_BLOCK, &set, NULL) && !pipe(answer));
	begin_work(thread);
	child = fork();
	if (!child)
		send_one_by_one(me, answer[0]);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	for (int i = 0; i < SENT; i++) {
		if (i % 2) {
			CHECK(read(fd, &record, sizeof(record)) == sizeof(record));
			got = (int)record.ssi_signo;
		} else {
			got = sigtimedwait(&set, &info, &limit);
			CHECK(got < 0 || info.si_pid == child);
		}
		CHECK(got == served[i % SERVED]);
		CHECK(write(answer[1], "x", 1) == 1);
	}
	CHECK(ended(child) == 0);
	end_work(thread);
}

/* Halted and let go on, as by a shell. */
static void check_halt(void)
{
	pthread_t thread[WORKERS];
	int status;
	pid_t child = fork();

	if (!child) {
		begin_work(thread);
		work_ms(150);
		end_work(thread);
		_exit(0);
	}
	for (int i = 0; i < 3; i++) {
		usleep(20000);
		CHECK(!kill(child, SIGSTOP));
		CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
		usleep(300000);
		CHECK(!kill(child, SIGCONT));
	}
	CHECK(ended(child) == 0);
}

/* A fork that takes far longer than the time between two ticks. */
static void check_big_fork(void)
{
	enum { BYTES = 256 << 20 };
	char *memory =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread[WORKERS];
	pid_t child;

	CHECK(memory != MAP_FAILED);
	madvise(memory, BYTES, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < BYTES; i += PAGE_BYTES)
		memory[i] = 1;
	begin_work(thread);
	for (int i = 0; i < 8; i++) {
		work_ms(5);
		child = fork();
		if (!child)
			_exit(memory[(size_t)i << 20]);
		CHECK(ended(child) == 1 << 8);
	}
	end_work(thread);
}

enum { SLEEPERS = 1000 };

static pthread_barrier_t all_there;

static void *sleep_long(void *unused)
{
	pthread_barrier_wait(&all_there);
	pthread_barrier_wait(&all_there);
	return unused;
}

static uint64_t idle_cpu_ns(void)
{
	uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	usleep(1000000);
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
}

/* A thousand threads that wait: whoever watches them waits, too. */
static void check_idle(void)
{
	static pthread_t thread[SLEEPERS];
	struct rusage before, after;
	pthread_attr_t attr;

	CHECK(!pthread_barrier_init(&all_there, NULL, SLEEPERS + 1));
	pthread_attr_init(&attr);
	CHECK(!pthread_attr_setstacksize(&attr, 65536));
	for (int i = 0; i < SLEEPERS; i++)
		CHECK(!pthread_create(&thread[i], &attr, sleep_long, NULL));
	pthread_barrier_wait(&all_there);
	usleep(300000);
	CHECK(!getrusage(RUSAGE_SELF, &before));
	CHECK(idle_cpu_ns() < 10000000);
	CHECK(!getrusage(RUSAGE_SELF, &after));
	CHECK(after.ru_nvcsw - before.ru_nvcsw < 50 && after.ru_nivcsw - before.ru_nivcsw < 50);
	pthread_barrier_wait(&all_there);
	for (int i = 0; i < SLEEPERS; i++)
		CHECK(!pthread_join(thread[i], NULL));
}

static const char *module_path;

static void *use_module(void *unused)
{
	for (int i = 0; i < 20; i++) {
		void *module = dlopen(module_path, RTLD_NOW | RTLD_LOCAL);
		int (*count)(void) = module ? (int (*)(void))dlsym(module, "count_calls") : NULL;

		CHECK(count && count() == 1 && count() == 2);
		work_ms(2);
		CHECK(!dlclose(module));
	}
	return unused;
}

/* Code with variables of each thread comes and goes. */
static void check_module(void)
{
	pthread_t thread[WORKERS], user;

	CHECK(module_path);
	begin_work(thread);
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&user, NULL, use_module, NULL) && !pthread_join(user, NULL));
	end_work(thread);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*check)(void);
	} checks[] = {
		{"fork", check_fork},
		{"start", check_start},
		{"coroutines", check_coroutines},
		{"server", check_server},
		{"halt", check_halt},
		{"big-fork", check_big_fork},
		{"idle", check_idle},
		{"module", check_module},
	};

	module_path = argc > 2 ? argv[2] : NULL;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (argc > 1 && strcmp(argv[1], checks[i].name))
			continue;
		work_ms(20);
		checks[i].check();
		puts("done");
		return 0;
	}
	return 2;
}
