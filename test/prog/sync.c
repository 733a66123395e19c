/* sync WHAT: locks and the like, whose every result must be as without the library. The program
 * waits for memory now and then, so that its threads owe delay. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <threads.h>
#include <unistd.h>

#include "work.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;

static struct timespec in_ms(clockid_t clock, long ms)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += ms * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* Prints the thread's CPU time within unlock calls, ns. */
static void check_where(void)
{
	uint64_t inside = 0, before;

	work_ms(100);
	for (int i = 0; i < 500; i++) {
		CHECK(!pthread_mutex_lock(&lock));
		work_ms(1);
		before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		CHECK(!pthread_mutex_unlock(&lock));
		inside += clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
	}
	printf("%llu\n", (unsigned long long)inside);
}

static void *do_nothing(void *unused)
{
	return unused;
}

/* From here on there may be others who wait. */
static void have_company(void)
{
	pthread_t other;

	CHECK(!pthread_create(&other, NULL, do_nothing, NULL) && !pthread_join(other, NULL));
}

static void make(pthread_mutex_t *m, int type, int protocol, int robust)
{
	pthread_mutexattr_t attr;

	CHECK(!pthread_mutexattr_init(&attr) && !pthread_mutexattr_settype(&attr, type));
	CHECK(!pthread_mutexattr_setprotocol(&attr, protocol));
	CHECK(!pthread_mutexattr_setrobust(&attr, robust));
	CHECK(!pthread_mutex_init(m, &attr));
}

static void *die_with(void *m)
{
	CHECK(!pthread_mutex_lock(m));
	return NULL;
}

static void *is_busy(void *m)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 2), mono = in_ms(CLOCK_MONOTONIC, 2);

	CHECK(pthread_mutex_trylock(m) == EBUSY && pthread_mutex_unlock(m) == EPERM);
	CHECK(pthread_mutex_timedlock(m, &soon) == ETIMEDOUT);
	CHECK(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &mono) == ETIMEDOUT);
	return NULL;
}

static void run(void *(*start)(void *), void *arg)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, start, arg));
	CHECK(!pthread_join(thread, NULL));
}

static void check_mutexes(void)
{
	pthread_mutex_t m;

	for (int protocol = PTHREAD_PRIO_NONE; protocol <= PTHREAD_PRIO_INHERIT; protocol++) {
		make(&m, PTHREAD_MUTEX_RECURSIVE, protocol, PTHREAD_MUTEX_STALLED);
		CHECK(!pthread_mutex_lock(&m) && !pthread_mutex_lock(&m));
		CHECK(!pthread_mutex_trylock(&m));
		run(is_busy, &m);
		work_ms(1);
		for (int i = 0; i < 3; i++)
			CHECK(!pthread_mutex_unlock(&m));
		CHECK(pthread_mutex_unlock(&m) == EPERM);
		make(&m, PTHREAD_MUTEX_ERRORCHECK, protocol, PTHREAD_MUTEX_STALLED);
		CHECK(!pthread_mutex_lock(&m) && pthread_mutex_lock(&m) == EDEADLK);
		CHECK(pthread_mutex_trylock(&m) == (protocol ? EDEADLK : EBUSY));
		run(is_busy, &m);
		work_ms(1);
		CHECK(!pthread_mutex_unlock(&m) && pthread_mutex_unlock(&m) == EPERM);
		make(&m, PTHREAD_MUTEX_NORMAL, protocol, PTHREAD_MUTEX_ROBUST);
		run(die_with, &m);
		CHECK(pthread_mutex_lock(&m) == EOWNERDEAD && !pthread_mutex_consistent(&m));
		CHECK(!pthread_mutex_unlock(&m));
		run(die_with, &m);
		CHECK(pthread_mutex_trylock(&m) == EOWNERDEAD && !pthread_mutex_unlock(&m));
		CHECK(pthread_mutex_lock(&m) == ENOTRECOVERABLE);
	}
}

static void check_conditions(void)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 2), mono = in_ms(CLOCK_MONOTONIC, 2);

	CHECK(!pthread_mutex_lock(&lock));
	CHECK(pthread_cond_timedwait(&cond, &lock, &soon) == ETIMEDOUT);
	CHECK(pthread_cond_clockwait(&cond, &lock, CLOCK_MONOTONIC, &mono) == ETIMEDOUT);
	CHECK(pthread_mutex_trylock(&lock) == EBUSY && !pthread_mutex_unlock(&lock));
}

static void check_others(void)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 2);
	pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
	pthread_spinlock_t spin;

	CHECK(!pthread_rwlock_rdlock(&rw) && !pthread_rwlock_tryrdlock(&rw));
	CHECK(pthread_rwlock_trywrlock(&rw) == EBUSY);
	CHECK(pthread_rwlock_timedwrlock(&rw, &soon) == ETIMEDOUT);
	CHECK(!pthread_rwlock_unlock(&rw) && !pthread_rwlock_unlock(&rw));
	CHECK(!pthread_rwlock_wrlock(&rw) && pthread_rwlock_rdlock(&rw) == EDEADLK);
	CHECK(!pthread_rwlock_unlock(&rw));
	CHECK(!pthread_spin_init(&spin, 0) && !pthread_spin_lock(&spin));
	CHECK(pthread_spin_trylock(&spin) == EBUSY && !pthread_spin_unlock(&spin));
	errno = 0;
	CHECK(sem_trywait(&sem) == -1 && errno == EAGAIN);
	CHECK(sem_timedwait(&sem, &soon) == -1 && errno == ETIMEDOUT);
	errno = 7;
	CHECK(!sem_post(&sem) && !sem_wait(&sem) && errno == 7);
}

static void check_c11(void)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 2);
	mtx_t m;
	cnd_t c;

	CHECK(mtx_init(&m, mtx_timed | mtx_recursive) == thrd_success);
	CHECK(cnd_init(&c) == thrd_success && mtx_lock(&m) == thrd_success);
	CHECK(mtx_trylock(&m) == thrd_success && mtx_unlock(&m) == thrd_success);
	work_ms(1);
	CHECK(cnd_signal(&c) == thrd_success && cnd_broadcast(&c) == thrd_success);
	CHECK(cnd_timedwait(&c, &m, &soon) == thrd_timedout && mtx_unlock(&m) == thrd_success);
}

static void check_results(void)
{
	work_ms(60);
	for (int i = 0; i < 5; i++) {
		check_mutexes();
		check_conditions();
		check_others();
		check_c11();
	}
}

/* Sum of all additions, none lost. */
static uint64_t sum;

static void *add(void *unused)
{
	for (int i = 0; i < 250000; i++) {
		CHECK(!pthread_mutex_lock(&lock));
		sum++;
		CHECK(!pthread_mutex_unlock(&lock));
		if (i % 10000 == 0)
			work_ms(1);
	}
	return unused;
}

static void check_sum(void)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&thread[i], NULL, add, NULL));
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_join(thread[i], NULL));
	CHECK(sum == 1000000);
}

static bool waits, cleaned;

static void clean(void *unused)
{
	(void)unused;
	cleaned = pthread_mutex_unlock(&lock) == 0;
}

static void *wait_for_ever(void *unused)
{
	work_ms(30);
	CHECK(!pthread_mutex_lock(&lock));
	pthread_cleanup_push(clean, NULL);
	waits = true;
	for (;;)
		pthread_cond_wait(&cond, &lock);
	pthread_cleanup_pop(0);
	return unused;
}

/* A cancelled wait takes the lock again, which cleaning up leaves. */
static void check_cancel(void)
{
	pthread_t thread;
	void *result;

	for (int i = 0; i < 10; i++) {
		waits = cleaned = false;
		CHECK(!pthread_create(&thread, NULL, wait_for_ever, NULL));
		for (bool now = false; !now;) {
			pthread_mutex_lock(&lock);
			now = waits;
			pthread_mutex_unlock(&lock);
		}
		CHECK(!pthread_cancel(thread) && !pthread_join(thread, &result));
		CHECK(result == PTHREAD_CANCELED && cleaned);
		CHECK(!pthread_mutex_trylock(&lock) && !pthread_mutex_unlock(&lock));
	}
}

static volatile sig_atomic_t posts;

static void post(int sig)
{
	(void)sig;
	posts += sem_post(&sem) == 0;
}

static void every_ms(int ms)
{
	struct itimerval timer = {{0, ms * 1000}, {0, ms * 1000}};

	CHECK(!setitimer(ITIMER_REAL, &timer, NULL));
}

/* Posts from a signal handler, wherever it interrupts the program. */
static void check_handler(void)
{
	int taken = 0;

	signal(SIGALRM, post);
	every_ms(1);
	for (int i = 0; i < 300; i++) {
		CHECK(!pthread_mutex_lock(&lock));
		work_ms(1);
		CHECK(!pthread_mutex_unlock(&lock));
	}
	every_ms(0);
	while (sem_trywait(&sem) == 0)
		taken++;
	CHECK(taken == posts && taken > 0);
}

static sigjmp_buf back;

static void jump(int sig)
{
	siglongjmp(back, sig);
}

/* A handler that jumps out of whatever it interrupts. */
static void check_jump(void)
{
	volatile int jumps = 0;

	signal(SIGALRM, jump);
	work_ms(60);
	if (sigsetjmp(back, 1))
		jumps++;
	every_ms(jumps < 50 ? 7 : 0);
	while (jumps < 50) {
		work_ms(1);
		sem_post(&sem);
	}
	for (int i = 0; i < 400; i++) {
		work_ms(1);
		CHECK(!sem_post(&sem));
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*check)(void);
	} checks[] = {
		{"where", check_where}, {"alone", check_where},   {"results", check_results},
		{"sum", check_sum},     {"cancel", check_cancel}, {"handler", check_handler},
		{"jump", check_jump},
	};

	CHECK(!sem_init(&sem, 0, 0));
	if (argc == 2 && strcmp(argv[1], "alone") != 0)
		have_company();
	for (size_t i = 0; argc == 2 && i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (strcmp(checks[i].name, argv[1]) != 0)
			continue;
		checks[i].check();
		return 0;
	}
	return 2;
}
