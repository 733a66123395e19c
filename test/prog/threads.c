/* threads WHAT: lives of threads that are hard on a library that follows them. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "work.h"

static int cleaned;
static sem_t never;

static void clean(void *unused)
{
	(void)unused;
	__atomic_fetch_add(&cleaned, 1, __ATOMIC_RELAXED);
}

static void *wait_cancelled(void *how)
{
	pthread_cleanup_push(clean, NULL);
	if (how)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	while (how)
		;
	sem_wait(&never);
	pthread_cleanup_pop(1);
	return NULL;
}

static void check_cancel(void)
{
	enum { THREADS = 100 };
	pthread_t thread;
	void *result;

	sem_init(&never, 0, 0);
	for (long i = 0; i < THREADS; i++) {
		CHECK(!pthread_create(&thread, NULL, wait_cancelled, (void *)(i % 2)));
		if (i % 4 < 2)
			usleep(500);
		CHECK(!pthread_cancel(thread));
		CHECK(!pthread_join(thread, &result) && result == PTHREAD_CANCELED);
	}
	/* One that is cancelled before it runs has nothing to clean. */
	CHECK(cleaned > 0 && cleaned <= THREADS);
}

static void *work_shortly(void *ms)
{
	work_ms((unsigned)(long)ms);
	return ms;
}

static void check_storm(void)
{
	enum { THREADS = 1200 };
	pthread_attr_t detached;
	pthread_t thread;
	void *result;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < THREADS; i++) {
		CHECK(!pthread_create(&thread, i % 2 ? &detached : NULL, work_shortly, NULL));
		if (i % 2 == 0)
			CHECK(!pthread_join(thread, &result) && result == NULL);
	}
}

/* Two that end before the program, two that live on when it ends. */
static void check_some(void)
{
	pthread_t thread[4];

	for (long i = 0; i < 4; i++)
		CHECK(!pthread_create(&thread[i], NULL, work_shortly,
				      (void *)(i < 2 ? 60l : 100000l)));
	work_ms(150);
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_join(thread[i], NULL));
}

static void check_stacks(void)
{
	const size_t sizes[] = {(size_t)PTHREAD_STACK_MIN, 16384, 20480, 32768, 65536};
	pthread_attr_t attr;
	pthread_t thread;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (sizes[i] < (size_t)PTHREAD_STACK_MIN)
			continue;
		pthread_attr_init(&attr);
		CHECK(!pthread_attr_setstacksize(&attr, sizes[i]));
		CHECK(!pthread_create(&thread, &attr, work_shortly, (void *)40));
		CHECK(!pthread_join(thread, NULL));
		CHECK(!pthread_attr_setstack(&attr,
					     mmap(NULL, sizes[i], PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
					     sizes[i]));
		CHECK(!pthread_create(&thread, &attr, work_shortly, (void *)40));
		CHECK(!pthread_join(thread, NULL));
	}
}

static unsigned tasks(void)
{
	struct stat st;

	CHECK(!stat("/proc/self/task", &st));
	return (unsigned)st.st_nlink - 2;
}

static int work_c11(void *ms)
{
	work_ms((unsigned)(long)ms);
	return 7;
}

/* A program without threads of its own has one, and may count on that. */
static void check_single(void)
{
	int status, result;
	thrd_t thread;
	pid_t child;

	CHECK(tasks() == 1 && __libc_single_threaded);
	work_ms(100);
	CHECK(tasks() == 1 && __libc_single_threaded);
	child = fork();
	if (!child) {
		work_ms(50);
		_exit(tasks() == 1 && __libc_single_threaded ? 5 : 6);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 5 << 8);
	CHECK(thrd_create(&thread, work_c11, (void *)50l) == thrd_success);
	CHECK(thrd_join(thread, &result) == thrd_success && result == 7);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	work_ms(30);
	if (!strcmp(what, "cancel"))
		check_cancel();
	else if (!strcmp(what, "storm"))
		check_storm();
	else if (!strcmp(what, "some"))
		check_some();
	else if (!strcmp(what, "single"))
		check_single();
	else if (!strcmp(what, "stacks"))
		check_stacks();
	else
		return 2;
	puts("done");
	return 0;
}
