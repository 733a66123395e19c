/* Where a monitor that reads hardware counters is kept: on its thread's core, as long as it keeps
 * up there. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/monitor.h"

static struct nve_thread thread;
static sem_t begun, done;
static int tid;

static void *wait_until_done(void *unused)
{
	tid = (int)syscall(SYS_gettid);
	sem_post(&begun);
	sem_wait(&done);
	return unused;
}

static cpu_set_t cpus_of(int of)
{
	cpu_set_t cpus;

	assert_int_equal(sched_getaffinity(of, sizeof(cpus), &cpus), 0);
	return cpus;
}

static void stay_on(const cpu_set_t *all, int cpu)
{
	cpu_set_t one;

	assert_true(CPU_ISSET(cpu, all));
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

static int first(const cpu_set_t *all, int from)
{
	for (int cpu = from; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, all))
			return cpu;
	return -1;
}

static void assert_on(int cpu)
{
	cpu_set_t cpus = cpus_of(tid);

	assert_true(CPU_ISSET(cpu, &cpus) && CPU_COUNT(&cpus) == 1);
}

static void follows_its_thread(void **state)
{
	cpu_set_t all = cpus_of(0), cpus;
	int a = first(&all, 0), b = first(&all, a + 1);

	(void)state;
	/* nothing to read, or nobody to do it: it stays where it is */
	nve_monitor_come_near(&thread);
	cpus = cpus_of(tid);
	assert_true(CPU_EQUAL(&cpus, &all));
	atomic_store(&thread.pmu.open, true);
	nve_monitor_come_near(&thread);
	cpus = cpus_of(0);
	assert_true(CPU_EQUAL(&cpus, &all));
	atomic_store(&thread.monitor_tid, tid);
	stay_on(&all, a);
	nve_monitor_come_near(&thread);
	assert_on(a);
	if (b >= 0) {
		stay_on(&all, b);
		nve_monitor_come_near(&thread);
		assert_on(b);
	}
	/* behind by a few epochs: wherever its thread may run, and it stays so */
	sched_setaffinity(0, sizeof(all), &all);
	atomic_store(&thread.head, 5);
	nve_monitor_come_near(&thread);
	cpus = cpus_of(tid);
	assert_true(CPU_EQUAL(&cpus, &all));
	atomic_store(&thread.tail, 5);
	nve_monitor_come_near(&thread);
	cpus = cpus_of(tid);
	assert_true(CPU_EQUAL(&cpus, &all));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(follows_its_thread)};
	pthread_t monitor;
	int failed;

	sem_init(&begun, 0, 0);
	sem_init(&done, 0, 0);
	if (pthread_create(&monitor, NULL, wait_until_done, NULL))
		return 1;
	sem_wait(&begun);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	sem_post(&done);
	pthread_join(monitor, NULL);
	return failed;
}
