/*
 * heap WHAT [LIBRARY]: allocations where they are hard on who stands before the C library's: before
 * main and after it, in threads that end, in signal handlers, around forks, across threads, beside
 * plugins, with little memory.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "work.h"

enum { THREADS = 4, CROWD = 64, SLOTS = 512 };

static char *early;
static _Atomic(char *) slot[SLOTS];
static _Atomic int stop;

static char *filled(size_t size)
{
	char *p = malloc(size);

	CHECK(p);
	memset(p, (int)(size % 251), size);
	return p;
}

static void check_free(char *p, size_t size)
{
	for (size_t i = 0; i < size; i += 1 + size / 64)
		CHECK(p[i] == (char)(size % 251));
	free(p);
}

__attribute__((constructor)) static void before_main(void)
{
	early = filled(3000);
	free(filled(100000));
}

__attribute__((destructor)) static void after_main(void)
{
	check_free(filled(500), 500);
	free(early);
}

/* ---- the calls' own rules ---- */

static void check_sizes(void)
{
	for (size_t size = 1; size < 3u << 20; size += 1 + size / 9) {
		char *p = filled(size), *q = calloc(size, 3);

		CHECK((uintptr_t)p % 16 == 0 && malloc_usable_size(p) >= size);
		memset(p, (int)(size % 251), malloc_usable_size(p));
		p = realloc(p, size * 2);
		CHECK(p && p[size - 1] == (char)(size % 251));
		p = realloc(p, size / 2 + 1);
		CHECK(p[size / 2] == (char)(size % 251));
		for (size_t i = 0; i < size * 3; i++)
			CHECK(q[i] == 0);
		errno = 7;
		free(p);
		free(q);
		CHECK(errno == 7);
	}
}

static void check_alignments(void)
{
	for (size_t align = sizeof(void *); align <= 4u << 20; align *= 2) {
		void *p = (void *)1, *q = aligned_alloc(align, align * 3), *r = memalign(align, 9);

		CHECK(!posix_memalign(&p, align, 1000));
		CHECK((uintptr_t)p % align == 0 && (uintptr_t)q % align == 0 &&
		      (uintptr_t)r % align == 0);
		memset(p, 1, malloc_usable_size(p));
		memset(q, 1, malloc_usable_size(q));
		p = realloc(p, 5000);
		CHECK(((char *)p)[999] == 1);
		free(p);
		free(q);
		free(r);
	}
}

static void check_others(void)
{
	char *p = valloc(100), *q = pvalloc(100), *r = reallocarray(NULL, 30, 30);

	CHECK((uintptr_t)p % 4096 == 0 && (uintptr_t)q % 4096 == 0);
	CHECK(malloc_usable_size(q) >= 4096 && malloc_usable_size(r) >= 900);
	memset(r, 1, 900);
	r = reallocarray(r, 60, 30);
	CHECK(r && r[899] == 1);
	free(p);
	free(q);
	free(r);
}

static void check_errors(void)
{
	volatile size_t huge = PTRDIFF_MAX, zero = 0;
	void *p = malloc(zero), *q = malloc(zero), *kept = slot;

	CHECK(p && q && p != q);
	free(q);
	p = realloc(p, 100);
	CHECK(p);
	errno = 0;
	CHECK(!realloc(p, huge) && errno == ENOMEM);
	CHECK(!realloc(p, zero));
	errno = 0;
	CHECK(!malloc(huge) && errno == ENOMEM);
	errno = 0;
	CHECK(!calloc(huge, 3) && errno == ENOMEM);
	errno = 0;
	CHECK(!reallocarray(NULL, huge, 3) && errno == ENOMEM);
	errno = 0;
	CHECK(!pvalloc((size_t)-100) && errno == ENOMEM);
	CHECK(posix_memalign(&kept, 24, 8) == EINVAL && posix_memalign(&kept, 4, 8) == EINVAL);
	CHECK(posix_memalign(&kept, 64, huge) == ENOMEM && kept == slot);
	CHECK(malloc_usable_size(NULL) == 0);
	free(NULL);
}

static void calls(void)
{
	char *(*found)(size_t) = (char *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
	void (*release)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "free");
	/* makes a program at a fixed address have a symbol of its own */
	void *(*volatile taken)(size_t) = malloc;
	char *line;

	free(taken(100));
	check_sizes();
	check_alignments();
	check_others();
	check_errors();
	free(found(10));
	release(filled(10));
	CHECK(asprintf(&line, "%0900d", 1) == 900);
	release(line);
}

/* ---- threads ---- */

/* Blocks go from thread to thread: whoever finds one frees it. */
static void *exchange(void *arg)
{
	uint32_t x = (uint32_t)(uintptr_t)arg * 2654435761u | 1;

	for (int i = 0; i < 20000 && !stop; i++) {
		size_t size;
		char *p;

		x = x * 1664525u + 1013904223u;
		size = 16 + (x >> 8) % (x >> 28 ? 300 : 60000);
		p = malloc(size);
		CHECK(p);
		memset(p, 1, size);
		free(atomic_exchange(&slot[x >> 23], p));
	}
	return arg;
}

static void run(int threads, void *(*function)(void *), const pthread_attr_t *attr)
{
	pthread_t thread[CROWD];

	for (int i = 0; i < threads; i++)
		CHECK(!pthread_create(&thread[i], attr, function, (void *)(uintptr_t)(i + 1)));
	for (int i = 0; i < threads; i++)
		CHECK(!pthread_join(thread[i], NULL));
}

static void crossing(void)
{
	run(CROWD, exchange, NULL);
	for (int i = 0; i < SLOTS; i++)
		free(slot[i]);
}

static void *allocate_little(void *arg)
{
	for (size_t i = 1; i < 2000; i++)
		check_free(filled(i % 700 + 1), i % 700 + 1);
	return arg;
}

static void stacks(void)
{
	pthread_attr_t attr;

	CHECK(!pthread_attr_init(&attr) && !pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN));
	for (int i = 0; i < 10; i++)
		run(THREADS, allocate_little, &attr);
}

static pthread_key_t keys[3];

/* Allocates in each round of destructors that there is. */
static void destroy(void *p)
{
	static __thread int rounds;

	free(p);
	free(filled(200));
	if (++rounds < 4)
		pthread_setspecific(keys[rounds % 3], filled(100));
}

static void *use_keys(void *arg)
{
	for (int i = 0; i < 3; i++)
		pthread_setspecific(keys[i], filled(50));
	return arg;
}

static void ends(void)
{
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_key_create(&keys[i], destroy));
	for (int i = 0; i < 200; i++)
		run(THREADS, use_keys, NULL);
}

/* ---- forks ---- */

static void *exchange_until_stopped(void *arg)
{
	while (!stop)
		exchange(arg);
	return arg;
}

static void forks(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, exchange_until_stopped,
				      (void *)(uintptr_t)(i + 1)));
	for (int i = 0; i < 60; i++) {
		pid_t child = fork();
		int status;

		if (!child) {
			allocate_little(NULL);
			for (int k = 0; k < SLOTS; k++)
				free(atomic_exchange(&slot[k], NULL));
			run(2, allocate_little, NULL);
			_exit(0);
		}
		CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	}
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(thread[i], NULL));
}

/* ---- signals ---- */

static char *held[8];
static volatile sig_atomic_t handled;

static void on_alarm(int sig)
{
	int i = handled++ % 8;
	(void)sig;
	free(held[i]);
	held[i] = malloc(100 + (size_t)i);
}

static void signals(void)
{
	struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval often = {{0, 200}, {0, 200}};

	CHECK(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &often, NULL));
	while (handled < 1500)
		allocate_little(NULL);
	often.it_value.tv_usec = often.it_interval.tv_usec = 0;
	CHECK(!setitimer(ITIMER_REAL, &often, NULL));
	for (int i = 0; i < 8; i++)
		free(held[i]);
}

/* ---- the loader ---- */

static int allocate_there(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)info;
	(void)arg;
	free(filled(size));
	return 0;
}

static void *visit(void *arg)
{
	while (!stop) {
		dl_iterate_phdr(allocate_there, NULL);
		allocate_little(NULL);
	}
	return arg;
}

static void loading(const char *library)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&thread[i], NULL, visit, NULL));
	for (int i = 0; i < 150; i++) {
		void *opened = dlopen(library, RTLD_NOW);
		char *(*give)(size_t) = (char *(*)(size_t))dlsym(opened, "plugin_give");

		CHECK(opened && give);
		free(give(300));
		CHECK(!dlclose(opened));
	}
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_join(thread[i], NULL));
}

static void plugin(const char *library)
{
	void *opened = dlopen(library, RTLD_NOW | RTLD_DEEPBIND);
	char *(*give)(size_t) = (char *(*)(size_t))dlsym(opened, "plugin_give");
	void (*take)(char *) = (void (*)(char *))dlsym(opened, "plugin_take");
	char *(*grow)(char *, size_t) = (char *(*)(char *, size_t))dlsym(opened, "plugin_grow");

	CHECK(opened && give && take && grow);
	for (size_t size = 1; size < 300000; size *= 3) {
		free(give(size));
		take(filled(size));
		free(grow(filled(size), size * 2));
		free(realloc(give(size), size * 2));
	}
	take(strdup("of the C library"));
}

/* ---- little memory: to be run with a limit ---- */

static void limit(void)
{
	char *last = NULL, *p;
	int blocks = 0;

	errno = 0;
	while ((p = malloc(1 << 20))) {
		*(char **)p = last;
		last = p;
		blocks++;
		errno = 0;
	}
	CHECK(errno == ENOMEM && blocks > 100);
	for (; last; last = p) {
		p = *(char **)last;
		free(last);
	}
	check_sizes();
}

/* ---- stacks of the program's own, which are gone afterwards ---- */

enum { CONTEXT_STACK = 64 << 10 };

static ucontext_t own_context, other_context;

static void allocate_there_once(void)
{
	allocate_little(NULL);
}

static void contexts(void)
{
	for (int i = 0; i < 50; i++) {
		void *stack = mmap(NULL, CONTEXT_STACK, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		CHECK(stack != MAP_FAILED && !getcontext(&other_context));
		other_context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = CONTEXT_STACK};
		other_context.uc_link = &own_context;
		makecontext(&other_context, allocate_there_once, 0);
		CHECK(!swapcontext(&own_context, &other_context));
		CHECK(!munmap(stack, CONTEXT_STACK));
		allocate_little(NULL);
	}
}

/* ---- more call paths with much memory than there are arenas for such ---- */

enum { TURNS = 9, PATH_BLOCKS = 6 };

static volatile int nothing; /* makes two calls of two that look the same */

static __attribute__((noinline)) char *turn(unsigned path, int turns)
{
	char *p;

	if (!turns)
		p = malloc(1 << 20);
	else if (path & 1)
		p = turn(path >> 1, turns - 1);
	else
		p = turn(path >> 1, turns - 1) + nothing;
	CHECK(p);
	return p;
}

static void paths(void)
{
	static char *block[1 << TURNS][PATH_BLOCKS];

	for (int i = 0; i < PATH_BLOCKS; i++)
		for (unsigned path = 0; path < 1 << TURNS; path++)
			*(block[path][i] = turn(path, TURNS)) = (char)path;
	for (unsigned path = 0; path < 1 << TURNS; path++) {
		for (int i = 0; i < PATH_BLOCKS; i++) {
			CHECK(*block[path][i] == (char)path);
			free(block[path][i]);
		}
	}
	check_sizes();
}

static size_t sink;

static __attribute__((noinline)) size_t use_stack(int depth)
{
	volatile char frame[4096];

	frame[depth % 4096] = (char)depth;
	return (depth ? use_stack(depth - 1) : 0) + (size_t)frame[depth % 4096];
}

/* The same, where the program sets the limit itself, late; threads and stacks have room as well. */
static void limits_itself(void)
{
	struct rlimit limit_of_all = {800000000, 800000000}, now;
	char *before = filled(100000);

	run(THREADS, allocate_little, NULL);
	CHECK(!setrlimit(RLIMIT_AS, &limit_of_all));
	CHECK(!getrlimit(RLIMIT_AS, &now) && now.rlim_cur == limit_of_all.rlim_cur);
	sink = use_stack(1000);
	run(THREADS, allocate_little, NULL);
	limit();
	limit_of_all.rlim_cur = 700000000;
	CHECK(!prlimit(0, RLIMIT_AS, &limit_of_all, &now));
	CHECK(now.rlim_cur == now.rlim_max);
	limit();
	check_free(before, 100000);
}

static void maps(void)
{
	for (int i = 1; i < 400; i++) {
		size_t size = (size_t)i * 4096;
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);

		CHECK(p != MAP_FAILED);
		p[size - 1] = 1;
		p = mremap(p, size, 2 * size, MREMAP_MAYMOVE);
		CHECK(p != MAP_FAILED && p[size - 1] == 1);
		CHECK(!munmap(p + 4096, 4096) && !munmap(p, 2 * size));
	}
}

static void *find_mask(void *mask)
{
	CHECK(!pthread_sigmask(SIG_BLOCK, NULL, mask));
	return NULL;
}

/* The C library allocates for a thread while it has all signals blocked. */
static void masks(void)
{
	for (int i = 0; i < THREADS; i++) {
		sigset_t now, then;
		pthread_t thread;

		CHECK(!pthread_create(&thread, NULL, find_mask, &now) &&
		      !pthread_join(thread, NULL));
		CHECK(!sigprocmask(SIG_BLOCK, NULL, &then));
		for (int sig = 1; sig < NSIG; sig++)
			CHECK(!sigismember(&now, sig) && !sigismember(&then, sig));
	}
}

/* Somebody ends the thread, but malloc() and free() are no cancellation points. */
static void *allocate_cancelled(void *reached)
{
	pthread_cancel(pthread_self());
	for (size_t i = 1; i < 100; i++)
		check_free(filled(i * i * 100), i * i * 100);
	*(int *)reached = 1;
	pthread_testcancel();
	return NULL;
}

static void cancels(void)
{
	for (int i = 0; i < THREADS; i++) {
		int reached = 0;
		pthread_t thread;
		void *result;

		CHECK(!pthread_create(&thread, NULL, allocate_cancelled, &reached) &&
		      !pthread_join(thread, &result));
		CHECK(result == PTHREAD_CANCELED && reached);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*test)(void);
	} tests[] = {
		{"calls", calls},
		{"crossing", crossing},
		{"stacks", stacks},
		{"ends", ends},
		{"forks", forks},
		{"signals", signals},
		{"limit", limit},
		{"maps", maps},
		{"masks", masks},
		{"cancels", cancels},
		{"limits_itself", limits_itself},
		{"contexts", contexts},
		{"paths", paths},
	};

	for (size_t i = 0; argc == 2 && i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (!strcmp(argv[1], tests[i].name))
			tests[i].test();
	}
	if (argc == 3 && !strcmp(argv[1], "loading"))
		loading(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "plugin"))
		plugin(argv[2]);
	free(early);
	early = filled(2000);
	puts("done");
	return 0;
}
