/* Unwinding beside forks: threads in libunwind's place say when they are in it, and wait there. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "heap/unwind.h"

/* Nobody gives up, however slow the machine is. */
#define LONG_NS UINT64_C(600000000000)

static const uintptr_t CALLER = 0x401000;

static _Atomic int entered, stays, left;
static _Atomic bool forking_over, waited;
static _Atomic uint32_t found;

static int backtrace(void **address, int count)
{
	atomic_fetch_add(&entered, 1);
	while (atomic_load(&stays))
		sched_yield();
	atomic_fetch_add(&left, 1);
	if (count < 2)
		return 0;
	address[0] = (void *)CALLER;
	address[1] = (void *)(CALLER + 1);
	return 2;
}

static uint32_t unwind(void)
{
	uint64_t address[4];

	return nve_unwind(CALLER, address, 4);
}

static void *unwind_once(void *arg)
{
	atomic_store(&found, unwind());
	return arg;
}

static int setup(void **state)
{
	(void)state;
	atomic_store(&stays, 0);
	nve_unwind_setup(backtrace); /* calls it once */
	atomic_store(&entered, 0);
	atomic_store(&left, 0);
	atomic_store(&forking_over, false);
	return 0;
}

static pthread_t start_and_stay(void)
{
	pthread_t thread;

	atomic_store(&stays, 1);
	assert_int_equal(pthread_create(&thread, NULL, unwind_once, NULL), 0);
	while (!atomic_load(&entered))
		sched_yield();
	return thread;
}

static void *fork_beside(void *arg)
{
	nve_unwind_before_fork(LONG_NS);
	atomic_store(&waited, atomic_load(&left) == 1);
	nve_unwind_after_fork(false);
	atomic_store(&forking_over, true);
	return arg;
}

/* The fork's locks are taken only once nobody unwinds any more. */
static void waits_for_who_unwinds(void **state)
{
	pthread_t thread = start_and_stay(), forks;

	(void)state;
	assert_int_equal(pthread_create(&forks, NULL, fork_beside, NULL), 0);
	for (int i = 0; i < 100; i++)
		sched_yield();
	assert_false(atomic_load(&forking_over));
	atomic_store(&stays, 0);
	pthread_join(forks, NULL);
	pthread_join(thread, NULL);
	assert_true(atomic_load(&waited));
	assert_int_equal(atomic_load(&found), 2);
	assert_int_equal(unwind(), 2);
}

/* Meanwhile others wait, and the forking thread itself does without. */
static void keeps_others_out(void **state)
{
	pthread_t thread;

	(void)state;
	nve_unwind_before_fork(LONG_NS);
	assert_int_equal(pthread_create(&thread, NULL, unwind_once, NULL), 0);
	for (int i = 0; i < 100; i++)
		sched_yield();
	assert_int_equal(unwind(), 0);
	assert_int_equal(atomic_load(&entered), 0);
	nve_unwind_after_fork(false);
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&entered), 1);
	assert_int_equal(atomic_load(&found), 2);
}

/* A child of a fork that has waited long enough would meet locks that nobody opens. */
static void child_does_without_who_stays(void **state)
{
	pthread_t thread = start_and_stay();

	(void)state;
	nve_unwind_before_fork(0);
	assert_int_equal(atomic_load(&left), 0);
	nve_unwind_after_fork(true);
	atomic_store(&stays, 0);
	pthread_join(thread, NULL);
	assert_int_equal(unwind(), 0);
	assert_int_equal(atomic_load(&entered), 1);
}

/* Signal handlers that fork, and that allocate, in the middle of unwinding. */
static bool interrupts;

static int interrupted(void **address, int count)
{
	(void)address;
	(void)count;
	atomic_fetch_add(&entered, 1);
	if (!interrupts)
		return 0;
	interrupts = false;
	nve_unwind_before_fork(LONG_NS); /* does not wait for itself */
	nve_unwind_after_fork(false);
	unwind();
	assert_true(nve_unwind_running());
	return 0;
}

static void without_a_library(void **state)
{
	(void)state;
	nve_unwind_setup(NULL);
	assert_int_equal(unwind(), 0);
	nve_unwind_setup(backtrace);
	assert_int_equal(unwind(), 2);
	assert_false(nve_unwind_running());
}

static void nests_in_itself(void **state)
{
	(void)state;
	nve_unwind_setup(interrupted); /* calls it once */
	atomic_store(&entered, 0);
	interrupts = true;
	unwind();
	assert_int_equal(atomic_load(&entered), 2);
	assert_false(nve_unwind_running());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(waits_for_who_unwinds, setup),
		cmocka_unit_test_setup(keeps_others_out, setup),
		cmocka_unit_test_setup(child_does_without_who_stays, setup),
		cmocka_unit_test_setup(without_a_library, setup),
		cmocka_unit_test_setup(nests_in_itself, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
