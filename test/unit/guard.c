/* Reads that may fault, and the signals of the program around them. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "count/ahead/touch.h"
#include "emu/guard.h"

enum { PAGE = 4096 };

static volatile sig_atomic_t seen;
static char *volatile closed, *volatile hole;

static void count(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	seen++;
	if (info->si_code > 0)
		mprotect(closed, PAGE, PROT_READ | PROT_WRITE);
}

static int set_up(void **state)
{
	char name[] = "/tmp/unit-guard-XXXXXX";
	int fd = mkstemp(name);

	(void)state;
	nve_guard_setup(sigaction);
	closed = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	hole = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0); /* an empty file: SIGBUS */
	unlink(name);
	close(fd);
	return closed == MAP_FAILED || hole == MAP_FAILED;
}

static struct sigaction program_action(void)
{
	struct sigaction act = {.sa_sigaction = count, .sa_flags = SA_SIGINFO};

	sigaddset(&act.sa_mask, SIGUSR1);
	return act;
}

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
	/* The C library adds a flag of its own. */
	return a->sa_sigaction == b->sa_sigaction && !((a->sa_flags ^ b->sa_flags) & SA_SIGINFO) &&
	       sigismember(&a->sa_mask, SIGUSR1) == sigismember(&b->sa_mask, SIGUSR1);
}

static void reads(void **state)
{
	uint64_t word = 0;
	char text[100], source[100];

	(void)state;
	memset(source, 7, sizeof(source));
	nve_guard(true);
	assert_int_equal(nve_touch_copy(text, (uint64_t)(uintptr_t)source, sizeof(text)), 0);
	assert_memory_equal(text, source, sizeof(text));
	assert_int_equal(nve_touch_copy(&word, (uint64_t)(uintptr_t)source, sizeof(word)), 0);
	assert_true(word == 0x0707070707070707);
	assert_true(nve_touch_timed((uint64_t)(uintptr_t)source) < 1000000000);
	if (nve_touch_can_translate())
		assert_int_equal(nve_touch_translate((uint64_t)(uintptr_t)source), 0);
	assert_true(source[0] == 7 && source[99] == 7);
	for (int i = 0; i < 100; i++) {
		uint64_t bad[] = {(uint64_t)(uintptr_t)closed,
				  (uint64_t)(uintptr_t)hole,
				  0,
				  8,
				  0x800000000000,
				  UINT64_MAX - 7};

		for (size_t j = 0; j < sizeof(bad) / sizeof(bad[0]); j++) {
			assert_int_equal(nve_touch_copy(text, bad[j], 3), -EFAULT);
			assert_int_equal(nve_touch_copy(&word, bad[j], 8), -EFAULT);
			assert_true(nve_touch_timed(bad[j]) == NVE_TOUCH_FAULT);
			if (nve_touch_can_translate())
				assert_int_equal(nve_touch_translate(bad[j]), -EFAULT);
		}
	}
	/* The first bytes are there, the last are not. */
	assert_int_equal(nve_touch_copy(text, (uint64_t)(uintptr_t)closed - 4, 8) != 0 ||
				 nve_touch_copy(text, (uint64_t)(uintptr_t)closed - 4, 9) != 0,
			 1);
	nve_guard(false);
}

/* With the fault signals blocked by the thread. */
static void blocked(void **state)
{
	sigset_t faults, before, after;
	char byte[3];

	(void)state;
	sigemptyset(&faults);
	sigaddset(&faults, SIGSEGV);
	sigaddset(&faults, SIGBUS);
	pthread_sigmask(SIG_BLOCK, &faults, &before);
	nve_guard(true);
	assert_int_equal(nve_touch_copy(byte, (uint64_t)(uintptr_t)closed, 3), -EFAULT);
	assert_int_equal(nve_touch_copy(byte, (uint64_t)(uintptr_t)hole, 3), -EFAULT);
	nve_guard(false);
	pthread_sigmask(SIG_SETMASK, &before, &after);
	assert_true(sigismember(&after, SIGSEGV) && sigismember(&after, SIGBUS));
}

static void view(void **state)
{
	struct sigaction mine = program_action(), got, other = {.sa_handler = SIG_IGN};
	const int signals[] = {SIGSEGV, SIGBUS};

	(void)state;
	for (int i = 0; i < 2; i++) {
		int sig = signals[i];

		assert_int_equal(nve_guard_change(sig, &mine, NULL), 0);
		nve_guard(true);
		assert_int_equal(nve_guard_change(sig, NULL, &got), 0);
		assert_true(is_same(&got, &mine));
		assert_int_equal(nve_guard_change(sig, &other, &got), 0);
		assert_true(is_same(&got, &mine));
		nve_guard(false);
		assert_int_equal(sigaction(sig, NULL, &got), 0);
		assert_true(got.sa_handler == SIG_IGN);
		assert_int_equal(nve_guard_change(sig, &mine, &got), 0);
		assert_true(got.sa_handler == SIG_IGN);
		assert_int_equal(sigaction(sig, NULL, &got), 0);
		assert_true(is_same(&got, &mine));
	}
}

/* One that is sent while the thread looks comes afterwards, once. */
static void sent(void **state)
{
	struct sigaction mine = program_action();

	(void)state;
	seen = 0;
	assert_int_equal(nve_guard_change(SIGSEGV, &mine, NULL), 0);
	nve_guard(true);
	raise(SIGSEGV);
	assert_int_equal(seen, 0);
	nve_guard(false);
	assert_int_equal(seen, 1);
	raise(SIGSEGV);
	assert_int_equal(seen, 2);
}

static void *look(void *stop)
{
	char byte[3];

	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
		nve_guard(true);
		nve_touch_copy(byte, (uint64_t)(uintptr_t)hole, 3);
		nve_guard(false);
	}
	return NULL;
}

/* A thread that faults for real while others look: its own handler, and no other effect. */
static void others(void **state)
{
	struct sigaction mine = program_action();
	pthread_t thread[2];
	int stop = 0;

	(void)state;
	seen = 0;
	assert_int_equal(nve_guard_change(SIGSEGV, &mine, NULL), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, look, &stop), 0);
	for (int i = 1; i <= 300; i++) {
		mprotect(closed, PAGE, PROT_NONE);
		*(volatile char *)closed = 1; /* the handler opens it */
		assert_int_equal(seen, i);
	}
	for (int i = 1; i <= 300; i++) {
		raise(SIGSEGV);
		assert_int_equal(seen, 300 + i);
	}
	/* A child of such a process has the program's actions. */
	for (int i = 0; i < 20; i++) {
		struct sigaction got;
		pid_t child = fork();
		int status;

		if (!child) {
			nve_guard_after_fork();
			_exit(sigaction(SIGSEGV, NULL, &got) || !is_same(&got, &mine));
		}
		assert_true(waitpid(child, &status, 0) == child);
		assert_int_equal(status, 0);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads), cmocka_unit_test(blocked), cmocka_unit_test(view),
		cmocka_unit_test(sent),  cmocka_unit_test(others),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
