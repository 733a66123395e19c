/*
 * Marks regions, well and badly. Linked with the library; as regions_weak it is not, and finds out.
 *
 *   regions WHAT [MS]
 *   regions phases MS clock   prints the CPU time of the thread in "walk" and in "rest", delay
 * included
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvmemu.h"
#include "work.h"

static unsigned ms = 30;
static bool prints;

static void begin(const char *name)
{
	if (NVMEMU_PRESENT)
		nvmemu_region_begin(name);
}

static void end(void)
{
	if (NVMEMU_PRESENT)
		nvmemu_region_end();
}

/* Always the same work, however slow the memory: about 1 ms for each. */
static void walk(void)
{
	for (unsigned i = 0; i < 3 * ms; i++)
		work_ms(0);
}

/* By the program's own clock: what a region has at least, and at most. */
struct timed {
	uint64_t least_ns, most_ns;
};

static void begin_timed(const char *name, struct timed *t)
{
	t->most_ns -= clock_ns(CLOCK_MONOTONIC);
	begin(name);
	t->least_ns -= clock_ns(CLOCK_MONOTONIC);
}

static void end_timed(struct timed *t)
{
	t->least_ns += clock_ns(CLOCK_MONOTONIC);
	end();
	t->most_ns += clock_ns(CLOCK_MONOTONIC);
}

static void print_timed(const struct timed *t)
{
	if (prints)
		printf("%llu %llu\n", (unsigned long long)t->least_ns,
		       (unsigned long long)t->most_ns);
}

/* outer { walk walk rest { pause } }, walk, and as much outside */
static void phases(void)
{
	struct timed walks = {0}, rest = {0};

	walk();
	begin("outer");
	for (int i = 0; i < 2; i++) {
		begin_timed("walk", &walks);
		walk();
		end_timed(&walks);
	}
	begin_timed("rest", &rest);
	if (NVMEMU_PRESENT)
		nvmemu_pause();
	walk();
	if (NVMEMU_PRESENT)
		nvmemu_resume();
	end_timed(&rest);
	end();
	begin_timed("walk", &walks);
	walk();
	end_timed(&walks);
	print_timed(&walks);
	print_timed(&rest);
}

/* Regions much shorter than a tick: walks, with nothing but markers between. */
static void often(void)
{
	uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000ull;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until) {
		begin("outer");
		begin("walk");
		work_ms(0);
		end();
		end();
	}
}

static void misuse(void)
{
	char name[200];

	nvmemu_region_end();
	nvmemu_region_end();
	nvmemu_region_end_named("never begun");
	nvmemu_resume();
	nvmemu_region_begin(NULL);
	nvmemu_region_end();
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	nvmemu_region_begin(name);
	nvmemu_region_end();
	nvmemu_region_begin("a");
	nvmemu_region_begin("b");
	nvmemu_region_begin("c");
	nvmemu_region_end_named("a");
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "region %d", i);
		nvmemu_region_begin(name);
		nvmemu_region_end();
	}
	for (int i = 0; i < 100; i++)
		nvmemu_region_begin("a");
	work_ms(ms);
	for (int i = 0; i < 100; i++)
		nvmemu_region_end();
	nvmemu_region_begin("a");
	nvmemu_region_begin("a");
}

/* A name whose memory is gone before the region ends, and before the process does. */
static void dying_name(void)
{
	char *name = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(name != MAP_FAILED);
	strcpy(name, "mortal");
	nvmemu_region_begin(name);
	CHECK(munmap(name, 4096) == 0);
	work_ms(ms);
	nvmemu_region_end();
}

static void *in_thread(void *number)
{
	nvmemu_region_begin("common");
	nvmemu_region_begin((uintptr_t)number ? "odd" : "even");
	work_ms(ms);
	nvmemu_region_end();
	nvmemu_region_end();
	if (number)
		nvmemu_region_begin("left open");
	return NULL;
}

/* Two of the four end what they have not begun, or do not end what they have. */
static void threads(void)
{
	pthread_t thread[4];

	nvmemu_region_begin("main");
	for (uintptr_t i = 0; i < 4; i++)
		CHECK(pthread_create(&thread[i], NULL, in_thread, (void *)(i % 2)) == 0);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	nvmemu_region_end();
	nvmemu_region_end();
}

static void in_child(void)
{
	nvmemu_region_begin("of the child");
	work_ms(ms);
	nvmemu_region_end();
	nvmemu_region_end();
	nvmemu_region_end();
	work_ms(ms);
	exit(0);
}

static void forks(void)
{
	int status;
	pid_t child;

	nvmemu_region_begin("outer");
	nvmemu_region_begin("inner");
	work_ms(ms);
	child = fork();
	CHECK(child >= 0);
	if (!child)
		in_child();
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	nvmemu_region_end();
	nvmemu_region_end();
}

static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	(void)sig;
	nvmemu_region_begin("in the handler");
	signals++;
	nvmemu_region_end();
}

/* A handler that marks interrupts markers. */
static void signal_handler(void)
{
	struct itimerspec every = {.it_value = {.tv_nsec = 200000},
				   .it_interval = {.tv_nsec = 200000}};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	timer_t timer;

	signal(SIGUSR1, on_signal);
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	CHECK(timer_settime(timer, 0, &every, NULL) == 0);
	for (int i = 0; i < 1000000 || signals < 20; i++) {
		nvmemu_region_begin("outer");
		nvmemu_region_begin("inner");
		nvmemu_region_end();
		nvmemu_region_end();
	}
	CHECK(timer_delete(timer) == 0);
}

/* Prints the totals so far, of the thread and of the process; more is done after that. */
static void stats(void)
{
	struct nvmemu_stats s = {.size = sizeof(s), .scope = 7};

	CHECK(nvmemu_stats(&s) < 0);
	s.size = 1;
	s.scope = NVMEMU_THREAD;
	CHECK(nvmemu_stats(&s) < 0);
	s.size = sizeof(s);
	work_ms(4 * ms);
	for (s.scope = NVMEMU_PROCESS; s.scope <= NVMEMU_THREAD; s.scope++) {
		CHECK(nvmemu_stats(&s) == 0);
		printf("%d %llu %llu %llu %llu %llu %llu %llu %llu\n", s.emulated,
		       (unsigned long long)s.cpu_ns, (unsigned long long)s.stall_ns,
		       (unsigned long long)s.stall_wb_ns, (unsigned long long)s.ma_ro,
		       (unsigned long long)s.ma_wb, (unsigned long long)s.delay_owed_ns,
		       (unsigned long long)s.delay_paid_ns, (unsigned long long)s.epochs);
	}
}

/* Prints how many files of that library are in memory. */
static void copies(void)
{
	char line[4096], last[4096] = "";
	FILE *maps = fopen("/proc/self/maps", "r");
	int count = 0;

	CHECK(maps);
	nvmemu_region_begin("copies");
	work_ms(ms);
	nvmemu_region_end();
	while (fgets(line, sizeof(line), maps)) {
		const char *path = strchr(line, '/');

		if (!path || !strstr(path, "libnvmemu.so") || !strcmp(path, last))
			continue;
		strcpy(last, path);
		count++;
	}
	fclose(maps);
	printf("%d\n", count);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {
		{"phases", phases},         {"often", often},     {"misuse", misuse},
		{"mortal", dying_name},     {"threads", threads}, {"forks", forks},
		{"signal", signal_handler}, {"stats", stats},     {"copies", copies},
	};

	CHECK(argc > 1);
	if (argc > 2)
		ms = (unsigned)atoi(argv[2]);
	prints = argc > 3;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (strcmp(all[i].name, argv[1]))
			continue;
		all[i].run();
		return 0;
	}
	return 2;
}
